"""Figures of weight spectra (paper 3): densities with their fits, and exponents by layer.

A density is drawn as a histogram, with curves for the fitted tail, the bulk of noise and a null. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.style import context
from matplotlib.ticker import LogFormatterSciNotation, MaxNLocator

from capcore.checkpoints.tensors import shown
from capcore.plotting import CYCLE, MARKERS, use_style
from capcore.spectra.densities import Density, layer_densities
from capcore.spectra.exponents import usable
from capcore.spectra.metrics import SpectrumMetrics, fit_tails
from capcore.spectra.noise import bulk_density, fit_bulk
from capcore.spectra.power_law import PowerLawFit, fit_power_law
from capcore.spectra.text import shortened

if TYPE_CHECKING:
    from capcore.spectra.results import SpectraReport

POINTS = 400
LEFT_OUT = 0.05  # share of the smallest eigenvalues, which span decades and would squeeze all others together
ENOUGH = 2000  # eigenvalues of the null, from as few draws as have them
NULL_LABELS = {"shuffled": "shuffled weights", "gaussian": "Gaussian weights", None: "null"}
EXPONENTS = [1, 1.5, 2, 3, 5, 10, 20]
"""Labels of an axis of exponents, because powers of ten would be too far apart."""
NAMED, LONGEST = 40, 32
"""Largest number of layers whose names label an axis, and of letters of a name."""
LEGEND: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2, "frameon": False}


def plot_spectral_density(
    density: Density,
    ax: Axes,
    *,
    fit: PowerLawFit | None = None,
    null: np.ndarray | None = None,
    null_label: str = "null",
) -> Axes:
    """Plot an empirical spectral density on log–log axes, with its fitted tail, its bulk and its null.

    All curves are per unit of λ, and normalised to the share of eigenvalues that they stand for. Bins have equal widths
    in log λ, and number about twice the cube root of the number of eigenvalues, at least six. With 20 eigenvalues or
    more, the smallest 5 % fall outside, to the left. Each eigenvalue is marked by a small stroke at the bottom.

    Parameters
    ----------
    density : Density
        Density of a layer or slice.
    ax : Axes
        Axes to draw on. They are returned.
    fit : PowerLawFit, optional
        Its power law; by default the fit by Clauset's method.
    null : (m,) array, optional
        Eigenvalues of the null, from any number of draws.
    null_label : str
        Legend label of the null.

    Raises
    ------
    ValueError
        If the density does not have two different eigenvalues.
    """
    values = usable(density.eigenvalues).values
    if not len(values) or values[0] == values[-1]:
        raise ValueError(f"{density.name}: found fewer than two different eigenvalues, expected a spectrum to draw.")
    fit = fit or fit_power_law(density.eigenvalues)
    noise = usable(null).values if null is not None else np.zeros(0)
    n_bins = max(6, round(2 * len(values) ** (1 / 3)))
    low = float(np.quantile(values, LEFT_OUT)) if len(values) >= 20 else float(values[0])
    edges = np.geomspace(low, max([values[-1], *noise[-1:]]) * (1 + 1e-9), n_bins + 1)
    heights = _heights(values, edges)
    positive = heights[heights > 0]
    ax.stairs(heights, edges, fill=True, color=CYCLE[0], alpha=0.25)
    ax.stairs(heights, edges, color=CYCLE[0], linewidth=1, label=f"{len(values)} eigenvalue{'s' * (len(values) != 1)}")
    if len(noise):
        null_heights = _heights(noise, edges)
        ax.stairs(null_heights, edges, color="0.35", linewidth=1, linestyle=":", label=null_label)
        positive = np.concatenate([positive, null_heights[null_heights > 0]])
    _plot_bulk(density, ax)
    if fit.ok:
        tail, rate = np.geomspace(fit.x_min, values[-1], POINTS), fit.alpha - 1
        law = fit.n_tail / len(values) * rate / fit.x_min * (tail / fit.x_min) ** -fit.alpha
        ax.plot(tail, law, color=CYCLE[1], linewidth=2, label=f"power law, α = {fit.alpha:.2f}")
        ax.axvline(fit.x_min, color=CYCLE[1], linestyle="-.", linewidth=0.9, label=r"$x_\mathrm{min}$")
    inside = values[values >= edges[0]]
    ax.plot(inside, np.full(len(inside), 0.02), "|", color=CYCLE[0], ms=7, mew=0.7, transform=ax.get_xaxis_transform())
    xlabel = r"eigenvalue λ of $W^\mathsf{T}W" + ("$" if density.divided_by == 1 else "/N$")
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel="density ρ(λ)")
    ax.set_ylim(positive.min() / 4, positive.max() * 3)
    ax.set_xlim(edges[0] / 1.1, edges[-1] * 1.1)
    for axis in (ax.xaxis, ax.yaxis):  # label powers of ten only, because labels between them would crowd
        axis.set_major_formatter(LogFormatterSciNotation())
        axis.set_minor_formatter("")
    ax.legend()
    return ax


def _heights(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.histogram(values, edges)[0] / (len(values) * np.diff(edges))


def _plot_bulk(density: Density, ax: Axes) -> None:
    """Plot the Marchenko–Pastur law fitted to a density, times the bulk's share of all eigenvalues, if there is one."""
    try:
        fit = fit_bulk(density.eigenvalues, density.shape, divisor=density.divided_by)
    except ValueError:  # too few eigenvalues, or too many zeros
        return
    upper, lower = np.sqrt(fit.upper), np.sqrt(fit.lower)
    scale, ratio = (upper + lower) / 2, ((upper - lower) / (upper + lower)) ** 2
    start = max(fit.lower, float(density.eigenvalues[density.eigenvalues > 0][-1]), fit.upper * 1e-6)
    grid, n = np.geomspace(start, fit.upper, POINTS)[1:-1], len(density.eigenvalues)
    law = (n - fit.n_spikes) / n * bulk_density(grid, min(ratio, 1.0), scale)
    ax.plot(grid, law, "--", color=CYCLE[2], label="Marčenko–Pastur")


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
        places = _places(rows, i, len(models))
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
    ax.legend([*handles, *extra], [*labels, *(str(patch.get_label()) for patch in extra)], ncols=3, **LEGEND)
    ax.set(xlabel="layer, in the order of the file", ylabel="exponent α", yscale="log")
    ax.set_yticks(EXPONENTS, [f"{tick:g}" for tick in EXPONENTS])
    ax.yaxis.set_minor_formatter("")
    ax.set_ylim(1, _ceiling([row for rows in models.values() for row in rows]))
    orders = {tuple(dict.fromkeys(row.layer.removesuffix(".weight") for row in rows)) for rows in models.values()}
    ax.set_xlim(0.3, max(map(len, orders)) + 0.7)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if names and len(orders) == 1 and len(layers := orders.pop()) <= NAMED:
        turned: dict[str, Any] = {"rotation": 60, "ha": "right", "rotation_mode": "anchor", "fontsize": 7}
        labels = [shortened(name, LONGEST) for name in layers]
        ax.set_xticks(range(1, len(layers) + 1), labels, **turned)
        ax.set_xlabel("")
    return ax


