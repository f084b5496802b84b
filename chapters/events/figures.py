"""Figures of events: capacity before over the error after, and how well the one ranks the other."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LAG_LABEL
from capcore.results.fit_and_allocation import Allocation

RHYTHMS = ("two seasons", "music-like")


def plot_event(found: Allocation, refits: Mapping[int, float], top: Axes, below: Axes) -> None:
    """Capacity before over the lags; below it the missed share as a line, and what refits cost as dots."""
    found.plot(ax=top).set(title="", xlabel="", ylabel="capacity before", ylim=(0, 1.05))
    below.plot(np.arange(len(found.missed)), found.missed, color="0.5", linewidth=1.2, label="missed share")
    dots: dict[str, Any] = {"color": CYCLE[1], "clip_on": False, "zorder": 3}
    below.plot([*refits], [*refits.values()], "o", markersize=4.5, label="extra error, refitted", **dots)
    below.set(xlabel=LAG_LABEL, ylabel="share of the event", ylim=(0, 1.05))
    below.legend(loc="upper right", frameon=False)


def plot_ranks(table: pd.DataFrame, ax: Axes) -> Axes:
    """Rank correlations of models (rows) and processes (columns) as dots, and the mean of each row as a bar."""
    places = np.arange(len(table))[::-1]
    other = [name for name in table if name not in RHYTHMS]
    for names, label, colour, marker in (
        (other, "other series", CYCLE[0], "o"),
        (RHYTHMS, "two seasons, music-like", CYCLE[1], "D"),
    ):
        for name in names:
            style: dict[str, Any] = {
                "color": colour,
                "alpha": 0.75,
                "markersize": 4.5,
                "label": label if name == names[0] else None,
            }
            ax.plot(table[name], places, marker, linestyle="none", **style)
    ax.plot(table.mean(axis=1), places, "|", color="0.1", markersize=13, markeredgewidth=1.8, label="mean")
    ax.axvline(0, color="0.7", linewidth=0.8)
    ax.set(xlim=(-1.04, 1.04), xlabel="rank correlation")
    ax.set_yticks(places, [name.replace(" ", ", ") for name in table.index])
    return ax
