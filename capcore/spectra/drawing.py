"""Pictures of weight spectra (paper 3): densities and what is fitted to them, exponents of layers, Hill plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import LogFormatterSciNotation, MaxNLocator

from capcore.plotting import CYCLE, MARKERS
from capcore.spectra.exponents import HillTable
from capcore.spectra.figure import DensityCurves
from capcore.spectra.metrics import SpectrumMetrics

EIGENVALUE_LABEL = r"eigenvalue λ of $W^\mathsf{T}W/N$"
NAMED, LONG = 40, 24
"""Layers up to which an axis has their names, and letters of the longest."""


def plot_spectral_density(
    curves: DensityCurves, ax: Axes, *, null_label: str = "null", xlabel: str = EIGENVALUE_LABEL
) -> Axes:
    """An empirical spectral density on doubly logarithmic axes, with its tail, its bulk and its null.

    Parameters
    ----------
    curves : DensityCurves
        Of :func:`~capcore.spectra.figure.density_curves`. A stroke at the bottom stands for each eigenvalue.
    ax : Axes
        To draw on; returned.
    null_label, xlabel : str
        What the null is, and the label of the eigenvalues.
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
    for axis in (ax.xaxis, ax.yaxis):  # powers of ten as powers, as marks between them would crowd
        axis.set_major_formatter(LogFormatterSciNotation())
        axis.set_minor_formatter("")
    ax.legend()
    return ax


def plot_exponents(
    models: Mapping[str, Sequence[SpectrumMetrics]], ax: Axes, *, null_label: str = "null", names: bool = False
) -> Axes:
    """α of every spectrum in the order of the layers, with bootstrap intervals and the range of the null's draws.

    Parameters
    ----------
    models : mapping
        Label → rows of a report. Rows without an exponent leave a gap. Slices of one layer share one place. Several
        models stand side by side in the same order of layers. The universal range of the paper is shaded.
    ax : Axes
        To draw on; returned.
    null_label : str
        What the null is.
    names : bool
        Of the layers on the axis, where all models have the same; numbers otherwise.
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
    ticks = [1, 1.5, 2, 3, 5, 10, 20]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.yaxis.set_minor_formatter("")
    ax.set_ylim(1, _ceiling(models))
    ax.set_xlim(0.3, max(len({row.layer for row in rows}) for rows in models.values()) + 0.7)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if names:
        _name_layers(models, ax)
    return ax


def _name_layers(models: Mapping[str, Sequence[SpectrumMetrics]], ax: Axes) -> None:
    """Names of the layers, where all models have the same and there is room for them."""
    orders = {tuple(dict.fromkeys(row.layer.removesuffix(".weight") for row in rows)) for rows in models.values()}
    names = next(iter(orders))
    if len(orders) > 1 or len(names) > NAMED:
        return
    short = [name if len(name) <= LONG else f"…{name[1 - LONG :]}" for name in names]
    ax.set_xticks(range(1, len(names) + 1), short, rotation=60, ha="right", rotation_mode="anchor", fontsize=7)
    ax.set_xlabel("")


def plot_hill(table: HillTable, ax: Axes, *, alpha: float | None = None, n_tail: int | None = None) -> Axes:
    """Hill's α against the number k of largest eigenvalues, with one standard error on each side.

    Parameters
    ----------
    table : HillTable
        Of :func:`~capcore.spectra.exponents.hill_table`. Without a flat stretch there is no power law.
    ax : Axes
        To draw on; returned.
    alpha : float, optional
        Exponent of a fit, drawn as a cross.
    n_tail : int, optional
        Number of eigenvalues of that fit.
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
    """Horizontal places: layers at 1, 2, …, their slices and then the models spread around."""
    width = 0.8 / n_models
    numbers = {name: [k for k, row in enumerate(rows) if row.layer == name] for name in layers}
    places = np.zeros(len(rows))
    for number, name in enumerate(layers, 1):
        count = len(numbers[name])
        spread = (np.arange(count) + 0.5) / count * width * 0.85 + (1 - 0.85) / 2 * width
        places[numbers[name]] = number - 0.4 + model * width + spread
    return places


def _ceiling(models: Mapping[str, Sequence[SpectrumMetrics]]) -> float:
    """Above every exponent, and above intervals and nulls as far as 30."""
    rows = [row for group in models.values() for row in group]
    groups = [row.alpha for row in rows], [x for row in rows for x in (row.alpha_high, row.null_high)]
    exponents, others = (max((x for x in values if np.isfinite(x)), default=5.0) for values in groups)
    return 1.15 * max(exponents, min(others, 30.0))
