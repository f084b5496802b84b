"""The five models as pictures: what each reads, where it adds up, and what it then memorises and learns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from chapters.capacity_vs_expressivity.sets import MODELS, N_ITEMS
from chapters.capacity_vs_expressivity.study import ModelAxes, model_style

HEIGHTS = np.arange(N_ITEMS)[::-1] + 0.5
"""Of the items, the first above; the middle of a row is at ``N_ITEMS / 2``."""
MOST_UNITS = 24
"""Units of a layer that is drawn as high as the row."""
ITEM, PLACE, OUTPUT, WORDS = 0.4, 1.05, 5.9, 6.4
"""Where items, numbers of places, the answer and the words stand, of a row ten wide."""
WIDE = 0.62
"""Of a layer."""


def plot_model(model: ModelAxes, ax: Axes) -> Axes:
    """From left to right the four items, the layers with their numbers of units, the answer, and what was measured.

    A model of sets has one and the same network at each item, and a plus where the results are added. The layers that
    read all items are as high as they have units.

    Parameters
    ----------
    model : ModelAxes
        One of :data:`~chapters.capacity_vs_expressivity.sets.MODELS`, with its test accuracy on "order".
    ax : Axes
        Gets no axes of its own: nothing in the picture has a scale.
    """
    shape, middle, colour = MODELS[model.name], N_ITEMS / 2, model_style(model.name)["color"]
    left = [(ITEM, height) for height in HEIGHTS]
    if shape.item_widths:
        widths = shape.item_widths[1:]
        for k, x in enumerate(np.linspace(1.9, 2.8, len(widths))):
            for _, height in left:
                _layer(ax, x, height, 0.8, widths[k], colour)
        for place, (x, height) in enumerate(left, 1):
            ax.plot([x, 3.0, 3.95], [height, height, middle], color="0.5", linewidth=0.9, zorder=1)
            if shape.places:
                _node(ax, PLACE, height, f"{place}", "s")
        _node(ax, 3.95, middle, "+", "o")
        left = [(3.95, middle)]
    hidden = shape.widths[1:-1]
    start = left[0][0]
    for x, units in zip(np.linspace(start, OUTPUT, len(hidden) + 2)[1:-1], hidden, strict=True):
        high = N_ITEMS * 0.95 * units / MOST_UNITS
        _join(ax, left, x - WIDE / 2, high)
        _layer(ax, x, middle, high, units, colour)
        left = [(x, middle)]
    _join(ax, left, OUTPUT, 0)
    _node(ax, OUTPUT, middle, "±1", "o")
    for number, height in enumerate(HEIGHTS, 1):
        _node(ax, ITEM, height, f"{number}", "o")
    learnt = np.median(model.fits["order"].test)
    words = f"{model.capacity} labels memorised", f"order: {100 * learnt:.0f} % right"
    look: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8.5}
    for text, above, weight in zip((model.name, *words), (13, 0, -13), ("bold", "normal", "normal"), strict=True):
        ax.annotate(text, (WORDS, middle), (0, above), fontweight=weight, **look)
    ax.set(xlim=(0, 10), ylim=(0, N_ITEMS))
    ax.set_axis_off()
    return ax


def _layer(ax: Axes, x: float, y: float, high: float, units: int, colour: str) -> None:
    """A box around (x, y) with the number of units in it."""
    for face, alpha, line in (("white", 1.0, 0.0), (colour, 0.3, 1.0)):  # what runs behind the box is hidden
        look: dict[str, Any] = {"fc": face, "ec": colour, "alpha": alpha, "lw": line, "zorder": 2}
        ax.add_patch(Rectangle((x - WIDE / 2, y - high / 2), WIDE, high, **look))
    ax.text(x, y, f"{units}", ha="center", va="center", fontsize=8, zorder=4)


def _node(ax: Axes, x: float, y: float, text: str, marker: str) -> None:
    size = 11 if marker == "s" else 13.5
    ax.plot(x, y, marker, color="white", markeredgecolor="0.3", markeredgewidth=0.8, markersize=size, zorder=3)
    ax.text(x, y, text, ha="center", va="center_baseline", fontsize=8, zorder=4)


def _join(ax: Axes, sources: Sequence[tuple[float, float]], x: float, high: float) -> None:
    """Lines from each source to x, where they end within the height around the middle of the row."""
    middle = N_ITEMS / 2
    for start, height in sources:
        end = np.clip(height, middle - high / 2, middle + high / 2)
        ax.plot([start, x], [height, end], color="0.5", linewidth=0.9, zorder=1)
