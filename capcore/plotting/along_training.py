"""Figures of many measures of the same networks: what training does to each, and which go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator

from capcore.plotting.style import CYCLE

STYLES = ((CYCLE[0], "o", True), (CYCLE[1], "s", False))
"""Colour, marker, and whether it is filled, of the first and of the second kind of ratios."""


def plot_ratios(
    groups: Mapping[str, Mapping[str, tuple[float, float, float]]],
    labels: Mapping[str, str],
    ax: Axes,
    xlabel: str,
    ticks: Sequence[float],
) -> Axes:
    """Ratios with their intervals on a logarithmic axis: measures downwards, one mark for each of up to two groups.

    Parameters
    ----------
    groups : label of the group → measure → mean, low and high end; a measure that is missing is left out.
    labels : measure → label of its row.
    """
    for i, (group, values) in enumerate(groups.items()):
        colour, marker, filled = STYLES[i]
        rows = [(row, *values[name]) for row, name in enumerate(labels) if name in values]
        at, mean, low, high = np.array(rows).T
        at = at + 0.22 * (i - (len(groups) - 1) / 2)
        face = colour if filled else "white"
        ax.errorbar(
            mean, at, xerr=[mean - low, high - mean], fmt=marker, color=colour, mfc=face, ms=4.5, lw=1.2, label=group
        )
    ax.axvline(1, color="0.5", linewidth=0.8, linestyle=":")
    ax.set_xscale("log")
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_yticks(range(len(labels)), list(labels.values()))
    ax.set(xlabel=xlabel, ylim=(len(labels) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    return ax


def plot_agreement(rho: np.ndarray, clear: np.ndarray, beyond: np.ndarray, labels: Sequence[str], ax: Axes) -> Axes:
    """Rank correlations (k, k) of measures as discs below the diagonal: solid blue above 0, open orange below.

    Parameters
    ----------
    clear : sign where the interval over all networks excludes 0; discs elsewhere are small and grey.
    beyond : sign where the measures agree within both kinds of labels: a square around the disc.
    """
    k = len(labels)
    for i in range(k):
        for j in range(i):
            value = rho[i, j]
            colour = CYCLE[0] if value > 0 else CYCLE[1]
            size = 160 * abs(value) + 4
            if not clear[i, j]:
                ax.scatter(j, i, s=8, color="0.6")
            else:
                ax.scatter(j, i, s=size, facecolor=colour if value > 0 else "none", edgecolor=colour, linewidth=1.5)
            if beyond[i, j]:
                ax.add_patch(Rectangle((j - 0.42, i - 0.42), 0.84, 0.84, fill=False, edgecolor="0.15", linewidth=1))
    ax.set_yticks(range(1, k), labels[1:])
    ax.set_xticks(range(k - 1), labels[:-1], rotation=45, ha="right", rotation_mode="anchor")
    ax.set(xlim=(-0.6, k - 1.4), ylim=(k - 0.4, 0.4), aspect="equal")
    ax.grid(visible=False)
    return ax
