"""Rank correlation of two columns with its interval and p-value, plain and at fixed third quantities.

The intervals:

``copula`` : all correlations of a normal copula under which the one found is not in either tail (Clopper and
Pearson's construction, 1934, by simulation). It keeps its level with three or four points, and with a perfect
correlation. It assumes how the pairs scatter, though not the two margins.
``fisher`` : Fisher's z, with the variance (1 + ρ²/2)/(n − 3) of Bonett and Wright (2000).

Up to 20 points have the copula's, more of them Fisher's.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import stats

from chapters.shared.rank_statistics import permutation_p_value, rank_statistics

COPULA_UP_TO = 20
_DRAWS = 4_000  # a tail of 0.025 comes out to ± 0.0025
_SAME = 1e-6  # table entries are of single precision
_HALF = np.tanh(np.linspace(0, 4.5, 61))  # correlations of the populations; the others follow by symmetry
_GRID = np.concatenate([-_HALF[:0:-1], _HALF])
_TAIL = (1 - 0.95) / 2


def copula_interval(rho: float, n: int) -> tuple[float, float]:
    """95 % interval for the correlation behind Spearman's ``rho`` of ``n`` points, under a normal copula.

    The ends are Spearman's correlation of the population, 6/π arcsin(r/2).
    Found from 4,000 simulated samples of a fixed seed.

    >>> low, high = copula_interval(1.0, 4)
    >>> round(low, 1), high
    (-0.2, 1.0)
    """
    return _low_end(n, float(rho)), -_low_end(n, -float(rho))


@lru_cache(maxsize=4_096)
def _low_end(n: int, rho: float) -> float:
    """The smallest correlation of a population whose samples reach ``rho`` with the chance of a tail, or −1."""
    table = simulated_statistics(n)
    reached = (table >= rho - _SAME).mean(axis=1)
    mirrored = (table <= -rho + _SAME).mean(axis=1)  # the same of the populations with a negative correlation
    chance = np.maximum.accumulate(np.concatenate([mirrored[:0:-1], reached]))
    return -1.0 if chance[0] > _TAIL else float(np.interp(_TAIL, chance, population_correlation(_GRID)))


def population_correlation(r: np.ndarray) -> np.ndarray:
    """Spearman's correlation of a normal population with Pearson's correlation ``r``."""
    return 6 / np.pi * np.arcsin(r / 2)


@lru_cache(maxsize=32)
def simulated_statistics(n: int) -> np.ndarray:
    """(61, 4000) rank correlations of simulated normal samples of ``n`` points, per correlation of zero or more."""
    first, second = np.random.default_rng(0).normal(size=(2, _DRAWS, n))
    rows = (rank_statistics(first, r * first + np.sqrt(1 - r * r) * second) for r in _HALF)
    return np.array(list(rows), dtype=np.float32)


def fisher_interval(rho: float, n: int) -> tuple[float, float]:
    """95 % interval by Fisher's z; (−1, 1) where there are too few points for a variance.

    >>> [round(end, 2) for end in fisher_interval(0.5, 30)]
    [0.15, 0.74]
    """
    if n <= 3:
        return -1.0, 1.0
    half = stats.norm.ppf((1 + 0.95) / 2) * np.sqrt((1 + rho**2 / 2) / (n - 3))
    z = np.arctanh(np.clip(rho, -1 + 1e-12, 1 - 1e-12))
    return float(np.tanh(z - half)), float(np.tanh(z + half))


class RankCorrelation(NamedTuple):
    """A rank correlation with what it is worth.

    ``rho`` : Spearman's ρ. ``low``, ``high`` : ends of its interval. ``p_value`` : of no association,
    two-sided. ``n`` : number of points. ``n_given`` : quantities held fixed.
    """

    rho: float
    low: float
    high: float
    p_value: float
    n: int
    n_given: int = 0


def rank_correlation(x: object, y: object, given: object = ()) -> RankCorrelation:
    """The ``RankCorrelation`` of x and y, each (n,); ties share their mean rank.

    given : (k, n) quantities held fixed: ranks of x and y are regressed on theirs, and the residuals correlated. The
    interval and p-value (Student's t) then count n − k points.

    Raises ``ValueError`` for a constant x or y, whose ranks say nothing, and for a partial correlation with too few
    points.

    >>> correlation = rank_correlation([1, 2, 3, 4], [1, 2, 4, 3])
    >>> round(correlation.rho, 3), round(correlation.p_value, 3)
    (0.8, 0.333)
    """
    first, second = np.asarray(x, float), np.asarray(y, float)
    for name, column in (("x", first), ("y", second)):
        if np.ptp(column) == 0:
            raise ValueError(f"{name}: found {len(column)} equal values, expected values that differ, to rank them.")
    n, n_given = len(first), len(np.asarray(given))
    rho = float(np.clip(np.dot(*rank_scores(first, second, given)), -1, 1))
    p_value = _student(rho, n - n_given) if n_given else permutation_p_value(first, second)
    interval = copula_interval if n - n_given <= COPULA_UP_TO else fisher_interval
    return RankCorrelation(rho, *interval(rho, n - n_given), p_value, n, n_given)


def rank_scores(x: np.ndarray, y: np.ndarray, given: object = ()) -> tuple[np.ndarray, np.ndarray]:
    """Centred ranks of x and y (n,), scaled to length one, so that ρ is their product; without what ``given`` explains.

    ``given`` : (k, n), by whose ranks the ranks are regressed. Raises ``ValueError`` where nothing is left.

    >>> first, second = rank_scores(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))
    >>> round(float(first @ second), 3)
    0.5
    """
    fixed = np.asarray(given, float).reshape(-1, len(x))
    if len(fixed) and len(x) - len(fixed) < 3:
        raise ValueError(f"given: found {len(fixed)} quantities for {len(x)} points, expected at least 3 points more.")
    design = np.column_stack([np.ones(len(x)), *(stats.rankdata(row) for row in fixed)])
    ranks = stats.rankdata(np.stack([x, y]), axis=1).T
    left = ranks - design @ np.linalg.lstsq(design, ranks, rcond=None)[0]
    length = np.sqrt((left**2).sum(axis=0))
    if (length < 1e-9 * len(x)).any():
        raise ValueError("given: found x or y to follow it exactly, expected something left over to correlate.")
    return left[:, 0] / length[0], left[:, 1] / length[1]


def _student(rho: float, n: int) -> float:
    """Two-sided p-value of Pearson's correlation ``rho`` of ``n`` points by Student's t."""
    return float(2 * stats.t.sf(abs(rho) * np.sqrt((n - 2) / max(1 - rho**2, 1e-300)), n - 2))
