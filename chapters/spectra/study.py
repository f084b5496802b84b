"""Spectra of trained layers, step by step: every lower end of the tail, chance, the way there, and several seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from capcore.spectra.eigenvalues import gram_spectra
from capcore.spectra.exponents import usable
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.models import RANGE
from capcore.spectra.power_law import fit_power_laws
from capcore.spectra.report import SpectraReport
from capcore.validation import positive_integer
from chapters.spectra.experiment import Snapshot, Training, analysed, outcomes, stored_outcomes, trained_outcomes
from chapters.stored import stored

Shape = tuple[int, int]
SAME = 0.05
"""Two exponents that differ by no more are called the same: one decimal is shown."""


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


def stored_seeds() -> dict[str, Any]:
    """Settings and values of ``results/layer_seeds.json``, for the functions below.

    Raises ``StaleResultsError`` if the code that made them has changed since.
    """
    return stored("layer_seeds")


def all_outcomes(
    paths: Mapping[str, Sequence[Snapshot]],
    seed: int,
    others: Mapping[int, Mapping[str, Training]],
    content: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """``outcomes`` of networks that are there, and of the same from other seeds.

    paths, seed : as there. others : seed → name → training. content : of :func:`stored_seeds`, from which the
    others are read if it has them; they are trained now otherwise.
    """
    found = [outcomes(paths, seed)]
    for other, trainings in others.items():
        then = None if content is None else stored_outcomes(content, trainings, other)
        found.append(trained_outcomes(trainings, other) if then is None else then)
    return pd.concat(found, ignore_index=True)


def agreement(table: pd.DataFrame, content: Mapping[str, Any], trainings: Mapping[str, Training], seed: int) -> str:
    """On how many layers of a seed the run of now and the stored one agree, as text: exponents, moves and spikes.

    Exponents are to agree within ``SAME``, moves and accuracies within 0.01, spikes exactly. ``table`` : of
    :func:`all_outcomes`.
    """
    then = stored_outcomes(content, trainings, seed)
    if then is None:
        return "none, as this network is not stored"
    live = table[table["seed"] == seed].reset_index(drop=True)
    tolerances = {"start": SAME, "alpha": SAME, "moved": 0.01, "test": 0.01, "spikes": 0}
    same = np.all([(live[name] - then[name]).abs() <= within for name, within in tolerances.items()], axis=0)
    return f"{same.sum()} of {len(same)}"


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


def seeds_table(table: pd.DataFrame, below: pd.Series) -> pd.DataFrame:
    """(network, layer) → least and largest value over the seeds, and how often it is below chance; as text."""
    rows = {
        key: {
            "α": between(part["alpha"]),
            "below chance": f"{below[part.index].sum()} of {len(part)}",
            "moved by": between(part["moved"], 2),
            "spikes": between(part["spikes"], 0),
        }
        for key, part in table.groupby(["network", "layer"], sort=False)
    }
    found = pd.DataFrame.from_dict(rows, orient="index")
    found.index = pd.MultiIndex.from_tuples(rows, names=["network", "layer"])
    return found


def compared(table: pd.DataFrame, network: str, other: str) -> dict[str, dict[str, int]]:
    """On how many seeds a network's α is smaller than another's, larger, or the same within ``SAME``.

    Returns layer → ``{"smaller", "larger", "same"}``, and the same for ``"mean"``, the mean over the layers.
    """
    alphas = table.pivot(index="seed", columns=["network", "layer"], values="alpha")
    gaps = alphas[network] - alphas[other]
    gaps["mean"] = gaps.mean(axis=1)
    return {
        str(name): {
            "smaller": int((gap < -SAME).sum()),
            "larger": int((gap > SAME).sum()),
            "same": int((gap.abs() <= SAME).sum()),
        }
        for name, gap in gaps.items()
    }


def counted(below: pd.Series, some: pd.Series) -> str:
    """How many of the rows ``some`` (booleans) are below chance, as text.

    >>> counted(pd.Series([True, True, False]), pd.Series([True, False, True]))
    '1 of 2'
    """
    return f"{(below & some).sum()} of {some.sum()}"


def between(values: Sequence[float] | np.ndarray | pd.Series, decimals: int = 1) -> str:
    """Least and largest value, as text; one number if they look the same.

    >>> between([3.07, 3.19]), between([3.07, 3.11])
    ('3.1 to 3.2', '3.1')
    """
    low, high = (f"{value:.{decimals}f}" for value in (np.min(values), np.max(values)))
    return low if low == high else f"{low} to {high}"
