"""Rank correlation as a bare statistic, how often shuffled ranks reach it, and how often n points would find one.

With n points there are n! pairings of ranks, all of which are counted for up to eight points. The most extreme of them
and its mirror image have a two-sided p-value of 2/n!, which no data can get below: 1/12 for four networks. Ties make it
larger.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np
from scipy import stats

EXACT_UP_TO = 8
_SAME = 1e-9  # statistics closer than this are the same pairing's, whatever the rounding
_NOTHING_LEFT = 1e-9  # of the length of a vector of ranks, after others are taken out
_LIMIT = 1 - 1e-9  # of a correlation whose Fisher z is taken


def rank_statistics(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(B,) Spearman's ρ of each pair of rows of x and y (B, n); NaN for constants.

    >>> rank_statistics(np.array([[1.0, 2, 3]]), np.array([[1.0, 3, 2]])).tolist()
    [0.5]
    """
    a, b = (stats.rankdata(rows, axis=1) - (x.shape[1] + 1) / 2 for rows in (x, y))
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    products = np.divide((a * b).sum(axis=1), scale, out=np.full(len(scale), np.nan), where=scale > 0)
    return np.clip(products, -1, 1)


def spearman(x: object, y: object, *given: object) -> float:
    """Spearman's ρ of two (m,) arrays, in [−1, 1], partial at fixed ``given`` (m,); a constant has ρ = 0 with all.

    >>> round(spearman([1, 2, 3], [1, 4, 9]), 9), spearman([1, 2, 3], [5, 5, 5])
    (1.0, 0.0)
    """
    first, second, *fixed = (np.array([column], float) for column in (x, y, *given))
    return float(partial_spearman(first, second, fixed)[0])


def partial_spearman(x: np.ndarray, y: np.ndarray, given: Sequence[np.ndarray] = ()) -> np.ndarray:
    """(…,) Spearman's correlation of rows of x and y (…, n) with the ranks of ``given`` (…, n) regressed out.

    A place where x, y or a given quantity is NaN is left out; 0 where nothing is left of x or y.

    >>> partial_spearman(np.array([[1.0, 2, 3, 4]]), np.array([[2.0, 1, 4, 3]]), [np.array([[1.0, 1, 2, 2]])]).round(3)
    array([-1.])
    """
    columns = np.stack(np.broadcast_arrays(*given, x, y))
    there = ~np.isnan(columns).any(axis=0)
    ranks = stats.rankdata(np.where(there, columns, np.inf), axis=-1)  # what is missing comes last, and is dropped
    count = there.sum(axis=-1, keepdims=True)
    ranks = np.where(there, ranks - (count + 1) / 2, 0.0)
    least = _NOTHING_LEFT * np.linalg.norm(ranks, axis=-1, keepdims=True)
    for i in range(len(ranks)):
        size = np.linalg.norm(ranks[i], axis=-1, keepdims=True)
        ranks[i] = np.where(size > least[i], ranks[i] / np.where(size > 0, size, 1), 0.0)
        if i < len(given):
            ranks[i + 1 :] -= np.sum(ranks[i + 1 :] * ranks[i], axis=-1, keepdims=True) * ranks[i]
    return np.clip(np.sum(ranks[-2] * ranks[-1], axis=-1), -1, 1)


@lru_cache(maxsize=EXACT_UP_TO)
def _orders(n: int) -> np.ndarray:
    return np.array(list(permutations(range(n))))


def permutation_p_value(x: np.ndarray, y: np.ndarray) -> float:
    """Two-sided p-value of no association between x and y (n,).

    Up to eight points all n! pairings are counted, ties included. Beyond, it is scipy's: Student's t for Spearman's
    ρ, and for Kendall's τ exact without ties and normal with them.

    >>> permutation_p_value(np.arange(4.0), np.arange(4.0))
    0.08333333333333333
    """
    if len(x) > EXACT_UP_TO:
        return float(stats.spearmanr(x, y).pvalue)
    others = y[_orders(len(y))]
    null = rank_statistics(np.broadcast_to(x, others.shape), others)
    return share_as_extreme(null, float(rank_statistics(x[None], y[None])[0]))


def share_as_extreme(null: np.ndarray, rho: float) -> float:
    """Share of ``null`` (B,) that is at least as far from zero as ``rho``."""
    return float(np.mean(np.abs(null) >= abs(rho) - _SAME))


def smallest_p_value(n: int) -> float:
    """The smallest two-sided p-value that a rank correlation of ``n`` points can have: 2/n!.

    >>> [round(smallest_p_value(n), 4) for n in (3, 4, 5)]
    [0.3333, 0.0833, 0.0167]
    """
    return min(1.0, 2 / factorial(n))


def critical_correlation(n: int, level: float = 0.05) -> float:
    """The smallest Spearman ρ of n points (by size) whose two-sided p-value is at most ``level``; infinite if none is.

    Exact for up to eight points without ties, by Student's t beyond.

    >>> critical_correlation(4), critical_correlation(5)
    (inf, 1.0)
    """
    if n > EXACT_UP_TO:
        t = float(stats.t.isf(level / 2, n - 2))
        return t / np.sqrt(n - 2 + t * t)
    orders = _orders(n)
    null = rank_statistics(np.broadcast_to(np.arange(float(n)), orders.shape), orders)
    reached = [rho for rho in np.unique(null.round(9)) if rho > 0 and share_as_extreme(null, rho) <= level]
    return float(min(reached, default=np.inf))


def points_needed(rho: float, power: float = 0.8, level: float = 0.05) -> int:
    """Number of independent points with which a Spearman correlation ``rho`` is found with chance ``power``.

    The least n at which Fisher's z, normal about artanh ρ with the variance (1 + ρ²/2)/(n − 3) of Bonett and Wright
    (2000), exceeds that of ``critical_correlation`` often enough. Its chance is within 0.02 of a simulated one from ten
    points on.

    >>> points_needed(0.3), points_needed(0.5), points_needed(0.8)
    (87, 31, 11)
    """
    wanted, spread = float(stats.norm.isf(1 - power)), np.sqrt(1 + rho**2 / 2)
    centre, n = np.arctanh(abs(rho)), 4
    while True:
        critical = critical_correlation(n, level)
        if critical <= 1 and (centre - np.arctanh(min(critical, _LIMIT))) * np.sqrt(n - 3) >= wanted * spread:
            return n
        n += 1
