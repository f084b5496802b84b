"""Spectra of trained layers, step by step: every lower end of the tail, chance, the way there, and several seeds."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from capcore.spectra.eigenvalues import gram_spectra
from capcore.spectra.exponents import usable
from capcore.spectra.power_law import fit_power_laws
from capcore.spectra.results import SpectraReport
from chapters.spectra.experiment import Snapshot, Training, analysed, trained_outcomes, trainings

Shape = tuple[int, int]
SHOWN = {"right labels": "true labels"}
"""Name of a network in ``experiment`` → name in the chapter."""


def epochs_shown(epochs: int) -> list[int]:
    """The start, the end, and epochs between them at growing distances.

    >>> epochs_shown(10)
    [0, 1, 2, 3, 5, 8, 10]
    """
    return [epoch for epoch in (0, 1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 100, 150) if epoch < epochs] + [epochs]


class TailScan:
    """What each eigenvalue would give as lower end of the tail; all (m,), ascending in ``x_min``.

    This is Clauset's choice of x_min by a plain loop: the slow, obvious route to what the package's pruned scan finds.

    ``alpha`` : exponent of the tail from there on. ``distance`` : Kolmogorov–Smirnov distance from its power law.
    ``n_tail`` : eigenvalues in it.

    >>> scan = TailScan(np.array([1.0, 2.0, 4.0]))
    >>> scan.n_tail.tolist(), scan.alpha.round(2).tolist()
    ([3.0, 2.0], [2.44, 3.89])
    """

    def __init__(self, eigenvalues: np.ndarray) -> None:
        values, rows = usable(eigenvalues).values, []
        for x_min in np.unique(values)[:-1]:
            tail = values[values >= x_min]
            alpha = 1 + len(tail) / np.log(tail / x_min).sum()
            below = np.arange(len(tail)) / len(tail)
            rows.append((x_min, alpha, np.abs(1 - (tail / x_min) ** (1 - alpha) - below).max(), len(tail)))
        self.x_min, self.alpha, self.distance, self.n_tail = np.array(rows).T

    @property
    def best(self) -> int:
        """Index of the tail that is closest to its law."""
        return int(np.argmin(self.distance))


def exhaustive_sum(report: SpectraReport) -> float:
    """Σ α log₁₀ λ_max over all spectra of a report, every exponent by :class:`TailScan` (paper 3, Eq. 3)."""
    total = 0.0
    for density in report.densities:
        scan = TailScan(density.eigenvalues)
        total += float(scan.alpha[scan.best] * np.log10(density.eigenvalues.max()))
    return total


def chance_exponents(shape: tuple[int, int], n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """(n_draws,) exponents of Gaussian matrices of a shape. Their scale does not matter: α has no units."""
    draws = rng.normal(size=(n_draws, *shape))
    return np.array([fit.alpha for fit in fit_power_laws(list(gram_spectra(draws).eigenvalues))])


def path_exponents(snapshots: Iterable[Snapshot]) -> pd.DataFrame:
    """A network on its way: one row per snapshot and layer, with its α."""
    rows = [
        (snapshot.epoch, row.name, row.alpha)
        for snapshot in snapshots
        for row in analysed(snapshot.weights, alternatives=()).spectra
    ]
    return pd.DataFrame(rows, columns=["epoch", "layer", "alpha"])


def all_outcomes(networks: Mapping[int, Mapping[str, Training]], content: Mapping[str, Any]) -> pd.DataFrame:
    """``outcomes`` of networks from several seeds, read where they are stored and trained now otherwise.

    networks : seed → name → training. content : settings and values of ``stored("layer_seeds")``. In the table the
    network with right labels is called by ``SHOWN``.
    """
    settings, then, tables = content["settings"], pd.DataFrame(content["values"]), []
    then["shape"] = then["shape"].map(tuple)
    for seed, own in networks.items():
        known = seed in settings["seeds"] and own == trainings(settings, seed)
        tables.append(then[then["seed"] == seed] if known else trained_outcomes(own, seed))
    return pd.concat(tables, ignore_index=True).replace({"network": SHOWN})


def layers_of(table: pd.DataFrame) -> dict[str, list[tuple[Shape, float]]]:
    """Network → shape and α of each of its layers, for all seeds."""
    return {
        str(network): list(zip(part["shape"], part["alpha"], strict=True))
        for network, part in table.groupby("network", sort=False)
    }


def below_chance(table: pd.DataFrame, chance: Mapping[Shape, np.ndarray]) -> pd.Series:
    """For each row, whether its α is smaller than that of 97.5 % of random matrices of the shape.

    chance : shape → (B,) exponents of random matrices.
    """
    ends = {shape: np.percentile(values, 2.5) for shape, values in chance.items()}
    return table["alpha"] < table["shape"].map(ends)


def counted(below: pd.Series, some: pd.Series) -> str:
    """How many of the rows ``some`` (booleans) are below chance, as text.

    >>> counted(pd.Series([True, True, False]), pd.Series([True, False, True]))
    '1 of 2'
    """
    return f"{(below & some).sum()} of {some.sum()}"
