"""The picture of a :class:`~capcore.spectra.history.History`. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import layer_colours
from capcore.spectra.figure import mark_exponents
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.text import short_names

LISTED = 12
"""Largest number of layers in a legend."""


def plot_history(spectra: Mapping[float, Sequence[SpectrumMetrics]], ax: Axes) -> Axes:
    """Plot α of every spectrum over time, the first layer lightest, and the range from the lowest to the highest null.

    Parameters
    ----------
    spectra : mapping
        Time → rows of a report.
    ax : Axes
        Axes to draw on. They are returned.
    """
    names = list(dict.fromkeys(row.name for rows in spectra.values() for row in rows))
    times, found = list(spectra), {time: {row.name: row for row in rows} for time, rows in spectra.items()}
    nulls = np.array([[row.null_low, row.null_high] for rows in spectra.values() for row in rows]).reshape(-1, 2)
    if np.isfinite(nulls).any():
        ax.axhspan(np.nanmin(nulls[:, 0]), np.nanmax(nulls[:, 1]), color="0.93", zorder=0, label="range of nulls")
    labels = dict(zip(names, short_names(names), strict=True))
    for name, colour in zip(names, layer_colours(len(names)), strict=True):
        alphas = [found[time][name].alpha if name in found[time] else np.nan for time in times]
        ax.plot(times, alphas, color=colour, marker="o", ms=3, label=labels[name] if len(names) <= LISTED else None)
    ax.set(xlabel="time", ylabel="exponent α", yscale="log")
    mark_exponents(ax)
    if names:
        ax.legend(fontsize=7)
    return ax
