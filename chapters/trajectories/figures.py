"""Figures of curves through networks: how long their images are in every layer, and how often units switch on them."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LINES

MARKERS = "osD^v"


def plot_by_layer(
    groups: Mapping[str, np.ndarray],
    ax: Axes,
    laws: Mapping[str, np.ndarray] | None = None,
    bounds: Mapping[str, np.ndarray] | None = None,
    start: int = 0,
) -> Axes:
    """Means over networks in every hidden layer: points, joined where no law is drawn through them.

    Parameters
    ----------
    groups : label → (n_networks, n_layers), on a logarithmic axis, with two standard errors of the mean.
    laws, bounds : label of a group → (n_layers,), black lines and dashed ones in the group's colour.
    start : where the groups begin in the colours and markers.
    """
    laws, bounds = laws or {}, bounds or {}
    for i, (label, values) in enumerate(groups.items(), start):
        layers, colour = np.arange(1, values.shape[1] + 1), CYCLE[i]
        error = 2 * values.std(axis=0, ddof=1) / len(values) ** 0.5
        style = ("" if label in laws else LINES[i % 4]) + MARKERS[i % 5]
        ax.errorbar(layers, values.mean(axis=0), error, fmt=style, color=colour, markersize=4, label=label)
        if label in laws:
            ax.plot(layers, laws[label], "-", color="0.1", linewidth=1, label=None if i else "exact law")
        if label in bounds:
            ax.plot(layers, bounds[label], "--", color=colour, linewidth=1, label="bound with constant 1")
    ax.set(yscale="log", xlabel="hidden layer", xticks=range(1, 1 + max(v.shape[1] for v in groups.values())))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    ax.yaxis.minorticks_off()
    return ax
