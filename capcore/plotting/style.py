"""The book's figure style."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

# Okabe and Ito's colours, readable with the common colour-vision deficiencies.
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Stops of two of seaborn's perceptually uniform colour maps. Importing seaborn itself takes longer than most figures.
CREST = ("#a5cd90", "#6db290", "#44948f", "#24768b", "#215584", "#2c3172")  # light to dark
MAKO = (
    "#0b0405",
    "#2b1c35",
    "#3e356b",
    "#3b5698",
    "#357ba3",
    "#359eaa",
    "#49c1ad",
    "#96ddb5",
    "#def5e5",
)  # dark to light


def use_style() -> None:
    """Apply ``capcore.mplstyle`` to all figures that follow."""
    plt.style.use(str(files("capcore") / "capcore.mplstyle"))


def shades(stops: Sequence[str], count: int) -> list[tuple]:
    """``count`` colours evenly spaced between the first and the last stop, without these two.

    >>> shades(["black", "white"], 1)
    [(0.5, 0.5, 0.5)]
    """
    colours = LinearSegmentedColormap.from_list("stops", list(stops), N=1025)
    return [tuple(round(float(part), 3) for part in colours(at)[:3]) for at in np.linspace(0, 1, count + 2)[1:-1]]


def channel_colours(values: Sequence[int]) -> dict[int, tuple]:
    """A colour for each value of an ordered quantity (channels, depth), from light to dark.

    >>> list(channel_colours([1, 2]))
    [1, 2]
    """
    return dict(zip(values, shades(CREST, len(values)), strict=True))
