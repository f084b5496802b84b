"""Spectra of trained layers, step by step: every lower end of the tail, chance, and the way there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from capcore.spectra.analysis import analyse_spectra
from capcore.spectra.eigenvalues import gram_spectra
from capcore.spectra.exponents import usable
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.models import RANGE
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.power_law import fit_power_laws
from capcore.spectra.report import SpectraReport
from capcore.validation import positive_integer
from chapters.spectra.trained_networks import Snapshot, Training

MINIMUM = 32
"""Fewest eigenvalues of a layer that is analysed: the output layers of the book's networks have ten."""


def networks(width: int, epochs: int, decay: float, rate: float, seed: int = 0) -> dict[str, Training]:
    """The chapter's networks: one to compare with, and others that differ from it in one thing each.

    width, epochs : of the first. decay, rate : of the ones that differ in these. Raises ``ValueError`` for fewer than
    128 units, of which a quarter would leave too few eigenvalues.
    """
    base = Training(positive_integer(width, "width", 4 * MINIMUM), 2, epochs=epochs, seed=seed)
    return {
        "right labels": base,
        "fast": replace(base, rate=rate),
        "shuffled labels": replace(base, noise=1.0),
        "weight decay": replace(base, decay=decay),
        "half as wide": replace(base, width=width // 2),
        "a quarter as wide": replace(base, width=width // 4),
    }


def epochs_shown(epochs: int) -> list[int]:
    """The start, the end, and epochs between them at growing distances.

    >>> epochs_shown(10)
    [0, 1, 2, 3, 5, 8, 10]
    """
    return [epoch for epoch in (0, 1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 100, 150) if epoch < epochs] + [epochs]


@dataclass(frozen=True, eq=False)
class TailScan:
    """What each eigenvalue would give as lower end of the tail; all (m,), ascending in ``x_min``.

    ``alpha`` : exponent of the tail from there on. ``distance`` : Kolmogorov–Smirnov distance from its power law.
    ``n_tail`` : eigenvalues in it.
    """

    x_min: np.ndarray
    alpha: np.ndarray
    distance: np.ndarray
    n_tail: np.ndarray

    @property
    def best(self) -> int:
        """Index of the tail that is closest to its law."""
        return int(np.argmin(self.distance))


def scan_tails(eigenvalues: np.ndarray) -> TailScan:
    """Clauset's choice of x_min by a plain loop: the slow and obvious route to what the package's pruned scan finds.

    >>> scan = scan_tails(np.array([1.0, 2.0, 4.0]))
    >>> scan.n_tail.tolist(), scan.alpha.round(2).tolist()
    ([3, 2], [2.44, 3.89])
    """
    values = usable(eigenvalues).values
    ends, alphas, distances, counts = [], [], [], []
    for x_min in np.unique(values)[:-1]:
        tail = values[values >= x_min]
        alpha = 1 + len(tail) / np.log(tail / x_min).sum()
        below = np.arange(len(tail)) / len(tail)
        ends.append(x_min)
        alphas.append(alpha)
        distances.append(np.abs(1 - (tail / x_min) ** (1 - alpha) - below).max())
        counts.append(len(tail))
    return TailScan(*map(np.array, (ends, alphas, distances, counts)))


def exhaustive_sum(report: SpectraReport) -> float:
    """Σ α log₁₀ λ_max over all spectra of a report, every exponent by :func:`scan_tails` (paper 3, Eq. 3)."""
    total = 0.0
    for density in report.densities:
        scan = scan_tails(density.eigenvalues)
        total += float(scan.alpha[scan.best] * np.log10(density.eigenvalues.max()))
    return total


def chance_exponents(shape: tuple[int, int], n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """(n_draws,) exponents of Gaussian matrices of a shape. Their scale does not matter: α has no units."""
    draws = rng.normal(size=(positive_integer(n_draws, "n_draws"), *shape))
    return np.array([fit.alpha for fit in fit_power_laws(list(gram_spectra(draws).eigenvalues))])


def chance_table(chance: Mapping[tuple[int, int], np.ndarray]) -> pd.DataFrame:
    """Shape → median, 2.5 and 97.5 per cent of the exponents of chance, and the share within [2, 5]; as text."""
    rows = {
        f"{rows} × {columns}": {
            "median α": f"{np.median(alphas):.1f}",
            "95 % of draws": "{:.1f} to {:.1f}".format(*np.percentile(alphas, [2.5, 97.5])),
            "within 2 to 5": f"{100 * np.mean((alphas >= RANGE[0]) & (alphas <= RANGE[1])):.0f} %",
        }
        for (rows, columns), alphas in chance.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("Gaussian matrix")


def analysed(weights: Mapping[str, np.ndarray], **options: Any) -> SpectraReport:
    """The report on a network's weights as the chapters take it: layers with at least 32 eigenvalues."""
    return analyse_spectra(weights, SpectraOptions(DensityOptions(minimum=MINIMUM), **options))


def trust_table(reports: Mapping[str, SpectraReport]) -> pd.DataFrame:
    """How far each exponent can be trusted, as text: its interval, the test of the fit, the other laws, the null."""
    rows = {
        (label, row.name): {
            "α": f"{row.alpha:.1f}",
            "interval": f"{row.alpha_low:.1f} to {row.alpha_high:.1f}",
            "tail": row.n_tail,
            "p of the fit": f"{row.p_value:.2f}",
            "likelier law": _law(row),
            "shuffled": f"{row.null_low:.1f} to {row.null_high:.1f}",
        }
        for label, report in reports.items()
        for row in report.spectra
    }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(rows, names=["network", "layer"])
    return table


def path_exponents(snapshots: Iterable[Snapshot]) -> pd.DataFrame:
    """A network on its way: one row per snapshot and layer, with α, λ_max, spikes, and the network's accuracies."""
    rows = []
    for snapshot in snapshots:
        accuracies = {"train": snapshot.train_accuracy, "test": snapshot.test_accuracy}
        for row in analysed(snapshot.weights, alternatives=()).spectra:
            found = {name: getattr(row, name) for name in ("alpha", "lambda_max", "n_spikes", "bulk_distance")}
            rows.append({"epoch": snapshot.epoch, "layer": row.name, **found, **accuracies})
    return pd.DataFrame(rows)


def _law(row: SpectrumMetrics) -> str:
    return row.favoured if row.favoured in ("power law", "neither") else row.best_alternative
