"""Exponents of the shipped ResNets beside those of shuffled and of Gaussian weights, and how many lie in [2, 5].

Also how far that share hangs on which networks are at hand; what metrics of weights cannot see: a network, and the same
with its answers moved on by one; and the figures of exponents and of p-values.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from capcore.plotting import CYCLE
from capcore.spectra.analysis import analyse_spectra
from capcore.spectra.eigenvalues import gram_spectra
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.models import RANGE
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.power_law import fit_power_laws
from capcore.spectra.weightwatcher_fits import fits_as_weightwatcher
from chapters.shared.resnets import StoredNetwork
from chapters.spectra.experiment import weights_of
from chapters.spectra.study import chance_exponents as chance_exponents

TICKS = (1.5, 2, 3, 5, 10, 20)
STYLES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Exponents:
    """Exponents of spectra and of their nulls.

    Attributes
    ----------
    table : a row for each spectrum with an exponent: ``network``, ``name``, ``alpha``.
    shuffled : (n_spectra, n_null) exponents of the same weights shuffled, NaN without a fit.
    gaussian : (n_spectra, n_draws) of Gaussian weights of the same shape.
    """

    table: pd.DataFrame
    shuffled: np.ndarray
    gaussian: np.ndarray

    @property
    def alpha(self) -> np.ndarray:
        """(n_spectra,) exponents of the networks."""
        return self.table["alpha"].to_numpy(float)

    def groups(self) -> dict[str, np.ndarray]:
        """Label → exponents: of the networks, shuffled and Gaussian."""
        return {"trained": self.alpha, "shuffled": self.shuffled.ravel(), "Gaussian": self.gaussian.ravel()}

    def of(self, keep: np.ndarray) -> Self:
        """Those of some spectra. keep : (n_spectra,) of bool."""
        return type(self)(self.table[keep], self.shuffled[keep], self.gaussian[keep])

    def outside_null(self) -> tuple[float, float]:
        """Shares of spectra whose exponent lies below, and above, every shuffle's of its own layer."""
        low, high = np.nanmin(self.shuffled, axis=1), np.nanmax(self.shuffled, axis=1)
        return float(np.mean(self.alpha < low)), float(np.mean(self.alpha > high))


def exponents(
    networks: Mapping[str, StoredNetwork], keys: Iterable[str], arrangement: str, rng: np.random.Generator, n_draws: int
) -> Exponents:
    """The ``Exponents`` of some networks, slices or layers, by default options.

    rng : of the Gaussian draws. n_draws : draws for each spectrum.
    """
    rows, shuffled, sizes = [], [], []
    for key in keys:
        nulls = networks[key].null_alphas(arrangement)
        spectra = networks[key].report(SpectraOptions(DensityOptions(arrangement), alternatives=())).spectra
        for row in (row for row in spectra if row.ok):
            rows.append((key, row.name, row.alpha))
            shuffled.append(nulls[row.name])
            sizes.append((row.n_matrices, row.rows, row.columns))
    weights = (rng.normal(size=size) for _ in range(n_draws) for size in sizes)
    drawn = fit_power_laws([gram_spectra(one).eigenvalues.ravel() for one in weights])
    gaussian = np.array([fit.alpha for fit in drawn]).reshape(n_draws, -1).T
    return Exponents(pd.DataFrame(rows, columns=["network", "name", "alpha"]), np.array(shuffled), gaussian)


def in_range(alphas: np.ndarray) -> float:
    """Share of exponents in [2, 5], among those that there are.

    >>> in_range(np.array([1.5, 2.0, 5.0, np.nan]))
    0.6666666666666666
    """
    return float(_inside(alphas).sum() / np.isfinite(alphas).sum())


def network_table(networks: Mapping[str, StoredNetwork]) -> pd.DataFrame:
    """A row for each network: family, origin, licence, test error, layers, weights, slices with a density."""
    lines = {}
    for key, network in networks.items():
        sizes = [network.checkpoint.tensors[name].size for name in network.deviations]
        lines[key] = {
            "family": network.source.family,
            "from": network.source.repository.split("/")[0],
            "licence": network.source.licence,
            "top-1 error": percent(network.error),
            "layers": len(sizes),
            "weights": f"{sum(sizes):,}",
            "slices": len(network.densities(DensityOptions("slices"))),
        }
    return pd.DataFrame(lines).T.rename_axis("network")


