"""What a figure of a report shows: curves of a spectral density, computed, and the figure of exponents and densities.

The curves are the histogram, the fitted tail, the bulk of noise and a null; :mod:`capcore.spectra.drawing` draws them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from capcore.checkpoints.tensors import Checkpoint, shown
from capcore.spectra.analysis import levelled
from capcore.spectra.densities import Density, layer_densities
from capcore.spectra.exponents import hill_table, usable
from capcore.spectra.layers import Layer
from capcore.spectra.metrics import SpectrumMetrics, fit_tails
from capcore.spectra.noise import bulk_density, fit_bulk
from capcore.spectra.options import DensityOptions
from capcore.spectra.power_law import PowerLawFit, fit_power_law
from capcore.spectra.report import SpectraReport

if TYPE_CHECKING:
    import matplotlib.figure

POINTS = 400
LEFT_OUT = 0.05  # the smallest eigenvalues reach over decades, and would squeeze all others together
NULL_LABELS = {"shuffled": "shuffled weights", "gaussian": "Gaussian weights", None: "null"}
NONE = np.zeros(0)


@dataclass(frozen=True)
class DensityCurves:
    """Curves of one density, per unit of λ and normalised to the share of eigenvalues that they stand for.

    Attributes
    ----------
    name : str
        Of the density.
    eigenvalues : (n,) array
        Positive ones, ascending.
    edges : (b + 1,) array
        Of the histogram's bins, of equal width in log λ; the smallest 5 % of 20 eigenvalues and more lie to the left.
    heights : (b,) array
        The histogram.
    null_heights : (b,) array or None
        That of the null.
    tail, tail_density : (p,) array
        The fitted power law from x_min on (paper 3, Eq. 1); empty without a fit.
    bulk, bulk_density : (p,) array
        The law of Marchenko and Pastur, with the share of eigenvalues that are no spikes; empty without one.
    alpha, x_min : float
        Of the fit; NaN without.
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
    """The :class:`~capcore.spectra.figure.DensityCurves` of a density.

    The histogram has about twice the cube root of the number of eigenvalues as bins, and at least six.

    Parameters
    ----------
    density : Density
        Of a layer, or of a slice.
    fit : PowerLawFit, optional
        Its power law; by default Clauset's.
    null : (m,) array, optional
        Eigenvalues of the null, of any number of draws.

    Raises
    ------
    ValueError
        For a density without two different eigenvalues.

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


def null_eigenvalues(layer: Layer, options: DensityOptions, tap: tuple[int, ...] | None, n_draws: int) -> np.ndarray:
    """(m,) eigenvalues of ``n_draws`` nulls of a layer, or of one slice of it. ``options`` name the null and seed."""
    draws = (replace(options, draw=draw) for draw in range(n_draws))
    found = [density for draw in draws for density in layer_densities(layer, draw) if density.tap == tap]
    return np.concatenate([NONE, *(density.eigenvalues for density in found)])


def _heights(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.histogram(values, edges)[0] / (len(values) * np.diff(edges))


def _tail(values: np.ndarray, fit: PowerLawFit) -> tuple[np.ndarray, np.ndarray]:
    """(α − 1)/x_min (λ/x_min)^(−α), normalised on [x_min, x_max], times the tail's share of the eigenvalues."""
    if not fit.ok:
        return NONE, NONE
    grid, rate = np.geomspace(fit.x_min, values[-1], POINTS), fit.alpha - 1
    mass = -np.expm1(-rate * np.log(fit.x_max / fit.x_min)) if fit.x_max is not None else 1.0
    return grid, fit.n_tail / len(values) * rate / fit.x_min * (grid / fit.x_min) ** -fit.alpha / mass


def _bulk(density: Density) -> tuple[np.ndarray, np.ndarray]:
    """The law of Marchenko and Pastur that is fitted to a density, times its share of the eigenvalues."""
    try:
        fit = fit_bulk(density.eigenvalues, density.shape, divisor=density.divided_by)
    except ValueError:  # too few eigenvalues, or too many zeros
        return NONE, NONE
    upper, lower = np.sqrt(fit.upper), np.sqrt(fit.lower)
    scale, ratio = (upper + lower) / 2, ((upper - lower) / (upper + lower)) ** 2
    start = max(fit.lower, float(density.eigenvalues[density.eigenvalues > 0][-1]), fit.upper * 1e-6)
    grid, n = np.geomspace(start, fit.upper, POINTS)[1:-1], len(density.eigenvalues)
    return grid, (n - fit.n_spikes) / n * bulk_density(grid, min(ratio, 1.0), scale)


