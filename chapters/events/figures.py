"""How well capacity before ranks the errors after."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from capcore.plotting import CYCLE

RHYTHMS = ("two seasons", "music-like")


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
