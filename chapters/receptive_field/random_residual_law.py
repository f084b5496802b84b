"""What squared weights expect of random residual networks: how far each layer moves the squared gradient."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from capcore.validation import one_of, positive_integer

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
    one_of(kind, "kind", KINDS)
    shares, size = [], 1.0
    for _ in range(positive_integer(n_layers, "n_layers")):
        if kind == "plain tanh":
            odds = jump * tanh_slope_square(size)
            size += jump * tanh_square(size)
        else:
            odds = jump / (1 - jump) * (1.0 if kind == "relu" else tanh_slope_square() / tanh_square())
        shares.append(odds / (1 + odds))
    return float(np.sqrt(2 / 3 * sum(shares)))
