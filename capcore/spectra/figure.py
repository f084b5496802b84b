"""Figures of weight spectra (paper 3): densities with their fits, exponents by layer, and Hill plots.

A density is drawn as a histogram, with curves for the fitted tail, the bulk of noise and a null. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.style import context
from matplotlib.ticker import LogFormatterSciNotation, MaxNLocator

from capcore.checkpoints.tensors import shown
from capcore.plotting import CYCLE, MARKERS, use_style
from capcore.spectra.densities import Density
from capcore.spectra.exponents import usable
from capcore.spectra.hill import HillTable, hill_table
from capcore.spectra.metrics import SpectrumMetrics, fit_tails
from capcore.spectra.noise import bulk_density, fit_bulk
from capcore.spectra.nulls import nulls_of
from capcore.spectra.power_law import PowerLawFit, fit_power_law
from capcore.spectra.text import short_names

if TYPE_CHECKING:
    from capcore.spectra.results import SpectraReport

POINTS = 400
LEFT_OUT = 0.05  # share of the smallest eigenvalues, which span decades and would squeeze all others together
NULL_LABELS = {"shuffled": "shuffled weights", "gaussian": "Gaussian weights", None: "null"}
NONE = np.zeros(0)
EIGENVALUE_LABEL = r"eigenvalue λ of $W^\mathsf{T}W/N$"

NAMED = 40
"""Largest number of layers whose names label an axis."""


@dataclass(frozen=True)
class DensityCurves:
    """Curves of one density, per unit of λ, each normalised to the share of eigenvalues that it represents.

    Attributes
    ----------
    name : str
        Name of the density.
    eigenvalues : (n,) array
        Positive eigenvalues, ascending.
    edges : (b + 1,) array
        Edges of the histogram's bins, of equal width in log λ. With 20 eigenvalues or more, the smallest 5 % fall
        outside, to the left.
    heights : (b,) array
        Heights of the histogram.
    null_heights : (b,) array or None
        Heights for the null.
    tail, tail_density : (p,) array
        The fitted power law from x_min upwards (paper 3, Eq. 1); empty if the fit failed.
    bulk, bulk_density : (p,) array
        The fitted Marchenko–Pastur law, scaled to the share of eigenvalues that are not spikes; empty if there is none.
    alpha, x_min : float
        Results of the fit, or NaN if it failed.
    """

    name: str
    eigenvalues: np.ndarray
    edges: np.ndarray
    heights: np.ndarray
    null_heights: np.ndarray | None
    tail: np.ndarray
    tail_density: np.ndarray
    bulk: np.ndarray
    bulk_density: np.ndarray
    alpha: float
    x_min: float


def density_curves(density: Density, fit: PowerLawFit | None = None, null: np.ndarray | None = None) -> DensityCurves:
    """Compute the :class:`~capcore.spectra.figure.DensityCurves` of a density.

    The number of bins is about twice the cube root of the number of eigenvalues, and at least six.

    Parameters
    ----------
    density : Density
        Density of a layer or slice.
    fit : PowerLawFit, optional
        Its power law; by default the fit by Clauset's method.
    null : (m,) array, optional
        Eigenvalues of the null, from any number of draws.

    Raises
    ------
    ValueError
        If the density does not have two different eigenvalues.

    Examples
    --------
    >>> from capcore.spectra import analyse_spectra
    >>> report = analyse_spectra({"fc": np.random.default_rng(0).normal(size=(40, 50))})
    >>> curves = density_curves(report.densities[0])
    >>> round(float(curves.heights @ np.diff(curves.edges)), 12)
    0.95
    """
    values = usable(density.eigenvalues).values
    if not len(values) or values[0] == values[-1]:
        raise ValueError(f"{density.name}: found fewer than two different eigenvalues, expected a spectrum to draw.")
    fit = fit_power_law(density.eigenvalues) if fit is None else fit
    noise = NONE if null is None else usable(null).values
    n_bins = max(6, round(2 * len(values) ** (1 / 3)))
    low = float(np.quantile(values, LEFT_OUT)) if len(values) >= 20 else float(values[0])
    edges = np.geomspace(low, max([values[-1], *noise[-1:]]) * (1 + 1e-9), n_bins + 1)
    heights, null_heights = _heights(values, edges), _heights(noise, edges) if len(noise) else None
    curves = (*_tail(values, fit), *_bulk(density))
    x_min = fit.x_min if fit.ok else float("nan")
    return DensityCurves(density.name, values, edges, heights, null_heights, *curves, fit.alpha, x_min)


def _heights(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.histogram(values, edges)[0] / (len(values) * np.diff(edges))


def _tail(values: np.ndarray, fit: PowerLawFit) -> tuple[np.ndarray, np.ndarray]:
    """The law (α − 1)/x_min (λ/x_min)^(−α) times the tail's share of all eigenvalues."""
    if not fit.ok:
        return NONE, NONE
    grid, rate = np.geomspace(fit.x_min, values[-1], POINTS), fit.alpha - 1
    return grid, fit.n_tail / len(values) * rate / fit.x_min * (grid / fit.x_min) ** -fit.alpha


