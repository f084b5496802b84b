"""Squared gradients of small networks: over inputs of one network, or over signs of its weights.

A network has N matrices W_1 … W_N, (n_in, n_out) each as in X_ℓ = f(W_ℓᵀ X_{ℓ−1}) (paper 2, Eq. 1), with an activation
after all but the uppermost, whose columns are the outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from capcore.propagation import signed_operator
from capcore.validation import finite_array, finite_number, one_of, positive_integer

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
    omega = finite_number(frequency, "frequency")
    if omega <= 0:
        raise ValueError(f"frequency: found {omega:g}, expected more than 0: a constant has no gradient.")
    return Activation(lambda z: np.sin(omega * z), lambda z: omega * np.cos(omega * z), omega**2 / 2)


ACTIVATIONS: dict[str, Activation] = {
    "identity": Activation(lambda z: z, np.ones_like),
    "relu": Activation(lambda z: np.maximum(z, 0), lambda z: (z > 0).astype(float), 0.5),
    "tanh": Activation(np.tanh, lambda z: 1 - np.tanh(z) ** 2),
}


def activation(name: str) -> Activation:
    """The named activation: identity, relu or tanh."""
    return ACTIVATIONS[one_of(name, "activation", ACTIVATIONS)]


def dense_layers(width: int, n_layers: int, rng: np.random.Generator) -> list[np.ndarray]:
    """``n_layers`` matrices (width, width) of normal weights, every column of length one.

    >>> [w.shape for w in dense_layers(3, 2, np.random.default_rng(0))]
    [(3, 3), (3, 3)]
    """
    width = positive_integer(width, "width")
    return [_unit_columns(rng.normal(size=(width, width))) for _ in range(positive_integer(n_layers, "n_layers"))]


def convolutional_layers(
    positions: int, channels: int, n_layers: int, rng: np.random.Generator, taps: int = 3
) -> list[np.ndarray]:
    """Matrices of circular convolutions (positions · channels, same), normal kernels, every column of length one.

    >>> w = convolutional_layers(5, 2, 1, np.random.default_rng(0))[0]
    >>> w.shape, np.linalg.norm(w, axis=0).round(12).max()
    ((10, 10), np.float64(1.0))
    """
    positions, channels = positive_integer(positions, "positions"), positive_integer(channels, "channels")
    if positions < positive_integer(taps, "taps"):
        raise ValueError(f"positions: found {positions}, expected at least the {taps} taps of a kernel.")
    kernels = rng.normal(size=(positive_integer(n_layers, "n_layers"), channels, taps, channels))
    return [_unit_columns(signed_operator(kernel, (positions, channels)).toarray()) for kernel in kernels]


def _unit_columns(matrix: np.ndarray) -> np.ndarray:
    return matrix / np.linalg.norm(matrix, axis=0)


def input_gradients(weights: Sequence[np.ndarray], f: Activation, inputs: object, output: int = 0) -> np.ndarray:
    """(m, n_in) gradients of one output at every input (m, n_in).

    Parameters
    ----------
    weights : N matrices (n_in, n_out), or arrays (m, n_in, n_out) with weights of its own for every input.
    """
    x = finite_array(inputs, "inputs", 2)
    slopes = []
    for w in weights[:-1]:
        z = _times(x, w)
        slopes.append(f.slope(z))
        x = f.value(z)
    gradient = np.broadcast_to(weights[-1][..., output], x.shape)
    for w, slope in zip(weights[-2::-1], slopes[::-1], strict=True):
        gradient = _times(gradient * slope, np.swapaxes(w, -1, -2))
    return gradient


def _times(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Rows of x (m, a) times w (a, b), or each times its own w (m, a, b)."""
    return x @ w if w.ndim == 2 else np.matmul(x[:, None, :], w)[:, 0]


def over_inputs(
    weights: Sequence[np.ndarray], f: Activation, n_samples: int, rng: np.random.Generator, output: int = 0
) -> np.ndarray:
    """(n_samples, n_in) squared gradients of one network at standard normal inputs, over the limit's mean of f′²."""
    inputs = rng.normal(size=(positive_integer(n_samples, "n_samples"), len(weights[0])))
    return input_gradients(weights, f, inputs, output) ** 2 / f.mean_square ** (len(weights) - 1)


def over_weight_signs(
    weights: Sequence[np.ndarray],
    f: Activation,
    n_samples: int,
    rng: np.random.Generator,
    output: int = 0,
    inputs: np.ndarray | None = None,
) -> np.ndarray:
    """(n_samples, n_in) as :func:`over_inputs`, with independent signs of all weights in every draw.

    Parameters
    ----------
    inputs : (n_in,), the same in every draw; by default a standard normal input for each.
    """
    parts = []
    for start in range(0, positive_integer(n_samples, "n_samples"), CHUNK):
        m = min(CHUNK, n_samples - start)
        signed = [w * (2.0 * rng.integers(0, 2, (m, *w.shape)) - 1) for w in weights]
        x = rng.normal(size=(m, len(weights[0]))) if inputs is None else np.tile(inputs, (m, 1))
        parts.append(input_gradients(signed, f, x, output) ** 2)
    return np.concatenate(parts) / f.mean_square ** (len(weights) - 1)
