"""Figures of many measures of the same networks: what training does to each, and which go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator

from capcore.plotting import CYCLE

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
        style: dict[str, Any] = {
            "color": colour,
            "mfc": colour if filled else "white",
            "ms": 3,
            "lw": 1.2,
            "capsize": 2.5,
        }
        ax.errorbar(mean, at, xerr=[mean - low, high - mean], fmt=marker, label=group, **style)
    ax.axvline(1, color="0.5", linewidth=0.8, linestyle=":")
    ax.set_xscale("log")
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_yticks(range(len(labels)), list(labels.values()))
    ax.set(xlabel=xlabel, ylim=(len(labels) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    return ax


def plot_ceilings(epochs: Sequence[int], bound: float, limits: Sequence[np.ndarray], ax: Axes) -> Axes:
    """Ceilings of a rank over evenly spaced epochs: of the parameters a line, of the data a dash for each mean limit.

    Parameters
    ----------
    limits : for each kind of labels (n_epochs, n_seeds).
    """
    ax.axhline(bound, color="0.25", linewidth=0.9, linestyle=":", label="ceiling of the parameters")
    for i, values in enumerate(limits):
        label = "" if i else "ceiling on the data"
        ax.plot(range(len(epochs)), values.mean(axis=1), "_", color="0.15", ms=11, mew=1.2, zorder=3, label=label)
    return ax


def plot_agreement(
    rho: np.ndarray,
    clear: np.ndarray,
    beyond: np.ndarray,
    within: np.ndarray,
    chance: np.ndarray,
    labels: Sequence[str],
    ax: Axes,
) -> Axes:
    """Rank correlations (k, k) of measures as discs: solid blue above 0, open orange below; small and grey if unclear.

    Parameters
    ----------
    rho, clear : below the diagonal, over all networks; sign where the interval excludes 0.
    beyond : sign where both intervals within one kind of labels agree: a square around the disc.
    within, chance : above the diagonal, within the labels; p-value, clear below 0.05.
    """
    k = len(labels)
    for i in range(k):
        for j in range(k):
            if i != j:
                lower = i > j
                _disc(ax, j, i, rho[i, j] if lower else within[i, j], clear[i, j] if lower else chance[i, j] < 0.05)
            if beyond[i, j] and i > j:
                ax.add_patch(Rectangle((j - 0.42, i - 0.42), 0.84, 0.84, fill=False, edgecolor="0.15", linewidth=1))
    ax.plot([-0.5, k - 0.5], [-0.5, k - 0.5], color="0.5", linewidth=0.8)
    ax.set_yticks(range(k), labels)
    ax.set_xticks(range(k), labels, rotation=45, ha="right", rotation_mode="anchor")
    ax.set(xlim=(-0.6, k - 0.4), ylim=(k - 0.4, -0.6), aspect="equal")
    ax.grid(visible=False)
    return ax


def _disc(ax: Axes, x: float, y: float, value: float, clear: bool) -> None:
    if not clear:
        ax.scatter(x, y, s=8, color="0.6")
        return
    colour = CYCLE[0] if value > 0 else CYCLE[1]
    size = 160 * abs(value) + 4
    ax.scatter(x, y, s=size, facecolor=colour if value > 0 else "none", edgecolor=colour, linewidth=1.5)
