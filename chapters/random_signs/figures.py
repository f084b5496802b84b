"""Figures on layers of random signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from capcore.plotting import CYCLE, MARKERS

DISTANCE_LABEL = "total variation"


def plot_distances(
    settings: Sequence[float],
    lines: Mapping[str, np.ndarray],
    ax: Axes,
    xlabel: str,
    level: tuple[float | np.ndarray, str] | None = None,
    ticks: Sequence[float] = (),
) -> Axes:
    """Distances (m,), or medians and ranges over networks of (m, n_networks), against m settings on a logarithmic axis.

    Parameters
    ----------
    lines : label → distances.
    level : height of a dashed line, one for all settings or (m,), and its name.
    ticks : plain numbers on the horizontal axis.
    """
    for i, (label, values) in enumerate(lines.items()):
        array = np.atleast_2d(np.asarray(values, dtype=float).T).T
        colour = CYCLE[i % len(CYCLE)]
        ax.plot(settings, np.median(array, axis=1), marker=MARKERS[i % len(MARKERS)], color=colour, label=label)
        if array.shape[1] > 1:
            ax.fill_between(settings, array.min(axis=1), array.max(axis=1), color=colour, alpha=0.15, linewidth=0)
    if level is not None:
        height, name = level
        style: dict[str, Any] = {"color": "0.3", "linestyle": "--", "linewidth": 0.9, "label": name}
        if np.ndim(height):
            ax.plot(settings, height, **style)
        else:
            ax.axhline(float(height), **style)
    ax.set_xscale("log")
    if len(ticks):
        ax.xaxis.set_major_locator(FixedLocator(list(ticks)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.set(xlabel=xlabel, ylabel=DISTANCE_LABEL, ylim=(0, None))
    return ax


def plot_mean_on_law(mean: np.ndarray, error: np.ndarray, law: np.ndarray, ax: Axes, label: str = "mean") -> Axes:
    """Means (n,) with two standard errors on either side, and the law (n,) as bars behind them, over the inputs."""
    inputs = np.arange(len(law))
    ax.bar(inputs, law, width=0.9, color=CYCLE[5], alpha=0.45, label="law W∘W")
    ax.errorbar(inputs, mean, 2 * error, fmt="o", markersize=3, color=CYCLE[0], linewidth=1, label=label)
    ax.set(xlabel="input", ylabel="squared gradient", ylim=(0, None), xlim=(-0.7, len(law) - 0.3))
    ax.grid(axis="x", visible=False)
    return ax


def plot_distance_histograms(groups: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """Histograms of distances from the law, one outline per group, with its median as a vertical line."""
    edges = np.linspace(0, 1, 41)
    for i, (label, values) in enumerate(groups.items()):
        style = ("-", "--", ":")[i % 3]
        counts = np.histogram(values, edges)[0] / len(values)
        ax.stairs(counts, edges, color=CYCLE[i], linestyle=style, linewidth=1.5, label=label)
        ax.axvline(float(np.median(values)), color=CYCLE[i], linestyle=style, linewidth=0.8)
    ax.set(xlabel="total variation from the law", ylabel="share of networks", xlim=(0, 1), ylim=(0, None))
    return ax
