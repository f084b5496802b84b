"""Reading the stored statistics of the published table, and a second route to their averages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from chapters.spectra_accuracy.published_metrics import MAIN
from chapters.spectra_accuracy.published_table import DEPTH, METRICS, PARAMETERS

LABELS = {**METRICS, "logspectralnorm": r"log $\lambda_\max$", PARAMETERS: "parameters", DEPTH: "depth"}
DATASETS = {"imagenet": "ImageNet", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "svhn": "SVHN", "cub": "CUB-200"}


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