def percent(error: float) -> str:
    """An error for a table, a dash where none is published.

    >>> percent(8.27), percent(float("nan"))
    ('8.27 %', '–')
    """
    return f"{error:.2f} %" if np.isfinite(error) else "–"


def layer_rows(network: StoredNetwork) -> list[SpectrumMetrics]:
    """Rows of a report, with the range of the stored shuffles as their null.

    A layer without a spectrum has a row without numbers, so that every layer has its place.
    """
    draws = network.null_alphas("slices")
    spectra = network.report(SpectraOptions(DensityOptions("slices"), alternatives=())).spectra
    nan, rows = math.nan, []
    empty = replace(
        spectra[0], tap=None, status="failed", reason="no spectrum", alpha=nan, alpha_low=nan, alpha_high=nan
    )
    for layer in network.deviations:
        own = [row for row in spectra if row.layer == layer]
        for row in own:
            low, high = float(np.nanmin(draws[row.name])), float(np.nanmax(draws[row.name]))
            rows.append(replace(row, null_low=low, null_high=high))
        if not own:
            rows.append(replace(empty, name=layer, layer=layer))
    return rows


def rows_of_file(path: str, seed: int = 0) -> list[SpectrumMetrics]:
    """Rows of a reader's checkpoint, like :func:`layer_rows`: every slice that can be analysed, beside twenty shuffles.

    Raises ``ValueError`` for a file that cannot be read or has no layer with a spectrum.
    """
    null: dict[str, Any] = {"null": "shuffled", "n_null": 20, "seed": seed, "permute": True}
    report = analyse_spectra(path, SpectraOptions(DensityOptions("slices"), alternatives=(), **null))
    if not report.spectra:
        raise ValueError(f"checkpoint: found no layer with a spectrum in {path}, expected one of 10 rows or more.")
    return list(report.spectra)


def tool_alphas(network: StoredNetwork) -> np.ndarray:
    """(n,) exponents of pooled layers as WeightWatcher 0.7.7 fits them, without its −1 for layers of zeros."""
    densities = network.densities(DensityOptions("pooled", divide_by="nothing", scale="weightwatcher"))
    return np.array([fit["alpha"] for fit in fits_as_weightwatcher([density.eigenvalues for density in densities])])


def range_intervals(spectra: Exponents, rng: np.random.Generator, n_resamples: int = 4_000) -> pd.DataFrame:
    """Share of exponents in [2, 5] with a 95 % interval, columns ``share``, ``low``, ``high``.

    Rows ``trained``, ``shuffled``, and ``difference`` of the two. In each resample as many networks are drawn with
    replacement, each with all of its spectra: spectra of one network are no independent samples of trained networks.
    The networks of one family are not either, so that the intervals are too short if anything.

    spectra : of at least two networks. rng : of the resamples.
    """
    counts = network_counts(spectra)
    drawn = rng.integers(len(counts), size=(n_resamples, len(counts)))
    sums = np.concatenate([counts.sum(axis=0)[None], counts[drawn].sum(axis=1)])  # the networks themselves come first
    trained, shuffled = sums[:, 0] / sums[:, 1], sums[:, 2] / sums[:, 3]
    rows = {"trained": trained, "shuffled": shuffled, "difference": trained - shuffled}
    lines = {name: [values[0], *np.percentile(values[1:], [2.5, 97.5])] for name, values in rows.items()}
    return pd.DataFrame(lines, index=["share", "low", "high"]).T


def network_counts(spectra: Exponents) -> np.ndarray:
    """(n_networks, 4) By network: exponents in [2, 5] and exponents, of its weights; and both of them shuffled."""
    columns = [held(values) for values in (spectra.alpha[:, None], spectra.shuffled) for held in (_inside, np.isfinite)]
    counts = pd.DataFrame(np.transpose([column.sum(axis=1) for column in columns]))
    return counts.groupby(spectra.table["network"].to_numpy(), sort=False).sum().to_numpy()


