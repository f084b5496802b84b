"""Curves over the inputs: the most recent at the right, no markers that look like data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

LAG_AXIS = "lag   ← past · now →"


def plot_over_lags(
    lines: Mapping[str, np.ndarray],
    ax: Axes,
    ylabel: str = "capacity per input",
    ceiling: float | None = 1.0,
    looks: Mapping[str, dict[str, Any]] | None = None,
) -> Axes:
    """One step per input, lag 0 at the right, and the ceiling that no input exceeds.

    Parameters
    ----------
    lines : label → (n,) values, lag 0 first. ceiling : height of a dashed line, or None.
    looks : label → options of its line; default the style's colours.
    """
    for label, values in lines.items():
        ax.step(np.arange(len(values)), values, where="mid", label=label, **(looks or {}).get(label, {}))
    if ceiling is not None:
        ax.axhline(ceiling, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel=LAG_AXIS, ylabel=ylabel)
    if not ax.xaxis_inverted():
        ax.invert_xaxis()
    return ax
