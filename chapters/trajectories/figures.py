"""Figures of curves through networks: how long their images are in every layer, and how often units switch on them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from capcore.plotting import CYCLE

MARKERS = "osD^v"
LINES = ("-", "--", "-.", ":")


def plot_by_layer(
    groups: Mapping[str, np.ndarray],
    ax: Axes,
    ylabel: str,
    laws: Mapping[str, np.ndarray] | None = None,
    bounds: Mapping[str, np.ndarray] | None = None,
) -> Axes:
    """Means over networks in every hidden layer as points, exact laws as lines through them, bounds as crosses.

    Parameters
    ----------
    groups : label → (n_networks, n_layers), on a logarithmic axis, with two standard errors of the mean.
    laws, bounds : label of a group → (n_layers,), lines in black and crosses in a second colour.
    """
    for i, (label, values) in enumerate(groups.items()):
        layers = np.arange(1, values.shape[1] + 1)
        error = 2 * values.std(axis=0, ddof=1) / len(values) ** 0.5
        joined = "" if laws and label in laws else LINES[i % 4]
        ax.errorbar(layers, values.mean(axis=0), error, fmt=joined + MARKERS[i], color=CYCLE[i], label=label)
        if laws and label in laws:
            ax.plot(layers, laws[label], "-", color="0.1", linewidth=1, label="exact law")
        if bounds and label in bounds:
            ax.plot(
                layers, bounds[label], "x--", color=CYCLE[1], linewidth=0.8, markersize=5, label="stated lower bound"
            )
    ax.set(
        yscale="log",
        xlabel="hidden layer",
        ylabel=ylabel,
        xticks=range(1, 1 + max(v.shape[1] for v in groups.values())),
    )
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    ax.yaxis.set_minor_locator(NullLocator())
    return ax
