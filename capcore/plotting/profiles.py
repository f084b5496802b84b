"""Curves over the inputs: capacity profiles and bands over runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

MARKERS = "os^Dv<>P"
LAG_LABEL = "lag (0 = most recent input)"


def plot_profiles(
    profiles: Mapping[str, np.ndarray],
    ax: Axes,
    xlabel: str = LAG_LABEL,
    ylabel: str = "capacity",
    ceiling: float | None = 1.0,
    colours: Mapping[str, object] | None = None,
    recent_right: bool = True,
) -> Axes:
    """One line per profile over the inputs, with the ceiling that no input can exceed.

    Parameters
    ----------
    profiles : label → (n,) values, lag 0 first. ceiling : height of the dashed line, or None.
    colours : label → colour; default the style's cycle.
    recent_right : as in the paper, the most recent input stands at the right.
    """
    for i, (label, values) in enumerate(profiles.items()):
        ax.plot(
            np.arange(len(values)),
            values,
            label=label,
            marker=MARKERS[i % len(MARKERS)],
            markevery=max(1, len(values) // 12),
            color=colours[label] if colours else None,
        )
    if ceiling is not None:
        ax.axhline(ceiling, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if recent_right:
        ax.invert_xaxis()
    if len(profiles) > 1:
        ax.legend()
    return ax
