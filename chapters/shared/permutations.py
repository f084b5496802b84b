"""Rank correlation as a bare statistic, and how often shuffled ranks reach it: exact for up to eight points.

With n points there are n! pairings of ranks. The most extreme of them has a one-sided p-value of 1/n!, which no data
can get below: 1/24 for four networks. Ties make it larger.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np
from scipy import stats

from capcore.validation import one_of, positive_integer

KINDS = ("spearman", "kendall")
ALTERNATIVES = ("two-sided", "greater", "less")
EXACT_UP_TO = 8
_SAME = 1e-9  # statistics closer than this are the same pairing's, whatever the rounding


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
