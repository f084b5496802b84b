"""Capacity over the lags, as many chapters draw it: plain lines, the most recent input at the right."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import channel_colours

LAG_AXIS = "lag   ← past · now →"


def plot_over_lags(profiles: Mapping[str, np.ndarray], ax: Axes, ceiling: float | None = 1.0) -> Axes:
    """One line per label, from light to dark, with a legend beside the picture.

    Parameters
    ----------
    profiles : label → (n,) values, lag 0 first. ceiling : height of the dashed line, or None.
    """
    colours = channel_colours(range(len(profiles)))
    for i, (label, values) in enumerate(profiles.items()):
        ax.plot(np.arange(len(values)), values, color=colours[i], label=label)
    if ceiling is not None:
        ax.axhline(ceiling, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel=LAG_AXIS, ylabel="capacity")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    if not ax.xaxis_inverted():
        ax.invert_xaxis()
    return ax
