"""The stored statistics of the published table, read; and what such a study can tell, from simulated networks."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from capcore.validation import finite_number, positive_integer
from chapters.shared.correlation import rank_correlation, rank_scores
from chapters.shared.ranks import correlation_power, rank_statistics
from chapters.spectra_accuracy.experiment import MAIN
from chapters.spectra_accuracy.table import DEPTH, METRICS, PARAMETERS

LABELS = {**METRICS, "logspectralnorm": r"log $\lambda_\max$", PARAMETERS: "parameters", DEPTH: "depth"}
DATASETS = {"imagenet": "ImageNet", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "svhn": "SVHN", "cub": "CUB-200"}
INTERVALS = ("copula", "fisher", "percentile", "bca")


@dataclass(frozen=True)
class Estimate:
    """One row of a forest plot: a name, a correlation, the ends of its interval, and the networks behind it.

    >>> print(Estimate("α", 0.109, -0.358, 0.577, 123))
    0.11 [−0.36, 0.58]
    """

    label: str
    rho: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        """The correlation with its interval, as it stands in the text."""
        return f"{self.rho:.2f} [{self.low:.2f}, {self.high:.2f}]".replace("-", "−")


def estimate(label: str, row: dict[str, Any]) -> Estimate:
    """The ``Estimate`` of a stored row.

    >>> estimate("α", {"rho": 0.1, "low": -0.3, "high": 0.5, "n": 12, "p_value": 0.4}).high
    0.5
    """
    return Estimate(label, row["rho"], row["low"], row["high"], row["n"])


def families(values: dict[str, Any], column: str, dataset: str = MAIN) -> list[Estimate]:
    """The correlation of ``column`` with the error in every family, largest family first."""
    rows = values["families"][dataset][column]
    found = [estimate(name.replace("_", " "), row) for name, row in rows.items()]
    return sorted(found, key=lambda one: (-one.n, one.label))


def averages(
    values: dict[str, Any], columns: Iterable[str], kind: str = "within", dataset: str = MAIN
) -> list[Estimate]:
    """The average within families (or ``across`` them, or ``pooled``) of several columns."""
    return [estimate(LABELS[column], values["averages"][dataset][column][kind]) for column in columns]


def at_fixed(values: dict[str, Any], columns: Iterable[str], base: str = PARAMETERS) -> list[Estimate]:
    """Averages within ImageNet families with ``base`` held fixed."""
    return [estimate(LABELS[column], values["given"][f"{column} given {base}"]) for column in columns]


def average_again(rows: Iterable[Estimate]) -> Estimate:
    """Average and 95 % interval from the families' own rows: weighted least squares of a constant, with a robust error.

    A second route to what the table was reduced to: the sandwich estimate of the error (White 1980, with the factor
    k/(k − 1)) of a regression on nothing but a constant, with weights n − 1.

    >>> rows = [Estimate("a", 0.2, -1, 1, 5), Estimate("b", 0.4, -1, 1, 5)]
    >>> print(average_again(rows))
    0.30 [−0.97, 1.57]
    """
    table = list(rows)
    rho, weight = np.array([row.rho for row in table]), np.array([row.n - 1.0 for row in table])
    design = np.ones((len(rho), 1))
    bread = 1 / ((design.T * weight) @ design).item()
    mean = bread * ((design.T * weight) @ rho).item()
    meat = float(((weight * (rho - mean)) ** 2).sum()) * len(rho) / (len(rho) - 1)
    half = float(stats.t.ppf(0.975, len(rho) - 1)) * bread * np.sqrt(meat)
    return Estimate("again", float(mean), float(mean - half), float(mean + half), sum(row.n for row in table))


def differences(values: dict[str, Any]) -> dict[str, Estimate]:
    """By how much the average of α̂ within ImageNet families is larger, in size, than that of other columns."""
    n = values["in_families"][MAIN]
    found = {}
    for name, (rho, low, high) in values["differences"].items():
        column = name.split(" less ")[1]
        found[column] = Estimate(f"α̂ less {LABELS[column]}", rho, low, high, n)
    return found


def p_values(values: dict[str, Any]) -> dict[str, float]:
    """Metric → p-value of its average within ImageNet families, from shuffled errors."""
    return {name: values["averages"][MAIN][name]["within"]["p_value"] for name in METRICS}


def positive_share(values: dict[str, Any], column: str) -> float:
    """Share of the ImageNet families whose correlation with the error is above zero."""
    rows = values["averages"][MAIN][column]["within"]
    return float(rows["n_positive"] / rows["n_families"])


def holm(p_values: dict[str, float]) -> dict[str, float]:
    """p-values adjusted for their number by Holm's method.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    adjusted: dict[str, float] = {}
    last = 0.0
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        last = min(1.0, max(last, (len(p_values) - rank) * p))
        adjusted[name] = last
    return adjusted


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
