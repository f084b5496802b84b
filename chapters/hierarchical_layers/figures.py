"""How many directions the constraint spaces of two layers share, as a table."""

import numpy as np
from matplotlib.axes import Axes


def plot_overlaps(overlaps: np.ndarray, ax: Axes) -> Axes:
    """A table of whole numbers, layer by layer, brighter where two layers share more.

    Parameters
    ----------
    overlaps : (L, L) dimensions that two layers share; see ``exact_overlaps``.
    """
    ax.imshow(overlaps, vmin=0)
    for (row, column), value in np.ndenumerate(overlaps):
        colour = "white" if value < 0.5 * overlaps.max() else "black"
        ax.text(column, row, f"{value}", color=colour, ha="center", va="center")
    names = np.arange(1, len(overlaps) + 1)
    ax.set_xticks(names - 1, names)
    ax.set_yticks(names - 1, names)
    ax.set(xlabel="layer", ylabel="layer")
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    return ax
