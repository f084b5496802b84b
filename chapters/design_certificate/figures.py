"""The figure of designs on real series: how they compare with peers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from chapters.design_certificate.answers import outcome, peers, tally

NARROW = 0.2, 2.5  # ratios of errors that are drawn; others at the edge
OUTCOMES = {"loss": ("^", CYCLE[1]), "tie": ("o", "0.6"), "win": ("s", CYCLE[0])}
"""Of the design against a peer on one series → marker, colour."""


def plot_peers(values: Mapping[str, Any], ax: Axes) -> Axes:
    """For each peer the ratios of the design's errors to its own, a mark a series, and their mean with its interval.

    Parameters
    ----------
    values : dict
        Of the stored comparison.
    ax : Axes
    """
    names, spread = peers(values), np.linspace(-0.22, 0.22, len(values))
    for row, name in enumerate(names):
        gaps = [(each["methods"][name]["absolute"], each["held out"]) for each in values.values()]
        ratios = np.clip([1 + gap["mean"] for gap, _ in gaps], *NARROW)
        order = np.argsort(np.argsort(ratios))
        kinds = [outcome(*gap) for gap in gaps]
        for kind, (marker, colour) in OUTCOMES.items():
            own = [i for i, each in enumerate(kinds) if each == kind]
            label = {"loss": "design loses", "tie": "tie", "win": "design wins"}[kind] if row == 0 else None
            ax.plot(ratios[own], row - spread[order[own]], marker, ms=4, color=colour, alpha=0.8, label=label)
        found = tally(values, name)
        ax.plot([found.low, found.high], [row + 0.36] * 2, color="black", linewidth=1.5)
        ax.plot(found.ratio, row + 0.36, "D", ms=4, color="black", label="mean, 95 %" if row == 0 else None)
    ax.axvline(1, color="0.4", linewidth=1, zorder=0)
    ax.set_yticks(range(len(names)), names)
    ax.set(xscale="log", xlim=(NARROW[0] / 1.05, NARROW[1] * 1.05), ylim=(len(names) - 0.4, -0.5))
    ax.set_xticks([0.25, 0.5, 1, 2], ["¼", "½", "1", "2"])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("error of the design over that of the other  (left: the design is better)")
    ax.grid(False, axis="y")
    return ax
