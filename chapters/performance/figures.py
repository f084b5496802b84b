"""Figures of times: against the number of inputs, and as ratios against named peers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter

from capcore.plotting import CYCLE, MARKERS

TENS = FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")


def plot_times(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], ax: Axes) -> Axes:
    """Seconds against the number of inputs, both axes logarithmic.

    Parameters
    ----------
    lines : label → (numbers of inputs, seconds).
    """
    for i, (label, (n, seconds)) in enumerate(lines.items()):
        ax.plot(n, seconds, marker=MARKERS[i % len(MARKERS)], label=label)
    largest = max(max(n) for n, _ in lines.values())
    powers = np.arange(5, int(np.log2(largest)) + 1, 5)
    ax.set(xscale="log", yscale="log", xlabel="inputs", ylabel="seconds")
    ax.xaxis.set_major_locator(FixedLocator([2.0**power for power in powers]))
    ax.set_xticklabels([f"$2^{{{power}}}$" for power in powers])
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.yaxis.set_major_formatter(TENS)
    return ax


def plot_ratios(suites: Mapping[str, Mapping[str, float]], ax: Axes) -> Axes:
    """How many times longer the peer takes, a dot per row on a logarithmic axis; rows from the top.

    Parameters
    ----------
    suites : label of a group → label of a row → ratio. Dots to the left of 1 are rows where the peer is faster.
    """
    names: list[str] = []
    for i, (label, rows) in enumerate(suites.items()):
        places = len(names) + np.arange(len(rows))
        names.extend(rows)
        colour = CYCLE[i % len(CYCLE)]
        ax.plot(list(rows.values()), places, MARKERS[i % len(MARKERS)], color=colour, label=label, linestyle="none")
        ax.hlines(places, 1, list(rows.values()), color=colour, linewidth=0.8)
    ax.axvline(1, color="0.3", linewidth=0.8)
    ax.set(xscale="log", xlabel="time of the peer / our time", ylim=(len(names) - 0.4, -0.6))
    ax.set_yticks(range(len(names)), names, fontsize=7)
    ax.xaxis.set_major_formatter(TENS)
    ax.grid(visible=False, axis="y")
    return ax