def _places(rows: Sequence[SpectrumMetrics], model: int, n_models: int) -> np.ndarray:
    """Horizontal positions: layers at 1, 2, …, with models side by side around them and slices spread within each."""
    width = 0.8 / n_models
    layers = [row.layer for row in rows]
    places = np.zeros(len(rows))
    for number, name in enumerate(dict.fromkeys(layers), 1):
        count = layers.count(name)
        spread = (np.arange(count) + 0.5) / count * width * 0.85 + (1 - 0.85) / 2 * width
        places[[layer == name for layer in layers]] = number - 0.4 + model * width + spread
    return places


def _ceiling(rows: Sequence[SpectrumMetrics]) -> float:
    """Upper limit of the axis: above every exponent, and above intervals and nulls unless they exceed 30."""
    groups = [row.alpha for row in rows], [x for row in rows for x in (row.alpha_high, row.null_high)]
    exponents, others = (max((x for x in values if np.isfinite(x)), default=5.0) for values in groups)
    return 1.15 * max(exponents, min(others, 30.0))


def report_figure(reports: Sequence[SpectraReport], *, spectrum: str | None = None) -> Figure:
    """Draw α by layer for each network and, below it for a single network, one density.

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

    with context({}):
        use_style()
        single = len(reports) == 1
        figure: Any = plt.figure(figsize=(7.5, 7.4 if single else 4.4))
        parts = figure.subfigures(2, 1) if single else [figure]
        files = [report.source.name for report in reports]
        names = [name if files.count(name) == 1 else f"{name} ({i + 1})" for i, name in enumerate(files)]
        models = {name: report.spectra for name, report in zip(names, reports, strict=True)}
        plot_exponents(models, parts[0].subplots(), null_label=NULL_LABELS[reports[0].options.null], names=True)
        if single:
            _detail(reports[0], chosen(reports[0], spectrum), parts[1])
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
    (fit,) = fit_tails([density.eigenvalues], report.options)
    null, label = _null(report, row), NULL_LABELS[report.options.null]
    ax = plot_spectral_density(density, part.subplots(), fit=fit, null=null, null_label=label)
    ax.legend(ncols=3, fontsize=7, **LEGEND)
    part.suptitle(shortened(shown(row.name), 80))


def _null(report: SpectraReport, row: SpectrumMetrics) -> np.ndarray | None:
    """Eigenvalues (k,) of a few draws of the null."""
    options = report.options
    if report.checkpoint is None or not row.n_null:
        return None
    (layer,) = (layer for layer in options.layers(report.checkpoint).layers if layer.name == row.layer)
    draws = (layer_densities(layer, options.null_density(i)) for i in range(min(options.n_null, -(-ENOUGH // row.n))))
    return np.concatenate([density.eigenvalues for draw in draws for density in draw if density.tap == row.tap])
