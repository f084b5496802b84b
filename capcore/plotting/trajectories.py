"""Figures of curves through networks: how long their images are in every layer, and how often units switch on them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting.style import CYCLE

MARKERS = "osD^v"


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
    laws, bounds : label of a group → (n_layers,), drawn in its colour.
    """
    for i, (label, values) in enumerate(groups.items()):
        layers = np.arange(1, values.shape[1] + 1)
        error = 2 * values.std(axis=0, ddof=1) / len(values) ** 0.5
        joined = "" if laws and label in laws else "-"
        ax.errorbar(layers, values.mean(axis=0), error, fmt=joined + MARKERS[i], color=CYCLE[i], label=label)
        if laws and label in laws:
            ax.plot(layers, laws[label], "-", color=CYCLE[i], linewidth=1)
        if bounds and label in bounds:
            ax.plot(layers, bounds[label], "x--", color=CYCLE[i], linewidth=0.8, markersize=5)
    ax.set(yscale="log", xlabel="hidden layer", ylabel=ylabel, xticks=range(1, layers[-1] + 1))
    return ax
