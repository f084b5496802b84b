"""Rank correlation of two columns with its interval and p-value, plain and at fixed third quantities.

The intervals:

``copula`` : all correlations of a normal copula under which the one found is not in either tail (Clopper and
Pearson's construction, 1934, by simulation). It keeps its level with three or four points, and with a perfect
correlation. It assumes how the pairs scatter, though not the two margins.
``fisher`` : Fisher's z, with the variance (1 + ρ²/2)/(n − 3) of Bonett and Wright (2000) for Spearman's ρ and
0.437/(n − 4) of Fieller, Hartley and Pearson (1957) for Kendall's τ.
``percentile``, ``bca`` : the bootstrap over points, scipy's. It assumes nothing about the scatter, and is too narrow
with few points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

from capcore.checks.arguments import finite_array, finite_number, one_of, positive_integer
from chapters.shared.rank_statistics import permutation_p_value, rank_statistics

METHODS = ("auto", "copula", "fisher", "percentile", "bca")
COPULA_UP_TO = 20  # ``auto`` takes the copula's interval up to this many points, and Fisher's beyond
_DRAWS = 4_000  # a tail of 0.025 comes out to ± 0.0025
_SAME = 1e-6  # table entries are of single precision
_HALF = np.tanh(np.linspace(0, 4.5, 61))  # correlations of the populations; the others follow by symmetry
_GRID = np.concatenate([-_HALF[:0:-1], _HALF])


def copula_interval(rho: float, n: int, kind: str = "spearman", level: float = 0.95) -> tuple[float, float]:
    """Interval for the correlation behind a rank correlation ``rho`` of ``n`` points, under a normal copula.

    The ends are correlations of the population of the same kind: Spearman's 6/π arcsin(r/2), Kendall's 2/π arcsin r.
    Found from 4,000 simulated samples of a fixed seed.

    >>> low, high = copula_interval(1.0, 4)
    >>> round(low, 1), high
    (-0.2, 1.0)
    """
    tail = (1 - level) / 2
    return _low_end(n, kind, float(rho), tail), -_low_end(n, kind, -float(rho), tail)


@lru_cache(maxsize=4_096)
def _low_end(n: int, kind: str, rho: float, tail: float) -> float:
    """The smallest correlation of a population whose samples reach ``rho`` with chance ``tail``, or −1."""
    table = simulated_statistics(n, kind)
    reached = (table >= rho - _SAME).mean(axis=1)
    mirrored = (table <= -rho + _SAME).mean(axis=1)  # the same of the populations with a negative correlation
    chance = np.maximum.accumulate(np.concatenate([mirrored[:0:-1], reached]))
    return -1.0 if chance[0] > tail else float(np.interp(tail, chance, population_correlation(_GRID, kind)))


def population_correlation(r: np.ndarray, kind: str) -> np.ndarray:
    """Spearman's or Kendall's correlation of a normal population with Pearson's correlation ``r``."""
    return 6 / np.pi * np.arcsin(r / 2) if kind == "spearman" else 2 / np.pi * np.arcsin(r)


@lru_cache(maxsize=32)
def simulated_statistics(n: int, kind: str) -> np.ndarray:
    """(61, 4000) rank correlations of simulated normal samples of ``n`` points, per correlation of zero or more."""
    first, second = np.random.default_rng(0).normal(size=(2, _DRAWS, n))
    rows = (rank_statistics(first, r * first + np.sqrt(1 - r * r) * second, kind) for r in _HALF)
    return np.array(list(rows), dtype=np.float32)


def fisher_interval(rho: float, n: int, kind: str = "spearman", level: float = 0.95) -> tuple[float, float]:
    """Interval by Fisher's z; (−1, 1) where there are too few points for a variance, and all of one sign at |ρ| = 1.

    >>> [round(end, 2) for end in fisher_interval(0.5, 30)]
    [0.15, 0.74]
    """
    left = n - (3 if kind == "spearman" else 4)
    if left <= 0:
        return -1.0, 1.0
    variance = ((1 + rho**2 / 2) if kind == "spearman" else 0.437) / left
    half = stats.norm.ppf((1 + level) / 2) * np.sqrt(variance)
    z = np.arctanh(np.clip(rho, -1 + 1e-12, 1 - 1e-12))
    return float(np.tanh(z - half)), float(np.tanh(z + half))


def bootstrap_interval(
    x: np.ndarray, y: np.ndarray, kind: str, method: str, level: float, rng: np.random.Generator, n_resamples: int
) -> tuple[float, float]:
    """Percentile or BCa interval from resampled points of x and y (n,); resamples that are constant count as 0."""

    def statistic(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
        flat = rank_statistics(a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1]), kind)
        return np.nan_to_num(flat).reshape(a.shape[:-1])

    found = stats.bootstrap(
        (x, y), statistic, paired=True, vectorized=True, n_resamples=n_resamples, batch=1_000,
        confidence_level=level, method="BCa" if method == "bca" else method, rng=rng,
    ).confidence_interval  # fmt: skip
    if not np.isfinite([found.low, found.high]).all():
        raise ValueError(
            f"interval: found no {method} interval for {len(x)} points, all resamples agree. Take 'copula' instead."
        )
    return float(found.low), float(found.high)


def choose_method(method: str, n: int) -> str:
    """``method``, with ``auto`` decided: the copula's interval up to 20 points, Fisher's beyond."""
    one_of(method, "interval", METHODS)
    return ("copula" if n <= COPULA_UP_TO else "fisher") if method == "auto" else method


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

    Ties share their mean rank.

    Parameters
    ----------
    x, y : (n,) array_like
        The quantities.
    given : (n,) or (k, n) array_like, optional
        Quantities held fixed, Spearman only: ranks of x and y are regressed on theirs, and the residuals correlated.
        The interval and p-value (Student's t) then count n − k points.
    kind : str
        ``spearman`` or ``kendall``.
    interval : str
        ``auto``, ``copula``, ``fisher``, ``percentile`` or ``bca``; see the head.
    rng : Generator, optional
        For the two bootstrap intervals, which need it.

    Raises
    ------
    ValueError
        For a constant x or y, whose ranks say nothing, and for a partial correlation with too few points.

    Examples
    --------
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
