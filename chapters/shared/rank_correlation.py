"""Rank correlations, plain and at a fixed third quantity."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from capcore.validation import finite_array


def spearman(x: object, y: object) -> float:
    """Spearman's ρ of two (m,) arrays, in [−1, 1]; ties share their mean rank, and a constant has ρ = 0 with all.

    >>> spearman([1, 2, 3], [1, 4, 9]), spearman([1, 2, 3], [5, 5, 5])
    (1.0, 0.0)
    """
    first, second = (rankdata(finite_array(values, name, 1)) for values, name in ((x, "x"), (y, "y")))
    if first.size != second.size:
        raise ValueError(f"y: found {second.size} values beside {first.size} in x, expected as many.")
    first, second = first - first.mean(), second - second.mean()
    scale = np.sqrt((first @ first) * (second @ second))
    return float(np.clip(first @ second / scale, -1.0, 1.0)) if scale > 0 else 0.0


def partial_spearman(x: object, y: object, given: object) -> float:
    """Partial rank correlation of x and y at fixed ``given``: what is left of ρ when that is taken into account.

    It is (ρ_xy − ρ_xg ρ_yg) / √((1 − ρ_xg²)(1 − ρ_yg²)); 0 where x or y follows ``given`` exactly.

    >>> round(partial_spearman([1, 2, 3, 4], [2, 1, 4, 3], [1, 1, 2, 2]), 3)
    -1.0
    """
    xy, xg, yg = spearman(x, y), spearman(x, given), spearman(y, given)
    left = (1 - xg**2) * (1 - yg**2)
    return float(np.clip((xy - xg * yg) / np.sqrt(left), -1.0, 1.0)) if left > 1e-15 else 0.0
