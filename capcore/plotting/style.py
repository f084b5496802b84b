"""The book's figure style."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import matplotlib.pyplot as plt

# Okabe and Ito's colours, readable with the common colour-vision deficiencies.
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def use_style() -> None:
    """Apply ``capcore.mplstyle`` to all figures that follow."""
    plt.style.use(str(files("capcore") / "capcore.mplstyle"))


def channel_colours(values: Sequence[int]) -> dict[int, tuple]:
    """A colour for each value of an ordered quantity (channels, depth), from light to dark.

    >>> list(channel_colours([1, 2]))
    [1, 2]
    """
    import seaborn as sns  # here, because it takes longer to import than a figure to draw, and few figures need it

    return dict(zip(values, sns.color_palette("crest", len(values)), strict=True))
