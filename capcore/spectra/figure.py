"""The figure of a report: exponents along the layers and, for one network, one spectrum in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from capcore.spectra.curves import density_curves, null_eigenvalues
from capcore.spectra.hill import hill_table
from capcore.spectra.metrics import SpectrumMetrics, fit_tails
from capcore.spectra.report import SpectraReport
from capcore.spectra.scaled import levelled
from capcore.spectra.tensors import Checkpoint

if TYPE_CHECKING:
    import matplotlib.figure

NULL_LABELS = {"shuffled": "shuffled weights", "gaussian": "Gaussian weights", None: "null"}


def report_figure(
    reports: Sequence[SpectraReport], *, spectrum: str | None = None, checkpoint: Checkpoint | None = None
) -> matplotlib.figure.Figure:
    """A figure with α per layer of each network and, below it for a single one, a density and its Hill plot.

    Parameters
    ----------
    spectrum : name of the density to show; by default the one with the longest tail.
    checkpoint : of a single report, for the density of its null.

    Needs matplotlib. Raises ``ValueError`` for reports without any spectrum, or without their densities.
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
        figure: Any = plt.figure(figsize=(7.5, 6.2 if single else 3.6))
        parts = figure.subfigures(2, 1) if single else [figure]
        label = NULL_LABELS[reports[0].options.null]
        names = _labels(reports)
        plot_exponents(
            {name: report.spectra for name, report in zip(names, reports, strict=True)},
            parts[0].subplots(),
            null_label=label,
        )
        if single:
            _detail(reports[0], _chosen(reports[0], spectrum), checkpoint, parts[1], label)
    return figure


def _labels(reports: Sequence[SpectraReport]) -> list[str]:
    """Names of the files, with a number behind those that occur again."""
    names = [report.source.name for report in reports]
    return [name if names.count(name) == 1 else f"{name} ({i + 1})" for i, name in enumerate(names)]


def _chosen(report: SpectraReport, spectrum: str | None) -> SpectrumMetrics:
    if spectrum is None:
        return max(report.spectra, key=lambda row: row.n_tail)
    found = [row for row in report.spectra if spectrum in (row.name, row.layer)]
    if not found:
        near = ", ".join(repr(row.name) for row in report.spectra[:3])
        raise ValueError(f"spectrum: found {spectrum!r}, which was not analysed, expected a name such as {near}.")
    return max(found, key=lambda row: row.n_tail)


def _detail(
    report: SpectraReport, row: SpectrumMetrics, checkpoint: Checkpoint | None, figure: Any, label: str
) -> None:
    from capcore.spectra.drawing import plot_hill, plot_spectral_density

    (density,) = (density for density in report.densities if density.name == row.name)
    options, null = report.options, None
    if options.null and checkpoint is not None:
        (layer,) = (layer for layer in options.layers(checkpoint).layers if layer.name == row.layer)
        settings = replace(options.density, null=options.null, seed=options.seed)
        null = null_eigenvalues(levelled(layer)[0], settings, row.tap, options.n_null)
    (fit,) = fit_tails([density.eigenvalues], options)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    divided = options.density.divide_by != "nothing"
    xlabel = r"eigenvalue λ of $W^\mathsf{T}W/N$" if divided else r"eigenvalue λ of $W^\mathsf{T}W$"
    if row.lambda_max != density.eigenvalues[0]:  # of a scale whose squares are no numbers
        xlabel += ", weights scaled"
    plot_spectral_density(density_curves(density, fit, null=null), left, null_label=label, xlabel=xlabel)
    plot_hill(hill_table(density.eigenvalues, threshold=options.threshold), right, alpha=row.alpha, n_tail=row.n_tail)
    left.set_title(row.name)
    right.set_title("Hill plot")
