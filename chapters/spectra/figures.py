"""Figures of single layers: where a tail begins, what chance gives, and exponents while a network is trained."""

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS
from capcore.spectra.models import RANGE
from chapters.kit.phone import when_narrow
from chapters.spectra.study import TailScan

Shape: TypeAlias = tuple[int, int]
"""Rows and columns of a matrix."""
ALPHA_TICKS = (1, 1.5, 2, 3, 5, 10, 20)
X_MIN = r"$x_\mathrm{min}$"


def plot_tail_law(eigenvalues: np.ndarray, scan: TailScan, band: tuple[np.ndarray, np.ndarray], ax: Axes) -> Axes:
    """Share of the eigenvalues that are as large, with the power law of the chosen tail.

    eigenvalues : (n,), ascending. band : (n,) each, ends of what other spectra have in their places, shaded.
    """
    share = 1 - np.arange(len(eigenvalues)) / len(eigenvalues)
    ax.fill_betweenx(share, *band, color="0.82", linewidth=0, label="95 % of shuffled weights")
    tail = eigenvalues >= scan.x_min[scan.best]
    ax.plot(eigenvalues[~tail], share[~tail], ".", color="0.55", markersize=3)
    ax.plot(eigenvalues[tail], share[tail], ".", color=CYCLE[0], markersize=4, label="trained")
    law = share[tail][0] * (eigenvalues[tail] / eigenvalues[tail][0]) ** (1 - scan.alpha[scan.best])
    ax.plot(eigenvalues[tail], law, color=CYCLE[1], linewidth=2, label="power law of the tail")
    ax.set(xscale="log", yscale="log", xlabel="eigenvalue λ", ylabel="share at least as large")
    _eigenvalue_axis(ax, _upper_part(scan)[0], 1.1 * float(eigenvalues[-1]))
    return ax


def plot_tail_scan(scan: TailScan, ax: Axes) -> Axes:
    """Distance of the tails from their power laws, over the upper part of all x_min; the chosen one as a cross."""
    ax.plot(scan.x_min, scan.distance, color=CYCLE[0], linewidth=1.2)
    best, label = scan.best, f"least distance: the {X_MIN} taken"
    ax.plot(scan.x_min[best], scan.distance[best], "X", color=CYCLE[1], ms=8, label=label)
    ax.set(xscale="log", xlabel=f"lower end {X_MIN} of the tail", ylabel="distance", ylim=(0, 0.4))
    _eigenvalue_axis(ax, *_upper_part(scan))
    return ax


def plot_tail_exponents(
    scan: TailScan, ax: Axes, interval: tuple[float, float], band: tuple[np.ndarray, np.ndarray]
) -> Axes:
    """The exponent that every x_min would give; the chosen one as a cross, with its interval as a bar.

    band : (m,) each, ends of what other spectra give with as many eigenvalues, shaded.
    """
    ax.fill_between(scan.x_min, *band, color="0.82", linewidth=0)
    mark_range(ax)
    ax.plot(scan.x_min, scan.alpha, color=CYCLE[0], linewidth=1.2)
    ax.vlines(scan.x_min[scan.best], *interval, color="black", linewidth=2, label="bootstrap interval")
    ax.plot(scan.x_min[scan.best], scan.alpha[scan.best], "X", color=CYCLE[1], ms=8)
    ax.set_xscale("log")
    _eigenvalue_axis(ax, *_upper_part(scan))
    _exponent_axis(ax, max(10.0, interval[1]))
    return ax


