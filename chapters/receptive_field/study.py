"""Receptive fields of random residual stacks (paper 2, section 4).

The effective receptive field of random residual networks: squared gradients of one output, in NumPy.

Capacity propagation is the propagation of squared gradients whose paths are decorrelated. Here nothing is decorrelated
by hand: one forward pass fixes the derivatives of all activations, one backward pass gives the gradient.

What squared weights expect of random residual networks: how far each layer moves the squared gradient.
"""

from collections.abc import Callable, Sequence

import numpy as np

from chapters.shared.intervals import Interval
from chapters.shared.log_log import fit_power


def squared_gradients(
    kind: str, n_layers: int, jump: float, draws: int, rng: np.random.Generator, channels: int, positions: int
) -> np.ndarray:
    """(draws, positions) squared gradients of a random direction of the output's middle position, over input channels.

    Parameters
    ----------
    kind : one of ``KINDS``. jump : ε, the squared scale of the residual branch, more than 0 and less than 1.
    draws : networks. Each has a white Gaussian input, fresh Gaussian weights of He's variance in every layer, and a
        periodic range of positions.

    >>> squares = squared_gradients("relu", 2, 0.5, 1, np.random.default_rng(0), 8, 9)
    >>> np.flatnonzero(squares[0]).tolist()
    [2, 3, 4, 5, 6]
    """
    n, c = positions, channels
    skip = 1.0 if kind == "plain tanh" else np.sqrt(1 - jump)
    gain = np.sqrt(jump / tanh_square()) if kind == "tanh" else np.sqrt(jump)
    x = rng.normal(size=(draws, n, c))
    taps = np.empty((draws, n, 3 * c))
    passed: list[tuple[np.ndarray, np.ndarray, np.ndarray | None]] = []
    for _ in range(n_layers):
        w = rng.normal(size=(draws, 3 * c, c)) / np.sqrt(3 * c)
        taps[:, 1:, :c], taps[:, 0, :c] = x[:, :-1], x[:, -1]
        taps[..., c : 2 * c] = x
        taps[:, :-1, 2 * c :], taps[:, -1, 2 * c :] = x[:, 1:], x[:, 0]
        z = taps @ w
        if kind == "relu":
            v = rng.normal(size=(draws, c, c)) * np.sqrt(2 / c)
            branch = np.maximum(z, 0) @ v
            passed.append((w, z > 0, v))
        else:
            branch = np.tanh(z)
            passed.append((w, (1 - branch**2).astype(np.float32), None))
        x = skip * x + gain * branch
    gradient = np.zeros((draws, n, c))
    gradient[:, n // 2] = rng.normal(size=(draws, c)) / np.sqrt(c)
    for w, slope, mixing in reversed(passed):
        back = (slope * (gradient if mixing is None else gradient @ mixing.swapaxes(1, 2))) @ w.swapaxes(1, 2)
        moved = back[..., c : 2 * c]
        moved[:, :-1] += back[:, 1:, :c]
        moved[:, -1] += back[:, 0, :c]
        moved[:, 1:] += back[:, :-1, 2 * c :]
        moved[:, 0] += back[:, -1, 2 * c :]
        gradient = skip * gradient + gain * moved
    return np.sum(gradient**2, axis=-1)


def deviation(profile: np.ndarray) -> float:
    """Standard deviation of the position, in positions, with a profile (positions,) of weights.

    >>> deviation(np.array([0.0, 0.5, 0.0, 0.5]))
    1.0
    """
    share = profile / profile.sum()
    x = np.arange(profile.size) - share @ np.arange(profile.size)
    return float(np.sqrt(share @ x**2))


def deviations(
    kind: str, depths: Sequence[int], jump: object, draws: int, rng: np.random.Generator, channels: int
) -> np.ndarray:
    """(draws, depths) standard deviations of squared gradients, each of a network of its own.

    Parameters
    ----------
    jump : ε, or one for every depth. Positions are as many as the widest field needs, and at least 192.
    """
    scales = np.broadcast_to(np.asarray(jump, dtype=float), len(depths)).tolist()
    widest = max(expected_deviation(kind, n, epsilon) for n, epsilon in zip(depths, scales, strict=True))
    positions = max(192, round(14 * widest))
    at_once = [min(8, draws - first) for first in range(0, draws, 8)]  # for the memory
    rows = []
    for some in at_once:
        of_depths = [
            squared_gradients(kind, n, epsilon, some, rng, channels, positions)
            for n, epsilon in zip(depths, scales, strict=True)
        ]
        rows.append(np.array([[deviation(profile) for profile in profiles] for profiles in of_depths]).T)
    return np.concatenate(rows)


def exponent_interval(depths: Sequence[int], draws: np.ndarray) -> Interval:
    """Mean over draws, with its interval, of the exponent in the depth of :func:`deviations` (draws, depths).

    >>> exponent_interval([1, 4, 16], np.array([[1.0, 2.0, 4.0], [3.0, 6.0, 12.0]])).mean.__round__(12)
    0.5
    """
    return Interval.of([fit_power(depths, row).exponent for row in draws])


KINDS = ("relu", "tanh", "plain tanh")
"""√(1−ε) x + √ε V relu(Wx), √(1−ε) x + √ε tanh(Wx)/σ, and x + √ε tanh(Wx); W has three taps, V one."""
_GRID = np.linspace(-10, 10, 4001)
"""In standard deviations: fine enough for a tanh at inputs of a standard deviation of a hundred."""
_WEIGHTS = np.exp(-(_GRID**2) / 2) / np.exp(-(_GRID**2) / 2).sum()


def _gaussian_mean(function: Callable[[np.ndarray], np.ndarray], variance: float = 1.0) -> float:
    """Mean of a function of a Gaussian of mean zero, by the trapezoidal rule."""
    return float(_WEIGHTS @ function(np.sqrt(variance) * _GRID))


def tanh_square(variance: float = 1.0) -> float:
    """E tanh² of a Gaussian.

    >>> round(tanh_square(), 4)
    0.3943
    """
    return _gaussian_mean(lambda z: np.tanh(z) ** 2, variance)


def tanh_slope_square(variance: float = 1.0) -> float:
    """E (tanh′)² of a Gaussian.

    >>> round(tanh_slope_square(), 4)
    0.4644
    """
    return _gaussian_mean(lambda z: (1 - np.tanh(z) ** 2) ** 2, variance)


def expected_deviation(kind: str, n_layers: int, jump: float) -> float:
    """What squared weights say: √(⅔ Σ ε_l), where ε_l is the share of layer l's branch in the squared gradient.

    That share is χε/(1 − ε + χε), with χ = 1 for ReLU and E(tanh′)²/E tanh² for tanh. Without the factor √(1−ε)
    it is χε/(1 + χε), and falls as x grows by ε E tanh² from layer to layer.

    >>> round(expected_deviation("relu", 12, 0.5), 6)
    2.0
    """
    shares, size = [], 1.0
    for _ in range(n_layers):
        if kind == "plain tanh":
            odds = jump * tanh_slope_square(size)
            size += jump * tanh_square(size)
        else:
            odds = jump / (1 - jump) * (1.0 if kind == "relu" else tanh_slope_square() / tanh_square())
        shares.append(odds / (1 + odds))
    return float(np.sqrt(2 / 3 * sum(shares)))