def _bulk(density: Density) -> tuple[np.ndarray, np.ndarray]:
    """The Marchenko–Pastur law fitted to a density, times the bulk's share of all eigenvalues."""
    try:
        fit = fit_bulk(density.eigenvalues, density.shape, divisor=density.divided_by)
    except ValueError:  # too few eigenvalues, or too many zeros
        return NONE, NONE
    upper, lower = np.sqrt(fit.upper), np.sqrt(fit.lower)
    scale, ratio = (upper + lower) / 2, ((upper - lower) / (upper + lower)) ** 2
    start = max(fit.lower, float(density.eigenvalues[density.eigenvalues > 0][-1]), fit.upper * 1e-6)
    grid, n = np.geomspace(start, fit.upper, POINTS)[1:-1], len(density.eigenvalues)
    return grid, (n - fit.n_spikes) / n * bulk_density(grid, min(ratio, 1.0), scale)


def plot_spectral_density(
    curves: DensityCurves, ax: Axes, *, null_label: str = "null", xlabel: str = EIGENVALUE_LABEL
) -> Axes:
    """Plot an empirical spectral density on log–log axes, with its fitted tail, its bulk and its null.

    Each eigenvalue is marked by a small stroke at the bottom.

    Parameters
    ----------
    curves : DensityCurves
        From :func:`~capcore.spectra.figure.density_curves`.
    ax : Axes
        Axes to draw on. They are returned.
    null_label, xlabel : str
        Legend label of the null, and label of the horizontal axis.
    """
    ax.stairs(curves.heights, curves.edges, fill=True, color=CYCLE[0], alpha=0.25)
    ax.stairs(curves.heights, curves.edges, color=CYCLE[0], linewidth=1, label=f"{len(curves.eigenvalues)} eigenvalues")
    positive = curves.heights[curves.heights > 0]
    if curves.null_heights is not None:
        ax.stairs(curves.null_heights, curves.edges, color="0.35", linewidth=1, linestyle=":", label=null_label)
        positive = np.concatenate([positive, curves.null_heights[curves.null_heights > 0]])
    if curves.bulk.size:
        ax.plot(curves.bulk, curves.bulk_density, "--", color=CYCLE[2], label="Marchenko–Pastur")
    if curves.tail.size:
        law = f"power law, α = {curves.alpha:.2f}"
        ax.plot(curves.tail, curves.tail_density, color=CYCLE[1], linewidth=2, label=law)
        ax.axvline(curves.x_min, color=CYCLE[1], linestyle="-.", linewidth=0.9, label=r"$x_\mathrm{min}$")
    inside = curves.eigenvalues[curves.eigenvalues >= curves.edges[0]]
    ax.plot(inside, np.full(len(inside), 0.02), "|", color=CYCLE[0], ms=7, mew=0.7, transform=ax.get_xaxis_transform())
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel="density ρ(λ)")
    ax.set_ylim(positive.min() / 4, positive.max() * 3)
    ax.set_xlim(curves.edges[0] / 1.1, curves.edges[-1] * 1.1)
    for axis in (ax.xaxis, ax.yaxis):  # label powers of ten only, because labels between them would crowd
        axis.set_major_formatter(LogFormatterSciNotation())
        axis.set_minor_formatter("")
    ax.legend()
    return ax


