"""Metrics of networks against their errors, and a correlation under every combination of choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS


def plot_errors(table: pd.DataFrame, column: str, ax: Axes, xlabel: str) -> Axes:
    """Test error over a column, one marker for each family, names beside the points.

    table : with ``family``, ``error`` and the column. Families of three or more have the line of least squares.
    """
    for i, (family, part) in enumerate(table.groupby("family", sort=False)):
        x, y = part[column].to_numpy(float), part["error"].to_numpy(float)
        ax.plot(x, y, MARKERS[i], color=CYCLE[i], ms=6, label=str(family))
        if len(x) > 2 and np.ptp(x) > 0:
            ends = np.array([x.min(), x.max()])
            ax.plot(ends, np.polyval(np.polyfit(x, y, 1), ends), ("-", "--")[i % 2], color=CYCLE[i], linewidth=1)
    ax.set(xlabel=xlabel, ylabel="top-1 test error (%)")
    ax.margins(x=0.12, y=0.08)
    return ax


def plot_sorted_correlations(
    groups: Mapping[str, Mapping[tuple[str, ...], float]], order: Sequence[tuple[str, ...]], ax: Axes
) -> Axes:
    """Rank correlations of several groups of networks, one column for each combination of choices, in a given order."""
    ax.axhline(0, color="0.3", linewidth=0.9)
    for i, (label, found) in enumerate(groups.items()):
        ax.plot([found[key] for key in order], MARKERS[i], color=CYCLE[i], ms=3.2, label=label)
    ax.set(ylabel="rank correlation ρ", ylim=(-1.1, 1.1), xlim=(-1, len(order)))
    return ax


def plot_choice_matrix(order: Sequence[tuple[str, ...]], choices: Sequence[str], ax: Axes) -> Axes:
    """Which levels each combination has: a stroke in the row of every level, in the columns of the figure above."""
    row, ticks, labels = 0.0, [], []
    for place, choice in enumerate(choices):
        levels = list(dict.fromkeys(key[place] for key in sorted(order)))
        for level in [level for level in levels if level != "–"]:
            columns = [k for k, key in enumerate(order) if key[place] == level]
            ax.plot(columns, np.full(len(columns), row), "|", color=CYCLE[place % 3], ms=6, mew=1.0)
            ticks.append(row)
            labels.append(f"{choice}: {level}")
            row += 1
        row += 0.6
    ax.set_yticks(ticks, labels, fontsize="small")
    ax.set(ylim=(row - 0.6, -1), xlim=(-1, len(order)), xlabel="combination of choices")
    ax.grid(visible=False)
    return ax
