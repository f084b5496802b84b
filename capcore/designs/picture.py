"""The picture of a design: parameters against loss, the wall of the fitted bound, and the cost of estimation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from capcore.designs.candidates import final_prediction_error
from capcore.designs.families import FAMILIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from capcore.designs.results import Design

FLOOR = 1e-16  # of v*: losses below it do not show in v* + loss


def plot_design(found: Design, ax: Axes | None = None) -> Axes:
    """Draw a design on axes, by default new ones."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    from capcore.plotting import MARKERS, axes_for

    axis = axes_for(ax)
    losses = {id(each): max(each.loss / found.variance, FLOOR) for each in found.candidates}
    lowest = min(losses.values()) / 3
    norm = Normalize(0, max(each.far_share for each in found.candidates) or 1)
    for name, marker in zip(FAMILIES, MARKERS, strict=False):
        own = [each for each in found.candidates if each.family == name]
        if own:
            axis.scatter(
                [each.n_params for each in own],
                [losses[id(each)] for each in own],
                c=[each.far_share for each in own],
                norm=norm,
                cmap="viridis",
                marker=marker,
                label=name,
            )
    axis.set(xscale="log", yscale="log", xlabel="parameters", ylabel="loss / v*")
    if found.wall:
        sizes, bounds = (np.array(each, float) for each in zip(*found.wall, strict=True))
        sizes = np.append(sizes, max(found.max_params, sizes[-1] + 1))
        bounds = np.maximum(np.append(bounds, bounds[-1]) / found.variance, lowest)
        axis.fill_between(sizes, lowest, bounds, step="post", color="0.85", zorder=0, label="below the stacks' bound")
    if found.n_observed:
        capacities = np.geomspace(1, min(max(found.max_params, 2), found.n_observed - 1), 50)
        costs = [final_prediction_error(1.0, each, found.n_observed, found.n_fitted) - 1 for each in capacities]
        axis.plot(capacities, costs, color="0.4", label="cost of estimation")
    axis.scatter(found.best.n_params, losses[id(found.best)], s=120, facecolors="none", edgecolors="black")
    axis.figure.colorbar(ScalarMappable(norm, "viridis"), ax=axis, label="share of capacity on the distant half")
    axis.set_ylim(bottom=lowest)
    axis.legend(fontsize="small")
    return axis
