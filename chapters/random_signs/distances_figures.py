"""Distances from a law against a setting: one line per case, with the range over networks where there is one."""

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
