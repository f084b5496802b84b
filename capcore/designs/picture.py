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


def plot_design(design: Design, ax: Axes | None = None) -> Axes:
    """Draw a design on axes, by default new ones."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    from capcore.plotting import MARKERS, axes_for

    axis = axes_for(ax)
    norm = Normalize(0, max(one.far_share for one in design.candidates) or 1)
    points = np.array(
        [(one.n_params, max(one.loss / design.variance, FLOOR), one.far_share) for one in design.candidates]
    )
    families = np.array([one.family for one in design.candidates])
    lowest = points[:, 1].min() / 3
    for name, marker in zip(FAMILIES, MARKERS, strict=False):
        if name in families:
            sizes, losses, shares = points[families == name].T
            axis.scatter(sizes, losses, c=shares, norm=norm, cmap="viridis", marker=marker, label=name)
    axis.set(xscale="log", yscale="log", xlabel="parameters", ylabel="loss / v*")
    if design.wall:
        end = max(design.max_params, design.wall[-1][0] + 1)
        sizes, bounds = np.array([*design.wall, (end, design.wall[-1][1])]).T
        heights = np.maximum(bounds / design.variance, lowest)
        axis.fill_between(sizes, lowest, heights, step="post", color="0.85", zorder=0, label="below the stacks' bound")
    if design.n_observed:
        capacities = np.geomspace(1, min(max(design.max_params, 2), design.n_observed - 1), 50)
        costs = [final_prediction_error(1.0, one, design.n_observed, design.n_fitted) - 1 for one in capacities]
        axis.plot(capacities, costs, color="0.4", label="cost of estimation")
    height = max(design.best.loss / design.variance, FLOOR)
    axis.scatter(design.best.n_params, height, s=120, facecolors="none", edgecolors="black")
    axis.figure.colorbar(ScalarMappable(norm, "viridis"), ax=axis, label="share of capacity on the distant half")
    axis.set_ylim(bottom=lowest)
    axis.legend(fontsize="small")
    return axis
