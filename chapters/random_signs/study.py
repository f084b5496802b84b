"""Random signs, and gradients of sampled networks (paper 2).

Whether squared gradients follow the squared weights: the law of paper 2, Eq. 2, and distances from it.

A gradient is a sum over paths through the network, each a product of weights and of derivatives met on the way.
Squared, it holds every pair of paths. The law keeps the pairs of a path with itself; whether the others cancel in the
mean is what this module asks.

Squared gradients of small networks: over inputs of one network, or over signs of its weights.

A network has N matrices W_1 … W_N, (n_in, n_out) each as in X_ℓ = f(W_ℓᵀ X_{ℓ−1}) (paper 2, Eq. 1), with an activation
after all but the uppermost, whose columns are the outputs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from capcore.propagation import MatrixTransport, propagate
from chapters.shared.profiles import total_variation
from chapters.shared.random_signs import signed_operator, squared_gradients


def law(weights: Sequence[np.ndarray], output: int = 0) -> np.ndarray:
    """(n_in,) (W_1∘W_1) … (W_{N−1}∘W_{N−1}) κ^L with κ^L the squared weights of ``output`` in W_N (paper 2, Eq. 2).

    >>> law([np.eye(2), np.array([[0.6, 0.0], [0.8, 1.0]])]).round(2).tolist()
    [0.36, 0.64]
    """
    layers = [MatrixTransport.of_weights(w) for w in weights]
    one_hot = np.zeros(layers[-1].weights.shape[1])
    one_hot[output] = 1.0
    return propagate(one_hot, layers, conserve=False).input.reshape(-1)


def printed_law(weights: Sequence[np.ndarray]) -> np.ndarray:
    """(n_in,) Eq. 2 to the letter, κ^{ℓ−1} = (W_ℓ∘W_ℓ)κ^ℓ from κ^L on: the uppermost layer twice, the lowest never."""
    return law([*weights[1:], weights[-1]])


def distances(samples: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """(m,) total variation distance of every sample (m, n) from the law (n,), both normalised; no gradient counts as 1.

    >>> distances(np.array([[1.0, 0.0], [2.0, 2.0], [0.0, 0.0]]), np.array([1.0, 1.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    alive, distance = samples.sum(axis=1) > 0, np.ones(len(samples))
    if alive.any():
        distance[alive] = total_variation(samples[alive], expected)
    return distance


def summed_outputs(
    weights: Sequence[np.ndarray], counts: Sequence[int], n_draws: int, rng: np.random.Generator
) -> dict[int, float]:
    """Number of outputs → median distance from the law of the gradients of one network, summed over that many outputs.

    The outputs are columns of a fresh random orthonormal matrix above the network, so that no two say the same.
    """
    width = weights[-1].shape[1]
    orthonormal = np.linalg.qr(rng.normal(size=(width, width)))[0]
    stack = [*weights, orthonormal]
    laws = np.array([law(stack, j) for j in range(max(counts))])
    drawn: dict[int, list[float]] = {count: [] for count in counts}
    for _ in range(n_draws):
        below = stack[0]
        for w in stack[1:]:
            below = (below * rng.choice([-1.0, 1.0], below.shape[1])) @ w
        sums = np.cumsum(below[:, : max(counts)] ** 2, axis=1)
        for count in counts:
            drawn[count].append(float(total_variation(sums[:, count - 1], laws[:count].sum(axis=0))))
    return {count: float(np.median(values)) for count, values in drawn.items()}


def by_depth(
    width: int, depths: Sequence[int], names: Sequence[str], n_networks: int, n_samples: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Activation → (n_depths, n_networks) distances from the law of the mean over inputs of single dense networks.

    Where an activation is called "signs" the mean is over ``n_samples`` draws of random signs.
    """
    values: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for depth in np.repeat(depths, n_networks):
        weights = dense_layers(width, depth, rng)
        for name in names:
            if name == "signs":  # what chance leaves, since the law is true of their mean
                drawn = squared_gradients(weights, 0, n_samples, rng)
            else:
                drawn = over_inputs(weights, activation(name), n_samples, rng)
            mean = drawn.mean(axis=0)
            values[name].append(distances(mean[None], law(weights)))  # 1 if ReLU units are dead for all inputs
    return {name: np.reshape(of_one, (len(depths), n_networks)) for name, of_one in values.items()}


def by_frequency(
    weights: Sequence[np.ndarray], frequencies: Sequence[float], n_samples: int, rng: np.random.Generator
) -> np.ndarray:
    """(n_frequencies,) distances from the law of the mean over inputs of one network with sine units."""
    expected = law(weights)
    means = [over_inputs(weights, sine(omega), n_samples, rng).mean(axis=0) for omega in frequencies]
    return np.array([float(total_variation(mean, expected)) for mean in means])


def settled(settings: Sequence[float], values: Sequence[float], limit: float) -> tuple[float, float] | None:
    """The first setting from which on no value exceeds ``limit``, with its value; ``None`` if the last one does.

    >>> settled([1.0, 2.0, 3.0, 4.0], [0.0, 0.9, 0.1, 0.2], 0.5), settled([1.0], [0.9], 0.5)
    ((3.0, 0.1), None)
    """
    over = np.flatnonzero(np.asarray(values) > limit)
    first = int(over[-1]) + 1 if over.size else 0
    return (float(settings[first]), float(values[first])) if first < len(settings) else None


CHUNK = 2_000  # draws of all weights that are held at a time


@dataclass(frozen=True)
class Activation:
    """f, its derivative, and the mean of f′² in the limit that the law is about (1 where there is no such limit)."""

    value: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    mean_square: float = 1.0


def sine(frequency: float) -> Activation:
    """f(z) = sin(ωz): its derivative ω cos(ωz) has mean square ω²/2 where the phases ωz are uniform.

    >>> sine(4.0).mean_square
    8.0
    """
    return Activation(lambda z: np.sin(frequency * z), lambda z: frequency * np.cos(frequency * z), frequency**2 / 2)


def activation(name: str) -> Activation:
    """The named activation: identity, relu or tanh."""
    return {
        "identity": Activation(lambda z: z, np.ones_like),
        "relu": Activation(lambda z: np.maximum(z, 0), lambda z: (z > 0).astype(float), 0.5),
        "tanh": Activation(np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    }[name]


def dense_layers(width: int, n_layers: int, rng: np.random.Generator) -> list[np.ndarray]:
    """``n_layers`` matrices (width, width) of normal weights, every column of length one.

    >>> [w.shape for w in dense_layers(3, 2, np.random.default_rng(0))]
    [(3, 3), (3, 3)]
    """
    return [_unit_columns(rng.normal(size=(width, width))) for _ in range(n_layers)]


def convolutional_layers(positions: int, channels: int, n_layers: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Matrices of circular convolutions (positions · channels, same) of three taps, every column of length one.

    >>> w = convolutional_layers(5, 2, 1, np.random.default_rng(0))[0]
    >>> w.shape, np.linalg.norm(w, axis=0).round(12).max()
    ((10, 10), np.float64(1.0))
    """
    kernels = rng.normal(size=(n_layers, channels, 3, channels))
    return [_unit_columns(signed_operator(kernel, (positions, channels)).toarray()) for kernel in kernels]


def _unit_columns(matrix: np.ndarray) -> np.ndarray:
    return matrix / np.linalg.norm(matrix, axis=0)


def input_gradients(weights: Sequence[np.ndarray], f: Activation, inputs: np.ndarray) -> np.ndarray:
    """(m, n_in) gradients of the first output at every input (m, n_in).

    Parameters
    ----------
    weights : N matrices (n_in, n_out), or arrays (m, n_in, n_out) with weights of its own for every input.
    """
    x, slopes = inputs, []
    for w in weights[:-1]:
        z = _times(x, w)
        slopes.append(f.slope(z))
        x = f.value(z)
    gradient = np.broadcast_to(weights[-1][..., 0], x.shape)
    for w, slope in zip(weights[-2::-1], slopes[::-1], strict=True):
        gradient = _times(gradient * slope, np.swapaxes(w, -1, -2))
    return gradient


def _times(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Rows of x (m, a) times w (a, b), or each times its own w (m, a, b)."""
    return x @ w if w.ndim == 2 else np.matmul(x[:, None, :], w)[:, 0]


def over_inputs(weights: Sequence[np.ndarray], f: Activation, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """(n_samples, n_in) squared gradients of one network at standard normal inputs, over the limit's mean of f′²."""
    inputs = rng.normal(size=(n_samples, len(weights[0])))
    return input_gradients(weights, f, inputs) ** 2 / f.mean_square ** (len(weights) - 1)


def over_weight_signs(
    weights: Sequence[np.ndarray],
    f: Activation,
    n_samples: int,
    rng: np.random.Generator,
    inputs: np.ndarray | None = None,
) -> np.ndarray:
    """(n_samples, n_in) as :func:`over_inputs`, with independent signs of all weights in every draw.

    Parameters
    ----------
    inputs : (n_in,), the same in every draw; by default a standard normal input for each.
    """
    parts = []
    for start in range(0, n_samples, CHUNK):
        m = min(CHUNK, n_samples - start)
        signed = [w * (2.0 * rng.integers(0, 2, (m, *w.shape)) - 1) for w in weights]
        x = rng.normal(size=(m, len(weights[0]))) if inputs is None else np.tile(inputs, (m, 1))
        parts.append(input_gradients(signed, f, x) ** 2)
    return np.concatenate(parts) / f.mean_square ** (len(weights) - 1)
