"""How far capacity gets through dilations 1, 2, 4, …: its exact law on powers of two, at any depth.

The displacement is a number with the digits −1, 0 and 1 in base two, one from each layer. What lies within 2^m is
decided by the layers above m, whose digits must sum to 0, or to ±1 with the rest pulling back. No positions are listed,
and so 2⁴⁰⁹⁶ of them are no obstacle.
"""

from __future__ import annotations

import numpy as np

from capcore.validation import finite_array, finite_number, positive_integer
from chapters.scaling_pdes_architectures.dilated_fields import checked_jump


def within_powers(n_layers: int, jump: float) -> np.ndarray:
    """(N + 1,) capacity within |x| < 2^m of the output's position, m = 0 … N, for dilations 1, 2, …, 2^(N − 1).

    Derived here: P(|X| < 2^m) = q₀ + q₁ (1 − p₀^m), where p₀ is the chance to stay in one layer, and q₀, q₁ those of 0
    and 1 for the sum of the N − m upper digits.

    Parameters
    ----------
    jump : squared weight at either side of every layer, at most ½.

    >>> within_powers(2, 0.25).tolist()  # displacements −3 … 3
    [0.25, 0.625, 1.0]
    """
    n_layers, p = positive_integer(n_layers, "n_layers"), checked_jump(jump)
    stay = 1 - 2 * p
    zero, one = 1.0, 0.0  # of a sum without digits
    within = np.empty(n_layers + 1)
    for m in range(n_layers, -1, -1):
        within[m] = zero + one * (1 - stay**m)
        zero, one = stay * zero, p * (zero + one)
    return within


def octave_capacities(n_layers: int, jump: float) -> np.ndarray:
    """(N + 1,) capacity that does not move, and of the octaves 2^(m − 1) ≤ |x| < 2^m, m = 1 … N.

    >>> octave_capacities(2, 0.25).tolist()
    [0.25, 0.375, 0.375]
    """
    return np.diff(within_powers(n_layers, jump), prepend=0.0)


def gaussian_octaves(n_layers: int, deviation: float) -> np.ndarray:
    """(N + 1,) the same of a Gaussian whose standard deviation is ``deviation`` times 2^(N − 1).

    >>> gaussian_octaves(2, 0.5).round(4).tolist()
    [0.6827, 0.2718, 0.0454]
    """
    from scipy.special import erf

    exponents = np.arange(positive_integer(n_layers, "n_layers") + 1) - (n_layers - 1)
    return np.diff(erf(2.0**exponents / (np.sqrt(2) * finite_number(deviation, "deviation"))), prepend=0.0)


def half_within(within: np.ndarray) -> int:
    """The smallest m with half of the capacity within 2^m.

    >>> half_within(np.array([0.25, 0.625, 1.0]))
    1
    """
    return int(np.argmax(finite_array(within, "within", 1) >= 0.5))


def limit_within(u: object, rate: float) -> np.ndarray:
    """(…) capacity within 2^(uN) for many layers, with rates a/N to either side: e^{−2a(1 − u)}, 0 ≤ u ≤ 1.

    Derived here: where capacity ends is decided by the largest dilation on which it jumped. Half of it is within
    2^(uN) at u = 1 − ln 2/(2a).

    >>> limit_within([0.0, 1.0], 1.0).round(4).tolist()
    [0.1353, 1.0]
    """
    return np.exp(-2 * finite_number(rate, "rate") * (1 - finite_array(u, "u", (0, 1))))


def limit_gap(n_layers: int, rate: float) -> float:
    """Largest difference between :func:`within_powers` with jumps a/N and its limit, over m = 0 … N.

    >>> limit_gap(64, 1.0) / limit_gap(128, 1.0) > 1.9
    True
    """
    exact = within_powers(n_layers, finite_number(rate, "rate") / n_layers)
    return float(np.abs(exact - limit_within(np.arange(n_layers + 1) / n_layers, rate)).max())
