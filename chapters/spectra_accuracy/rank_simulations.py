"""What the correlation study can and cannot tell, from simulated networks whose relation is known."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from capcore.validation import finite_number, positive_integer
from chapters.shared.correlation import rank_correlation, rank_scores
from chapters.shared.ranks import correlation_power, rank_statistics

INTERVALS = ("copula", "fisher", "percentile", "bca")


def coverage(
    counts: Sequence[int], rho: float, n_samples: int, rng: np.random.Generator, n_resamples: int = 400
) -> dict[str, list[float]]:
    """Kind of 95 % interval → for each number of points, the share of samples whose interval holds the truth.

    Samples are of a normal population with Spearman correlation ``rho``; one without an interval counts as a miss.
    """
    truth = _inside(rho)
    r = 2 * np.sin(np.pi * truth / 6)
    shares: dict[str, list[float]] = {kind: [] for kind in INTERVALS}
    for n in counts:
        x, noise = rng.normal(size=(2, positive_integer(n_samples, "n_samples"), n))
        y = r * x + np.sqrt(1 - r * r) * noise
        for kind in INTERVALS:
            hits = [_holds(kind, truth, *pair, rng, n_resamples) for pair in zip(x, y, strict=True)]
            shares[kind].append(float(np.mean(hits)))
    return shares


def _holds(kind: str, truth: float, x: np.ndarray, y: np.ndarray, rng: np.random.Generator, n_resamples: int) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = rank_correlation(x, y, interval=kind, rng=rng, n_resamples=n_resamples)
    except ValueError:
        return False
    return found.low <= truth <= found.high


def power_curves(
    counts: Sequence[int], correlations: Sequence[float], rng: np.random.Generator, n_samples: int = 2_000
) -> dict[float, np.ndarray]:
    """True correlation → power of the two-sided test at 5 % for each number of points."""
    return {
        rho: np.array([correlation_power(n, rho, rng, n_samples=n_samples) for n in counts]) for rho in correlations
    }


@dataclass(frozen=True)
class SizeStudies:
    """Averages within families of many simulated tables, each (n_studies,).

    ``metric`` : ρ of the metric with the error. ``size`` : of the number of parameters. ``partial`` : of the metric
    with that number held fixed.
    """

    metric: np.ndarray
    size: np.ndarray
    partial: np.ndarray


def size_studies(
    families: Sequence[int],
    knows: float,
    n_studies: int,
    rng: np.random.Generator,
    *,
    scatter: float = 0.25,
    noise: float = 0.6,
) -> SizeStudies:
    """Simulated tables in which error falls with size, and a metric follows size and, by what it ``knows``, quality.

    Within a family, in units of the spread of log size s: error = −s + q with q of standard deviation ``scatter``, what
    training has added to size; metric = −s + knows · q + noise. At ``knows`` = 0 it has no more to say than size.

    >>> found = size_studies([6] * 5, 0.0, 20, np.random.default_rng(0))
    >>> bool(found.metric.mean() > 0.6), bool(abs(found.partial.mean()) < 0.2)
    (True, True)
    """
    rows = []
    for _ in range(positive_integer(n_studies, "n_studies")):
        sums, weights = np.zeros(3), np.zeros(3)
        for n in families:
            size, quality, other = rng.normal(size=(3, n))
            error = -size + scatter * quality
            metric = -size + knows * scatter * quality + noise * other
            plain = [float(rank_statistics(column[None], error[None])[0]) for column in (metric, size)]
            partial = _partial(metric, error, size)
            sums += [(n - 1) * plain[0], (n - 1) * plain[1], (n - 2) * (partial or 0.0)]
            weights += [n - 1, n - 1, n - 2 if partial is not None else 0]
        rows.append(sums / weights)
    return SizeStudies(*np.array(rows).T)


def _partial(metric: np.ndarray, error: np.ndarray, size: np.ndarray) -> float | None:
    """Correlation at fixed size, or None where nothing is left, as in the table's families."""
    try:
        first, second = rank_scores(metric, error, size[None])
    except ValueError:
        return None
    return float(first @ second)


def _inside(rho: float) -> float:
    value = finite_number(rho, "correlation")
    if not -1 < value < 1:
        raise ValueError(f"correlation: found {value}, expected a number strictly between -1 and 1.")
    return value
