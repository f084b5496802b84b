"""Intervals for a rank correlation.

``copula`` : all correlations of a normal copula under which the one found is not in either tail (Clopper and
Pearson's construction, 1934, by simulation). It keeps its level with three or four points, and with a perfect
correlation. It assumes how the pairs scatter, though not the two margins.
``fisher`` : Fisher's z, with the variance (1 + ρ²/2)/(n − 3) of Bonett and Wright (2000) for Spearman's ρ and
0.437/(n − 4) of Fieller, Hartley and Pearson (1957) for Kendall's τ.
``percentile``, ``bca`` : the bootstrap over points, scipy's. It assumes nothing about the scatter, and is too narrow
with few points.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import stats

from capcore.validation import one_of
from chapters.shared.permutations import rank_statistics

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
