"""Figures of many trained networks: metrics against accuracy, correlations with intervals, exponents of layers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS
from chapters.spectra_training.study import HALVES, Estimate, Interval


def plot_accuracy(table: pd.DataFrame, metric: str, ax: Axes, xlabel: str) -> Axes:
    """Test accuracy in per cent against a metric; colour and shape of a mark show the share of wrong labels."""
    for i, noise in enumerate(sorted(set(table["noise"]))):
        part = table[table["noise"] == noise]
        look: dict[str, Any] = {"color": CYCLE[i], "ms": 4, "alpha": 0.5, "mew": 0}
        ax.plot(part[metric], 100 * part["test"], MARKERS[i], label=f"{100 * noise:.0f} % wrong labels", **look)
    ax.set(xlabel=xlabel, ylabel="test accuracy (%)")
    return ax


def plot_sources(
    rows: Mapping[str, tuple[Interval | None, Interval | None]], names: tuple[str, str], ax: Axes, hollow: int
) -> Axes:
    """What is correlated with the error, one row each from the top: alone (filled), and with something fixed (hollow).

    Parameters
    ----------
    rows : label → correlation with its low and high end, alone and with the other fixed; None where there is none.
    names : of the two, in the legend.
    hollow : place of the hollow mark's shape and colour in ``MARKERS`` and ``CYCLE``: one for each thing that is fixed.
    """
    ax.axvline(0, color="0.35", linewidth=0.8)
    for i, (name, mark, inside) in enumerate(zip(names, (0, hollow), (CYCLE[0], "white"), strict=True)):
        colour = CYCLE[mark]
        known = {place: row[i] for place, row in enumerate(rows.values()) if row[i] is not None}
        at, (middle, low, high) = np.array([*known]) + 0.26 * (i - 0.5), np.array([*known.values()]).T
        ax.hlines(at, low, high, color=colour, linewidth=1.6)
        ax.plot(middle, at, MARKERS[mark], color=colour, markerfacecolor=inside, markersize=5.5, label=name)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(xlabel="rank correlation with the error", xlim=(-1.05, 1.05), ylim=(len(rows) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    ax.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.17), ncols=2, frameon=False, columnspacing=1)
    return ax


def plot_estimates(rows: Mapping[str, Mapping[str, Estimate]], ax: Axes) -> Axes:
    """Estimates with their intervals, one row per label from the top, one symbol per half within it.

    rows : label → half, of ``HALVES`` → estimate.
    """
    ax.axvline(0, color="0.35", linewidth=0.8)
    for i, (half, name) in enumerate(HALVES.items()):
        middle, *ends = np.array([estimates[half].ends for estimates in rows.values()]).T
        places = np.arange(len(rows)) + 0.28 * (i - 0.5)
        ax.hlines(places, *ends, color=CYCLE[i], linewidth=1.6)
        ax.plot(middle, places, MARKERS[i], color=CYCLE[i], ms=5, label=name)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(xlabel="rank correlation with test accuracy", xticks=[-1, -0.5, 0, 0.5, 1])
    ax.set(xlim=(-1, 1), ylim=(len(rows) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    return ax
