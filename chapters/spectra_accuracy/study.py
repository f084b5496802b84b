"""The stored statistics of the published table, read; and what such a study can tell, from simulated networks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from chapters.shared.rank_statistics import spearman
from chapters.spectra_accuracy.experiment import MAIN, PARAMETERS

LABELS = {
    "alpha": "α",
    "alpha_weighted": "α̂",
    "logpnorm": "log α-norm",
    "logspectralnorm": r"log $\lambda_\max$",
    "lognorm": "log‖W‖",
    PARAMETERS: "parameters",
}
SCATTER, NOISE = 0.25, 0.6
"""Of simulated networks: of quality, and of the metric beside it, in units of the spread of log size."""
DATASETS = {"imagenet": "ImageNet", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "svhn": "SVHN", "cub": "CUB-200"}


@dataclass(frozen=True)
class Estimate:
    """One row of a forest plot: a name, a correlation, the ends of its interval, and the networks behind it.

    >>> print(Estimate("α", 0.109, -0.358, 0.577, 123))
    0.11 [−0.36, 0.58]
    """

    label: str
    rho: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        """The correlation with its interval, as it stands in the text."""
        return f"{self.rho:z.2f} [{self.low:z.2f},\N{NO-BREAK SPACE}{self.high:z.2f}]".replace("-", "−")


def estimate(label: str, row: dict[str, Any]) -> Estimate:
    """The ``Estimate`` of a stored row.

    >>> estimate("α", {"rho": 0.1, "low": -0.3, "high": 0.5, "n": 12, "p_value": 0.4}).high
    0.5
    """
    return Estimate(label, row["rho"], row["low"], row["high"], row["n"])


def families(values: dict[str, Any], column: str, dataset: str = MAIN) -> list[Estimate]:
    """The correlation of ``column`` with the error in every family, largest family first."""
    rows = values["families"][dataset][column]
    estimates = [estimate(name.replace("_", " "), row) for name, row in rows.items()]
    return sorted(estimates, key=lambda one: (-one.n, one.label))


def averages(
    values: dict[str, Any], columns: Iterable[str], kind: str = "within", dataset: str = MAIN
) -> list[Estimate]:
    """The average within families (or ``across`` them, or ``pooled``) of several columns."""
    return [estimate(LABELS[column], values["averages"][dataset][column][kind]) for column in columns]


def at_fixed(values: dict[str, Any], columns: Iterable[str], base: str = PARAMETERS) -> list[Estimate]:
    """Averages within ImageNet families with ``base`` held fixed."""
    return [estimate(LABELS[column], values["given"][f"{column} given {base}"]) for column in columns]


def differences(values: dict[str, Any]) -> dict[str, Estimate]:
    """By how much the average of α̂ within ImageNet families is larger, in size, than that of other columns."""
    n = values["in_families"][MAIN]
    columns = {name.split(" less ")[1]: row for name, row in values["differences"].items()}
    return {column: Estimate(f"α̂ less {LABELS[column]}", row[0], row[1], row[2], n) for column, row in columns.items()}


def positive_share(values: dict[str, Any], column: str) -> float:
    """Share of the ImageNet families whose correlation with the error is above zero."""
    rows = values["averages"][MAIN][column]["within"]
    return float(rows["n_positive"] / rows["n_families"])


def size_studies(families: Sequence[int], knows: float, n_studies: int, rng: np.random.Generator) -> pd.DataFrame:
    """Simulated tables in which error falls with size, and a metric follows size and, by what it ``knows``, quality.

    Within a family, in units of the spread of log size s: error = −s + q with q of standard deviation ``SCATTER``, what
    training has added to size; metric = −s + knows · q + noise. At ``knows`` = 0 it has no more to say than size.

    A row a study, averages within families: ``metric``, ρ of the metric with the error; ``size``, of the number of
    parameters; ``partial``, of the metric with that number held fixed.

    >>> studies = size_studies([6] * 5, 0.0, 20, np.random.default_rng(0))
    >>> bool(studies["metric"].mean() > 0.6), bool(abs(studies["partial"].mean()) < 0.2)
    (True, True)
    """
    rows = []
    for _ in range(n_studies):
        sums, weights = np.zeros(3), np.zeros(3)
        for n in families:
            size, quality, other = rng.normal(size=(3, n))
            error = -size + SCATTER * quality
            metric = -size + knows * SCATTER * quality + NOISE * other
            by_size = np.array([spearman(metric, size), spearman(error, size)])
            left = np.abs(by_size).max() < 1 - 1e-9  # where size does not explain all, as in the table's families
            weight = np.array([n - 1, n - 1, (n - 2) * left])
            sums += weight * [spearman(metric, error), by_size[1], spearman(metric, error, size)]
            weights += weight
        rows.append(sums / weights)
    return pd.DataFrame(rows, columns=["metric", "size", "partial"])