def plot_chance(
    chance: Mapping[Shape, np.ndarray], trained: Mapping[str, Sequence[tuple[Shape, float]]], ax: Axes
) -> Axes:
    """Exponents of random matrices by shape, and of trained layers of these shapes beside them.

    Parameters
    ----------
    chance : shape → (B,) exponents: a bar from 2.5 to 97.5 per cent, with a line at the median.
    trained : label → (shape, α) of its layers.
    """
    mark_range(ax)
    shapes, at = list(chance), np.arange(len(chance))
    low, middle, high = np.percentile([*chance.values()], [2.5, 50, 97.5], axis=1)
    ax.bar(at, high - low, bottom=low, width=0.8, color="0.75", label="Gaussian matrices, 95 %")
    ax.hlines(middle, at - 0.4, at + 0.4, color="white", linewidth=2)
    for i, (label, layers) in enumerate(trained.items()):
        places = [shapes.index(shape) - 0.3 + 0.6 * (i + 0.5) / len(trained) for shape, _ in layers]
        values = [alpha for _, alpha in layers]
        ax.plot(places, values, MARKERS[i % len(MARKERS)], color=CYCLE[i % len(CYCLE)], ms=6, label=label, zorder=3)
    names = [f"{rows} × {columns}" for rows, columns in shapes]
    ax.set_xticks(range(len(shapes)), names)
    when_narrow(ax.figure, lambda: ax.set_xticks(range(len(shapes)), [name.replace(" ×", "\n×") for name in names]))
    ax.set_xlabel("shape of the matrix")
    ax.grid(axis="x", visible=False)
    _exponent_axis(ax, float(high.max()))
    return ax


def plot_path(paths: Mapping[str, pd.DataFrame], layer: str, band: tuple[float, float], ax: Axes) -> Axes:
    """α of one layer over the epochs, one line per network; ``band`` is the range of random matrices, shaded."""
    ax.axhspan(*band, color="0.82", zorder=0, label="Gaussian matrices, 95 %")
    mark_range(ax)
    for i, (label, path) in enumerate(paths.items()):
        part = path[path["layer"] == layer]
        marker = MARKERS[i % len(MARKERS)]
        ax.plot(part["epoch"], part["alpha"], f"{marker}-", color=CYCLE[i % len(CYCLE)], ms=4, label=label)
    ax.set_xscale("symlog", linthresh=1)
    ax.set_xlim(-0.1, None)
    epochs = sorted({int(epoch) for path in paths.values() for epoch in path["epoch"]})
    ticks = [epoch for epoch in (0, 1, 3, 10, 30, 100, 300) if epoch <= epochs[-1]]
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.xaxis.set_minor_formatter("")
    ax.set(xlabel="epoch", title=layer)
    _exponent_axis(ax, max(band[1], *(float(path["alpha"].max()) for path in paths.values())))
    return ax


def _upper_part(scan: TailScan) -> tuple[float, float]:
    """Ends of the axis: smaller x_min are far from any law, and reach over decades."""
    return float(np.quantile(scan.x_min, 0.4)), float(1.05 * scan.x_min[-1])


def _eigenvalue_axis(ax: Axes, low: float, high: float) -> None:
    """A logarithmic axis with a number at 1, 2 and 5 of each decade, and at no other place."""
    ax.set_xlim(low, high)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [digit * 10.0**decade for decade in decades for digit in (1, 2, 5)]
    shown = [tick for tick in ticks if low <= tick <= high]
    ax.set_xticks(shown, [f"{tick:g}" for tick in shown])
    ax.xaxis.set_minor_formatter("")


def mark_range(ax: Axes) -> None:
    """Two thin lines at 2 and 5, the ends of the range that paper 3 calls universal."""
    for line in RANGE:
        ax.axhline(line, color="0.35", linewidth=0.8, linestyle=":", zorder=1)


def _exponent_axis(ax: Axes, highest: float) -> None:
    ax.set(yscale="log", ylabel="exponent α")
    ax.set_yticks(ALPHA_TICKS, [f"{tick:g}" for tick in ALPHA_TICKS])
    ax.yaxis.set_minor_formatter("")
    ax.set_ylim(1, 1.25 * highest)


def plot_ordered(spectra: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """Eigenvalues in descending order against the share of them that is larger, one line per label."""
    for i, (label, values) in enumerate(spectra.items()):
        style = ("-", "--", ":")[i % 3]
        share = (np.arange(len(values)) + 0.5) / len(values)
        ax.plot(share, values, style, color=CYCLE[i % len(CYCLE)], linewidth=2, label=label)
    ax.set(
        yscale="log",
        xlabel="share of eigenvalues that are larger",
        ylabel=r"eigenvalue λ of $W^\mathsf{T}W$",
        xlim=(0, 1),
    )
    return ax
