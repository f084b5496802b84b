"""Rank correlation of two columns with its interval and p-value, plain and at fixed third quantities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from capcore.validation import finite_array, finite_number, positive_integer
from chapters.shared.permutations import permutation_p_value, rank_statistics
from chapters.shared.rank_intervals import bootstrap_interval, choose_method, copula_interval, fisher_interval


@dataclass(frozen=True)
class RankCorrelation:
    """A rank correlation with what it is worth.

    ``rho`` : Spearman's ρ or Kendall's τ-b. ``low``, ``high`` : ends of its interval. ``p_value`` : of no association,
    one or two sided as asked. ``n`` : number of points. ``kind``, ``interval``, ``level``, ``alternative`` : how it was
    computed. ``exact`` : whether the p-value counts all permutations. ``n_given`` : quantities held fixed.
    """

    rho: float
    low: float
    high: float
    p_value: float
    n: int
    kind: str
    interval: str
    level: float
    alternative: str
    exact: bool
    n_given: int = 0

    @property
    def sign(self) -> int:
        """+1 or −1 if the whole interval lies on that side of zero, else 0."""
        return int(self.low > 0) - int(self.high < 0)


def rank_correlation(
    x: object,
    y: object,
    *,
    given: object = None,
    kind: str = "spearman",
    interval: str = "auto",
    level: float = 0.95,
    alternative: str = "two-sided",
    rng: np.random.Generator | None = None,
    n_resamples: int = 2_000,
) -> RankCorrelation:
    """The ``RankCorrelation`` of x and y, each (n,) with n of at least 2.

    Parameters
    ----------
    given : (n,) or (k, n) quantities held fixed, Spearman only: ranks of x and y are regressed on theirs, and the
        residuals correlated. The interval and p-value (Student's t) then count n − k points.
    kind : ``spearman`` or ``kendall``.
    interval : ``auto``, ``copula``, ``fisher``, ``percentile`` or ``bca``; see ``rank_intervals``.
    rng : for the two bootstrap intervals, which need it.

    Raises ``ValueError`` for a constant x or y, whose ranks say nothing, and for a partial correlation with too few
    points. Ties share their mean rank.

    >>> found = rank_correlation([1, 2, 3, 4], [1, 2, 4, 3])
    >>> round(found.rho, 3), round(found.p_value, 3), found.exact, found.sign
    (0.8, 0.333, True, 0)
    """
    first, second = _column(x, "x"), _column(y, "y")
    if len(first) != len(second):
        raise ValueError(f"y: found {len(second)} values beside {len(first)} in x, expected as many.")
    level = finite_number(level, "level")
    if not 0 < level < 1:
        raise ValueError(f"level: found {level}, expected a number between 0 and 1, such as 0.95.")
    n_given, n = 0, len(first)
    if given is not None:
        if kind != "spearman":
            raise ValueError(f"kind: found {kind!r} with given quantities, expected 'spearman'.")
        fixed = np.atleast_2d(finite_array(given, "given", (1, 2)))
        first, second = rank_scores(first, second, fixed)
        n_given, rho = len(fixed), float(np.clip(first @ second, -1, 1))
        p_value, exact = _student(rho, n - n_given, alternative), False
    else:
        rho = float(rank_statistics(first[None], second[None], kind)[0])
        p_value, exact = permutation_p_value(first, second, kind, alternative)
    method = choose_method(interval, n - n_given)
    if method == "copula":
        low, high = copula_interval(rho, n - n_given, kind, level)
    elif method == "fisher":
        low, high = fisher_interval(rho, n - n_given, kind, level)
    else:
        if rng is None or n_given:
            raise ValueError(f"interval: found {method!r}, which needs rng=… and is not offered with given quantities.")
        count = positive_integer(n_resamples, "n_resamples", 100)
        low, high = bootstrap_interval(first, second, kind, method, level, rng, count)
    return RankCorrelation(rho, low, high, p_value, n, kind, method, level, alternative, exact, n_given)


def _column(values: object, name: str) -> np.ndarray:
    column = finite_array(values, name, 1)
    if len(column) < 2:
        raise ValueError(f"{name}: found {len(column)} value, expected at least 2.")
    if np.ptp(column) == 0:
        raise ValueError(f"{name}: found {len(column)} equal values, expected values that differ, to rank them.")
    return column


def rank_scores(x: np.ndarray, y: np.ndarray, given: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Centred ranks of x and y (n,), scaled to length one, so that ρ is their product; without what ``given`` explains.

    ``given`` : (k, n), by whose ranks the ranks are regressed, or None. Raises ``ValueError`` where nothing is left.

    >>> first, second = rank_scores(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))
    >>> round(float(first @ second), 3)
    0.5
    """
    fixed = np.empty((0, len(x))) if given is None else given
    if fixed.shape[1] != len(x):
        raise ValueError(f"given: found {fixed.shape[1]} values per quantity beside {len(x)} in x, expected as many.")
    if len(fixed) and len(x) - len(fixed) < 3:
        raise ValueError(f"given: found {len(fixed)} quantities for {len(x)} points, expected at least 3 points more.")
    design = np.column_stack([np.ones(len(x)), *(stats.rankdata(row) for row in fixed)])
    ranks = stats.rankdata(np.stack([x, y]), axis=1).T
    left = ranks - design @ np.linalg.lstsq(design, ranks, rcond=None)[0]
    length = np.sqrt((left**2).sum(axis=0))
    if (length < 1e-9 * len(x)).any():
        name = "x" if length[0] < 1e-9 * len(x) else "y"
        raise ValueError(f"given: found {name} to follow it exactly, expected something left over to correlate.")
    return left[:, 0] / length[0], left[:, 1] / length[1]


def _student(rho: float, n: int, alternative: str) -> float:
    """p-value of Pearson's correlation ``rho`` of ``n`` points by Student's t."""
    free = n - 2
    t = rho * np.sqrt(free / max(1 - rho**2, 1e-300))
    upper = float(stats.t.sf(t, free))
    return {"greater": upper, "less": 1 - upper, "two-sided": 2 * min(upper, 1 - upper)}[alternative]
