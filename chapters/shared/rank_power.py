"""What a number of networks can show: the power of a rank correlation's test, and how many points a given one needs."""

from __future__ import annotations

import numpy as np
from scipy import stats

from capcore.validation import finite_number, one_of, positive_integer
from chapters.shared.permutations import (
    ALTERNATIVES,
    EXACT_UP_TO,
    permutation_statistics,
    rank_statistics,
    share_as_extreme,
)

_LIMIT = 1 - 1e-9  # of a correlation whose Fisher z is taken


def critical_correlation(n: int, level: float = 0.05, alternative: str = "two-sided") -> float:
    """The smallest Spearman ρ of n points (by size) whose p-value is at most ``level``; infinite if there is none.

    Exact for up to eight points without ties, by Student's t beyond.

    >>> critical_correlation(4), critical_correlation(4, 0.05, "greater"), critical_correlation(5)
    (inf, 1.0, 1.0)
    """
    sides = 2 if one_of(alternative, "alternative", ALTERNATIVES) == "two-sided" else 1
    if positive_integer(n, "n", 3) > EXACT_UP_TO:
        t = float(stats.t.isf(_chance(level, "level") / sides, n - 2))
        return t / np.sqrt(n - 2 + t * t)
    points = np.arange(float(n))
    null = permutation_statistics(points, points)
    kept = "two-sided" if sides == 2 else "greater"
    reached = [rho for rho in np.unique(null.round(9)) if rho > 0 and share_as_extreme(null, rho, kept) <= level]
    return float(min(reached, default=np.inf))


def correlation_power(
    n: int,
    rho: float,
    rng: np.random.Generator,
    *,
    level: float = 0.05,
    alternative: str = "two-sided",
    n_samples: int = 10_000,
) -> float:
    """Chance that n points of a normal population with Spearman correlation ``rho`` have a p-value below ``level``.

    By simulation; the standard error is at most 0.005. Zero for four points and a two-sided test at 5 %.

    >>> correlation_power(4, 0.99, np.random.default_rng(0))
    0.0
    """
    r = 2 * np.sin(np.pi * _correlation(rho) / 6)
    first, second = rng.normal(size=(2, positive_integer(n_samples, "n_samples"), positive_integer(n, "n", 3)))
    found = rank_statistics(first, r * first + np.sqrt(1 - r * r) * second)
    found = {"two-sided": np.abs(found), "greater": found, "less": -found}[
        one_of(alternative, "alternative", ALTERNATIVES)
    ]
    return float(np.mean(found >= critical_correlation(n, level, alternative) - 1e-9))


def points_needed(rho: float, power: float = 0.8, level: float = 0.05, alternative: str = "two-sided") -> int:
    """Number of independent points with which a Spearman correlation ``rho`` is found with chance ``power``.

    The least n at which Fisher's z, normal about artanh ρ with the variance (1 + ρ²/2)/(n − 3) of Bonett and Wright
    (2000), exceeds that of ``critical_correlation`` often enough. Its
    chance is within 0.02 of the simulated one (``correlation_power``) from ten points
    on. Raises ``ValueError`` for ρ = 0.

    >>> points_needed(0.3), points_needed(0.5), points_needed(0.8)
    (87, 31, 11)
    """
    size = abs(_correlation(rho))
    if size == 0:
        raise ValueError("rho: found 0, expected a correlation other than zero; no number of points would find it.")
    sides = 2 if one_of(alternative, "alternative", ALTERNATIVES) == "two-sided" else 1
    wanted = float(stats.norm.isf(1 - _chance(power, "power")))
    centre, spread = np.arctanh(size), np.sqrt(1 + size**2 / 2)
    simple = 3 + (spread * (stats.norm.isf(_chance(level, "level") / sides) + wanted) / centre) ** 2
    n = max(4, int(0.8 * simple) - 3)
    while True:
        critical = critical_correlation(n, level, alternative)
        if critical <= 1 and (centre - np.arctanh(min(critical, _LIMIT))) * np.sqrt(n - 3) >= wanted * spread:
            return n
        n += 1


def _correlation(rho: object) -> float:
    number = finite_number(rho, "rho")
    if not -1 < number < 1:
        raise ValueError(f"rho: found {number}, expected a correlation strictly between -1 and 1.")
    return number


def _chance(value: object, name: str) -> float:
    number = finite_number(value, name)
    if not 0 < number < 1:
        raise ValueError(f"{name}: found {number}, expected a number between 0 and 1.")
    return number