def plot_exponents(
    models: Mapping[str, Sequence[SpectrumMetrics]], ax: Axes, *, null_label: str = "null", names: bool = False
) -> Axes:
    """Plot α of every spectrum in the order of the layers, with bootstrap intervals and the range of the null's draws.

    Slices of one layer share one place, and several models are drawn side by side there. The range that the paper calls
    universal is shaded.

    Parameters
    ----------
    models : mapping
        Rows of a report by label. A row without an exponent leaves a gap.
    ax : Axes
        Axes to draw on. They are returned.
    null_label : str
        Name of the null in the legend.
    names : bool
        Whether to label the axis with names of layers. This needs the same layers in all models; otherwise, or by
        default, layers are numbered.
    """
    ax.axhspan(2, 5, color="0.93", zorder=0)
    for i, (label, rows) in enumerate(models.items()):
        layers = list(dict.fromkeys(row.layer for row in rows))
        places = _places(rows, layers, i, len(models))
        colour, marker = CYCLE[i % len(CYCLE)], MARKERS[i % len(MARKERS)]
        metrics = ("alpha", "alpha_low", "alpha_high", "null_low", "null_high")
        alphas, low, high, null_low, null_high = np.array([[getattr(row, name) for row in rows] for name in metrics])
        ax.vlines(places, null_low, null_high, color="0.6", linewidth=2.5, alpha=0.5, zorder=1)
        ax.vlines(places, low, high, color=colour, linewidth=0.8, zorder=2)
        ax.plot(places, alphas, marker, color=colour, ms=3.5, label=label, zorder=3)
    handles, labels = ax.get_legend_handles_labels()
    extra = [Patch(color="0.93", label="2 to 5")]
    if any(np.isfinite(row.null_low) for rows in models.values() for row in rows):
        extra.append(Patch(color="0.6", alpha=0.5, label=f"range of {null_label}"))
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2, "frameon": False}
    ax.legend([*handles, *extra], [*labels, *(str(patch.get_label()) for patch in extra)], ncols=3, **place)
    ax.set(xlabel="layer, in the order of the file", ylabel="exponent α", yscale="log")
    mark_exponents(ax)
    ax.set_ylim(1, _ceiling(models))
    ax.set_xlim(0.3, max(len({row.layer for row in rows}) for rows in models.values()) + 0.7)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if names:
        _name_layers(models, ax)
    return ax


def mark_exponents(ax: Axes) -> None:
    """Label the vertical axis at a few exponents, because powers of ten would be too far apart."""
    ticks = [1, 1.5, 2, 3, 5, 10, 20]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.yaxis.set_minor_formatter("")


def _name_layers(models: Mapping[str, Sequence[SpectrumMetrics]], ax: Axes) -> None:
    """Label the axis with the names of the layers, if all models have the same layers and there is enough room."""
    orders = {tuple(dict.fromkeys(row.layer.removesuffix(".weight") for row in rows)) for rows in models.values()}
    names = next(iter(orders))
    if len(orders) > 1 or len(names) > NAMED:
        return
    ax.set_xticks(
        range(1, len(names) + 1), short_names(names), rotation=60, ha="right", rotation_mode="anchor", fontsize=7
    )
    ax.set_xlabel("")