def report_figure(
    reports: Sequence[SpectraReport], *, spectrum: str | None = None, checkpoint: Checkpoint | None = None
) -> matplotlib.figure.Figure:
    """A figure with α per layer of each network and, below it for a single one, a density and its Hill plot.

    Needs matplotlib.

    Parameters
    ----------
    reports : sequence of SpectraReport
        Of one network, or of several.
    spectrum : str, optional
        Name of the density to show; by default the one with the longest tail.
    checkpoint : Checkpoint, optional
        Of a single report, for the density of its null.

    Raises
    ------
    ValueError
        For reports without any spectrum, or without their densities.
    """
    rows = [row for report in reports for row in report.spectra]
    if not rows or not all(len(report.densities) == len(report.spectra) for report in reports):
        raise ValueError("reports: found no spectra to draw, expected reports of analyse_spectra with at least one.")
    import matplotlib.pyplot as plt

    from capcore.plotting import use_style
    from capcore.spectra.drawing import plot_exponents

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
            _detail(reports[0], _chosen(reports[0], spectrum), checkpoint, parts[1], label)
    return figure


def spectrum_figure(
    report: SpectraReport, row: SpectrumMetrics, checkpoint: Checkpoint | None = None
) -> matplotlib.figure.Figure | None:
    """A figure of one row of a report: its density and its Hill plot; None where all eigenvalues are the same.

    Needs matplotlib. checkpoint : of the report, for the density of its null.
    """
    from matplotlib.figure import Figure
    from matplotlib.style import context

    from capcore.plotting import use_style

    (density,) = (density for density in report.densities if density.name == row.name)
    values = usable(density.eigenvalues).values
    if not len(values) or values[0] == values[-1]:
        return None
    with context({}):
        use_style()
        figure: Any = Figure(figsize=(7.5, 3.4))
        _detail(report, row, checkpoint, figure.subfigures(1, 1), NULL_LABELS[report.options.null])
    return figure


def _chosen(report: SpectraReport, spectrum: str | None) -> SpectrumMetrics:
    found = [row for row in report.spectra if spectrum in (None, row.name, row.layer)]
    if not found:
        near = ", ".join(repr(row.name) for row in report.spectra[:3])
        raise ValueError(f"spectrum: found {spectrum!r}, which was not analysed, expected a name such as {near}.")
    return max(found, key=lambda row: row.n_tail)


def _detail(report: SpectraReport, row: SpectrumMetrics, checkpoint: Checkpoint | None, part: Any, label: str) -> None:
    from capcore.spectra.drawing import plot_hill, plot_spectral_density

    (density,) = (density for density in report.densities if density.name == row.name)
    options, null = report.options, None
    if options.null and checkpoint is not None and row.n_null:
        (layer,) = (layer for layer in options.layers(checkpoint).layers if layer.name == row.layer)
        null = null_eigenvalues(levelled(layer)[0], options.null_density(0), row.tap, row.n_null)
    (fit,) = fit_tails([density.eigenvalues], options)
    left, right = part.subplots(1, 2, width_ratios=(3, 2))
    xlabel = r"eigenvalue λ of $W^\mathsf{T}W" + ("$" if options.density.divide_by == "nothing" else "/N$")
    if row.lambda_max != density.eigenvalues[0]:  # of a scale whose squares are no numbers
        xlabel += ", weights scaled"
    plot_spectral_density(density_curves(density, fit, null=null), left, null_label=label, xlabel=xlabel)
    plot_hill(hill_table(density.eigenvalues, threshold=options.threshold), right, alpha=row.alpha, n_tail=row.n_tail)
    left.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, frameon=False, ncols=2, fontsize=7)
    part.suptitle(shown(row.name) if len(row.name) <= 80 else f"{shown(row.name)[:79]}…")
    right.set_title("Hill plot")
