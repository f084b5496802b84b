"""The field of a stack of dilated layers: its size and shape, however deep (paper 2, Eqs 20–23 and footnote 4).

Dilations that double reach 2⁴⁰⁹⁵ after 4,096 layers, which is no floating-point number. Their logarithms are, and
everything is measured in units of the largest dilation, the receptive field R_L of the last layer.
"""

from typing import NamedTuple

import numpy as np


class Field(NamedTuple):
    """``deviation``: standard deviation over the largest dilation R_L. ``excess_kurtosis``: 0 for a Gaussian."""

    deviation: float
    excess_kurtosis: float


def stepped_dilations(n_layers: int, ratio: float = 2.0, every: int = 1) -> np.ndarray:
    """(N,) logarithms of dilations that are multiplied by λ^m after every m layers, lowest layer first.

    Parameters
    ----------
    ratio : λ > 1, per layer on average. every : m, which must divide the number of layers.

    >>> np.exp(stepped_dilations(6, 2.0, every=3)).round().tolist()
    [1.0, 1.0, 1.0, 8.0, 8.0, 8.0]
    """
    return np.log(ratio) * every * (np.arange(n_layers) // every)


def staged_dilations(n_layers: int, n_stages: int) -> np.ndarray:
    """(N,) logarithms of the dilations 1, 2, 4, … of a fixed number of stages with equally many layers each.

    >>> np.exp(staged_dilations(6, 2)).round().tolist()
    [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    """
    return np.log(2) * (np.arange(n_layers) // (n_layers // n_stages))


def smooth_dilations(n_layers: int, largest: float) -> np.ndarray:
    """(N,) logarithms of R^(l/N), l = 0 … N − 1: growth that a continuous limit can follow, as R stays fixed.

    The dilations are real numbers, as on a continuous line.

    >>> np.exp(smooth_dilations(4, 16.0)).round(6).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    return np.log(largest) * np.arange(n_layers) / n_layers


def field(log_dilations: object, jump: float) -> Field:
    """Size and shape of where the capacity of one output ends, from the cumulants of the layers' steps.

    Parameters
    ----------
    log_dilations : (N,). jump : squared weight at either side of every layer, at most ½; a/N for a rate a.

    >>> [round(x, 6) for x in field(stepped_dilations(24), 1 / 24)]
    [0.333333, 5.4]
    """
    h = np.exp((logs := np.asarray(log_dilations, dtype=float)) - logs.max())
    p = 2 * jump
    variance = p * np.sum(h**2)
    return Field(float(np.sqrt(variance)), float((p - 3 * p**2) * np.sum(h**4) / variance**2))


def printed_over_exact(n_layers: int) -> float:
    """V(1) of Eq. 21 over the sum over the layers: λ^2N/(2N log λ) by (λ^2N − 1)/(N (λ² − 1)), λ = 2, N = L − 1.

    >>> round(printed_over_exact(64), 6)
    2.164043
    """
    return float(3 / np.log(4) / -np.expm1(-n_layers * np.log(4)))


def smooth_gap(n_layers: int, largest: float) -> float:
    """Relative gap of Eq. 20, (e^α − 1)/α with e^α = R², to the mean of the squared dilations R^(2l/N).

    >>> round(smooth_gap(4096, 16.0), 6)
    0.000677
    """
    alpha = 2 * np.log(largest)
    exact = np.mean(np.exp(2 * smooth_dilations(n_layers, largest)))
    return float(np.expm1(alpha) / alpha / exact - 1)


def step_factor(every: int, ratio: float = 2.0) -> float:
    """Field over R_L with steps of λ^m every m layers, relative to steps in every layer: √(m (1 − λ^−2)/(1 − λ^−2m)).

    The correction that footnote 4 leaves open, derived here: m layers share the largest dilation.

    >>> round(step_factor(4), 6)
    1.735444
    """
    log_ratio = np.log(ratio)
    return float(np.sqrt(every * np.expm1(-2 * log_ratio) / np.expm1(-2 * every * log_ratio)))