def _inside(alphas: np.ndarray) -> np.ndarray:
    return (alphas >= RANGE[0]) & (alphas <= RANGE[1])


class PermutedNetwork:
    """A multilayer perceptron trained on scikit-learn's digits, and the same giving each digit's answer for the next.

    It has the test accuracies and metrics of both, ``intact`` and ``permuted``. Half of the digits are kept for
    testing. width : units of its one hidden layer. Needs scikit-learn.
    """

    def __init__(self, width: int = 64, seed: int = 0) -> None:
        inputs, labels = load_digits(return_X_y=True)
        parts = train_test_split(inputs / 16, labels, test_size=0.5, random_state=seed, stratify=labels)
        model = MLPClassifier((width,), max_iter=1000, random_state=seed)
        model.fit(parts[0], parts[2])
        models, accuracies = [], []
        for shift in (0, 1):
            model.coefs_[-1] = np.roll(model.coefs_[-1], shift, axis=1)
            model.intercepts_[-1] = np.roll(model.intercepts_[-1], shift)
            models.append(analyse_spectra(weights_of(model), SpectraOptions()).model)
            accuracies.append(float(model.score(parts[1], parts[3])))
        self.intact, self.permuted = models
        self.intact_accuracy, self.permuted_accuracy = accuracies

    @property
    def largest_change(self) -> float:
        """Largest relative difference over all metrics that are finite numbers."""
        pairs = [(value, getattr(self.permuted, name)) for name, value in vars(self.intact).items()]
        return max(abs(a - b) / max(abs(a), 1e-300) for a, b in pairs if math.isfinite(a) and (a or b))


def plot_exponent_histograms(groups: Mapping[str, np.ndarray], ax: Axes, highest: float = 20.0) -> Axes:
    """Outlines of histograms of α over a logarithmic axis, as shares; the first group filled, [2, 5] shaded.

    groups : label → exponents, NaN left out. Exponents above ``highest`` count in the last bin.
    """
    edges = np.geomspace(1.2, highest, 30)
    ax.axvspan(*RANGE, color="0.92", zorder=0)
    for i, (label, alphas) in enumerate(groups.items()):
        there = np.clip(alphas[np.isfinite(alphas)], edges[0], 0.999 * highest)
        heights = np.histogram(there, edges)[0] / len(there)
        if i == 0:
            ax.stairs(heights, edges, fill=True, color=CYCLE[0], alpha=0.25)
        ax.stairs(heights, edges, color=CYCLE[i], linestyle=STYLES[i % 4], linewidth=1.6, label=label)
    ax.set(xscale="log", xlabel="exponent α", ylabel="share of spectra", ylim=(0, None), xlim=(edges[0], highest))
    ax.set_xticks(TICKS, [*(f"{tick:g}" for tick in TICKS[:-1]), f"{highest:g}+"])
    ax.xaxis.set_minor_formatter("")
    return ax


def plot_p_values(groups: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """Share of spectra with a p-value up to each level; the diagonal is for spectra that follow the law throughout.

    groups : label → p-values. A vertical line is at 0.1.
    """
    ax.plot([0, 1], [0, 1], color="0.55", linewidth=1, linestyle=(0, (1, 2)), label="law throughout")
    for i, (label, values) in enumerate(groups.items()):
        ordered = np.sort(values)
        share = np.arange(1, len(ordered) + 1) / len(ordered)
        ax.step(
            [0, *ordered, 1], [0, *share, 1], where="post", color=CYCLE[i], linestyle=STYLES[i % 4], linewidth=1.6,
            label=label,
        )  # fmt: skip
    ax.axvline(0.1, color="0.3", linewidth=0.8)
    ax.set(xlabel="p-value of the fit", ylabel="share of spectra up to it", xlim=(0, 1), ylim=(0, 1))
    return ax