def plot_hill(table: HillTable, ax: Axes, *, alpha: float | None = None, n_tail: int | None = None) -> Axes:
    """Plot Hill's α against the number k of largest eigenvalues, with one standard error on each side.

    A power law shows as a flat stretch of the curve; without one there is no power law.

    Parameters
    ----------
    table : HillTable
        From :func:`~capcore.spectra.hill.hill_table`.
    ax : Axes
        Axes to draw on. They are returned.
    alpha : float, optional
        Exponent of a fit, marked by a cross.
    n_tail : int, optional
        Number of eigenvalues in the tail of that fit.
    """
    good = np.isfinite(table.alpha)
    k, alphas, errors = table.k[good], table.alpha[good], table.standard_error[good]
    ax.fill_between(k, alphas - errors, alphas + errors, color=CYCLE[0], alpha=0.2, linewidth=0)
    ax.plot(k, alphas, color=CYCLE[0], label="Hill, ± standard error")
    if alpha is not None and n_tail is not None and np.isfinite(alpha):
        ax.plot([n_tail], [alpha], "X", color=CYCLE[1], ms=8, label="fitted tail")
    ax.set(xlabel="largest eigenvalues k", ylabel="exponent α", xlim=(0, None))
    settled = alphas[len(alphas) // 8 :]
    ax.set_ylim(1, 1.3 * max([*settled, alpha or 0.0, 2.0]))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend()
    return ax


def _places(rows: Sequence[SpectrumMetrics], layers: Sequence[str], model: int, n_models: int) -> np.ndarray:
    """Horizontal positions: layers at 1, 2, …, with models side by side around them and slices spread within each."""
    width = 0.8 / n_models
    numbers = {name: [k for k, row in enumerate(rows) if row.layer == name] for name in layers}
    places = np.zeros(len(rows))
    for number, name in enumerate(layers, 1):
        count = len(numbers[name])
        spread = (np.arange(count) + 0.5) / count * width * 0.85 + (1 - 0.85) / 2 * width
        places[numbers[name]] = number - 0.4 + model * width + spread
    return places


def _ceiling(models: Mapping[str, Sequence[SpectrumMetrics]]) -> float:
    """Upper limit of the axis: above every exponent, and above intervals and nulls unless they exceed 30."""
    rows = [row for group in models.values() for row in group]
    groups = [row.alpha for row in rows], [x for row in rows for x in (row.alpha_high, row.null_high)]
    exponents, others = (max((x for x in values if np.isfinite(x)), default=5.0) for values in groups)
    return 1.15 * max(exponents, min(others, 30.0))


def report_figure(reports: Sequence[SpectraReport], *, spectrum: str | None = None) -> Figure:
    """Draw α by layer for each network and, below it for a single network, one density with its Hill plot.

    Needs matplotlib.

    Parameters
    ----------
    reports : sequence of SpectraReport
        Reports of one or several networks.
    spectrum : str, optional
        Name of the density to show; by default the one with the longest tail.

    Raises
    ------
    ValueError
        If the reports have no spectrum at all, or no densities.
    """
    rows = [row for report in reports for row in report.spectra]
    if not rows or not all(len(report.densities) == len(report.spectra) for report in reports):
        raise ValueError("reports: found no spectra to draw, expected reports of analyse_spectra with at least one.")
    import matplotlib.pyplot as plt

    with plt.style.context({}):
        use_style()
        single = len(reports) == 1
        figure: Any = plt.figure(figsize=(7.5, 7.4 if single else 4.4))
        parts = figure.subfigures(2, 1) if single else [figure]
        label = NULL_LABELS[reports[0].options.null]
        files = [report.source.name for report in reports]
        names = [name if files.count(name) == 1 else f"{name} ({i + 1})" for i, name in enumerate(files)]
        models = {name: report.spectra for name, report in zip(names, reports, strict=True)}
        plot_exponents(models, parts[0].subplots(), null_label=label, names=True)
        if single:
            _detail(reports[0], chosen(reports[0], spectrum), parts[1])
    return figure


def spectrum_figure(report: SpectraReport, row: SpectrumMetrics) -> Figure | None:
    """Draw one row of a report, its density and its Hill plot; None if all eigenvalues are equal. Needs matplotlib."""
    (density,) = (density for density in report.densities if density.name == row.name)
    values = usable(density.eigenvalues).values
    if not len(values) or values[0] == values[-1]:
        return None
    with context({}):
        use_style()
        figure: Any = Figure(figsize=(7.5, 3.4))
        _detail(report, row, figure.subfigures(1, 1))
    return figure


def chosen(report: SpectraReport, spectrum: str | None) -> SpectrumMetrics:
    """The row of this name, or the one with the longest tail of those that it fits."""
    rows = [row for row in report.spectra if spectrum in (None, row.name, row.layer)]
    if not rows:
        near = ", ".join(repr(row.name) for row in report.spectra[:3])
        raise ValueError(f"spectrum: found {spectrum!r}, which was not analysed, expected a name such as {near}.")
    return max(rows, key=lambda row: row.n_tail)


def _detail(report: SpectraReport, row: SpectrumMetrics, part: Any) -> None:
    (density,) = (density for density in report.densities if density.name == row.name)
    options, null = report.options, None
    if options.null and report.checkpoint is not None and row.n_null:
        (layer,) = (layer for layer in options.layers(report.checkpoint).layers if layer.name == row.layer)
        null = nulls_of(options).eigenvalues(layer, row.tap)
    (fit,) = fit_tails([density.eigenvalues], options)
    left, right = part.subplots(1, 2, width_ratios=(3, 2))
    xlabel = r"eigenvalue λ of $W^\mathsf{T}W" + ("$" if options.density.divide_by == "nothing" else "/N$")
    plot_spectral_density(
        density_curves(density, fit, null=null), left, null_label=NULL_LABELS[options.null], xlabel=xlabel
    )
    plot_hill(hill_table(density.eigenvalues), right, alpha=row.alpha, n_tail=row.n_tail)
    left.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, frameon=False, ncols=2, fontsize=7)
    part.suptitle(shown(row.name) if len(row.name) <= 80 else f"{shown(row.name)[:79]}…")
    right.set_title("Hill plot")
