"""Figures of what foretells events in trained networks, and of the linear stack's profile in others."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS


def plot_costs(groups: Mapping[str, Sequence[Mapping[str, Sequence[float]]]], ax: Axes) -> Axes:
    """What events cost over their missed share before, an event a mark; on the line they are equal.

    groups : name, such as that of a series → cells with lists "missed" and "cost".
    """
    ax.plot([1e-3, 1], [1e-3, 1], color="0.6", linewidth=0.8)
    for (name, cells), colour, marker in zip(groups.items(), CYCLE, MARKERS, strict=False):
        places = [np.concatenate([cell[key] for cell in cells]) for key in ("missed", "cost")]
        ax.plot(*places, marker, color=colour, markersize=4, alpha=0.75, label=name)
    ax.set(xlabel="missed share, before", xscale="log", yscale="log")
    return ax


def plot_ranks(table: pd.DataFrame, ax: Axes) -> Axes:
    """Rank correlations as dots, of pairs of network and series (rows) by what foretells, and means as bars.

    table : rows of one network, two series, follow each other.
    """
    places = np.arange(table.shape[1])
    for i, (name, row) in enumerate(table.iterrows()):
        ax.plot(row, places, "oD"[i % 2], color=CYCLE[i // 2], markersize=4.5, alpha=0.8, label=name)
    ax.plot(table.mean(), places, "|", color="0.1", markersize=13, markeredgewidth=1.8, label="mean")
    ax.axvline(0, color="0.7", linewidth=0.8)
    ax.set(xlim=(min(0, table.min().min()) - 0.04, 1.04), xlabel="rank correlation with what events cost")
    ax.set_yticks(places, list(table))
    ax.set_ylim(len(places) - 0.5, -0.5)
    return ax


def plot_agreement(groups: Mapping[str, Mapping[str, Sequence[float]]], ax: Axes) -> Axes:
    """Correlations with the linear stack's profile: a row for each process, a mark for each sample, by kind.

    groups : row → kind → correlations; "random weights" has the range of its middle 90 %.
    """
    random = [np.quantile(kinds["random weights"], [0.05, 0.95]) for kinds in groups.values()]
    ax.hlines(range(len(groups)), *np.transpose(random), color="0.75", linewidth=5, label="random weights")
    for name, shift, marker, colour in (("tanh", 0.14, "o", CYCLE[0]), ("gated", -0.14, "s", CYCLE[1])):
        places = [(value, row + shift) for row, kinds in enumerate(groups.values()) for value in kinds[name]]
        ax.plot(*np.transpose(places), marker, color=colour, markersize=4, label=name)
    ax.axvline(0.9, color="0.4", linestyle=":", linewidth=0.8)
    ax.set_yticks(range(len(groups)), list(groups))
    ax.invert_yaxis()
    ax.set(xlabel="correlation with the linear stack's profile", xlim=(None, 1.02))
    return ax
