"""Rank correlation as a bare statistic, how often shuffled ranks reach it, and how often n points would find one.

With n points there are n! pairings of ranks, all of which are counted for up to eight points. The most extreme of them
has a one-sided p-value of 1/n!, which no data can get below: 1/24 for four networks. Ties make it larger.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np
from scipy import stats

from capcore.checks.arguments import finite_array, finite_number, one_of, positive_integer

KINDS = ("spearman", "kendall")
ALTERNATIVES = ("two-sided", "greater", "less")
EXACT_UP_TO = 8
_SAME = 1e-9  # statistics closer than this are the same pairing's, whatever the rounding
_LIMIT = 1 - 1e-9  # of a correlation whose Fisher z is taken


def rank_statistics(x: np.ndarray, y: np.ndarray, kind: str = "spearman") -> np.ndarray:
    """(B,) rank correlation of each pair of rows of x and y (B, n): Spearman's ρ, or Kendall's τ-b; NaN for constants.

    >>> rank_statistics(np.array([[1.0, 2, 3]]), np.array([[1.0, 3, 2]]), "kendall").round(3).tolist()
    [0.333]
    """
    if one_of(kind, "kind", KINDS) == "kendall":
        first, second = np.triu_indices(x.shape[1], 1)
        a, b = np.sign(x[:, first] - x[:, second]), np.sign(y[:, first] - y[:, second])
    else:
        a, b = stats.rankdata(x, axis=1), stats.rankdata(y, axis=1)
        a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.where(scale > 0, np.clip((a * b).sum(axis=1) / np.where(scale > 0, scale, 1), -1, 1), np.nan)


def spearman(x: object, y: object) -> float:
    """Spearman's ρ of two (m,) arrays, in [−1, 1]; ties share their mean rank, and a constant has ρ = 0 with all.

    >>> spearman([1, 2, 3], [1, 4, 9]), spearman([1, 2, 3], [5, 5, 5])
    (1.0, 0.0)
    """
    first, second = (finite_array(values, name, 1) for values, name in ((x, "x"), (y, "y")))
    if first.size != second.size:
        raise ValueError(f"y: found {second.size} values beside {first.size} in x, expected as many.")
    return float(np.nan_to_num(rank_statistics(first[None], second[None])[0]))


def partial_spearman(x: object, y: object, given: object) -> float:
    """Partial rank correlation of x and y at fixed ``given``: what is left of ρ when that is taken into account.

    It is (ρ_xy − ρ_xg ρ_yg) / √((1 − ρ_xg²)(1 − ρ_yg²)); 0 where x or y follows ``given`` exactly.

    >>> round(partial_spearman([1, 2, 3, 4], [2, 1, 4, 3], [1, 1, 2, 2]), 3)
    -1.0
    """
    xy, xg, yg = spearman(x, y), spearman(x, given), spearman(y, given)
    left = (1 - xg**2) * (1 - yg**2)
    return float(np.clip((xy - xg * yg) / np.sqrt(left), -1.0, 1.0)) if left > 1e-15 else 0.0


def permutation_statistics(x: np.ndarray, y: np.ndarray, kind: str = "spearman") -> np.ndarray:
    """(n!,) rank correlation of x (n,) with every permutation of y (n,), for n of at most eight."""
    orders = _orders(len(y))
    if one_of(kind, "kind", KINDS) == "kendall":
        first, second = np.triu_indices(len(x), 1)
        a, signs = np.sign(x[first] - x[second]), np.sign(y[:, None] - y[None, :])
        products = signs[orders[:, first], orders[:, second]] @ a
        scale = np.sqrt((a @ a) * (signs**2).sum() / 2)
    else:
        a, b = stats.rankdata(x), stats.rankdata(y)
        a, b = a - a.mean(), b - b.mean()
        products, scale = b[orders] @ a, np.sqrt((a @ a) * (b @ b))
    return np.asarray(products / scale if scale > 0 else np.full(len(orders), np.nan))


@lru_cache(maxsize=EXACT_UP_TO)
def _orders(n: int) -> np.ndarray:
    return np.array(list(permutations(range(n))))


def permutation_p_value(
    x: np.ndarray, y: np.ndarray, kind: str = "spearman", alternative: str = "two-sided"
) -> tuple[float, bool]:
    """p-value of no association between x and y (n,), and whether it is exact.

    Up to eight points all n! pairings are counted, ties included. Beyond, it is scipy's: Student's t for Spearman's
    ρ, and for Kendall's τ exact without ties and normal with them. ``alternative`` : two-sided, greater or less.

    >>> permutation_p_value(np.arange(4.0), np.arange(4.0), alternative="greater")
    (0.041666666666666664, True)
    """
    one_of(alternative, "alternative", ALTERNATIVES)
    if len(x) > EXACT_UP_TO:
        test = stats.spearmanr if one_of(kind, "kind", KINDS) == "spearman" else stats.kendalltau
        return float(test(x, y, alternative=alternative).pvalue), False
    found = rank_statistics(x[None], y[None], kind)[0]
    return share_as_extreme(permutation_statistics(x, y, kind), float(found), alternative), True


def share_as_extreme(null: np.ndarray, found: float, alternative: str) -> float:
    """Share of ``null`` (B,) that is at least as far out as ``found``; two-sided counts both signs by size."""
    null, found = {
        "two-sided": (np.abs(null), abs(found)),
        "greater": (null, found),
        "less": (-null, -found),
    }[alternative]
    return float(np.mean(null >= found - _SAME))


def smallest_p_value(n: int, alternative: str = "two-sided") -> float:
    """The smallest p-value that a rank correlation of ``n`` points can have: 1/n! one-sided, 2/n! two-sided.

    >>> [round(smallest_p_value(n), 4) for n in (3, 4, 5)]
    [0.3333, 0.0833, 0.0167]
    """
    sides = 2 if one_of(alternative, "alternative", ALTERNATIVES) == "two-sided" else 1
    return min(1.0, sides / factorial(positive_integer(n, "n", 2)))


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
