"""The constraint spaces of the layers as nested areas, one cell for each direction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from capcore.plotting import layer_colours
from chapters.kit.phone import when_narrow

Cell = tuple[int, int]
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))


def nested_cells(overlaps: np.ndarray) -> list[set[Cell]]:
    """For each layer as many cells as its space has dimensions; two layers share as many as their spaces do.

    Lower layers fill a column and upper ones a row; the two meet in a square. Raises ``ValueError`` for spaces that are
    not nested so.

    Parameters
    ----------
    overlaps : (L, L) dimensions that two layers share, L even; see ``exact_overlaps``.
    """
    half, own = len(overlaps) // 2, np.diag(overlaps)
    side = int(np.sqrt(overlaps[half - 1, half]))
    below = [(x, y) for y in range(side)[::-1] for x in range(side)[::-1]]  # from the inner corner out
    above = [(x, y) for y in range(side, own.max() // max(side, 1)) for x in range(side)[::-1]]
    cells: list[set[Cell]] = []
    for l, meet in enumerate([*overlaps[:half, half], *overlaps[half:, half - 1]]):
        chosen = [*below[:meet], *above[: own[l] - meet]]
        cells.append(set(chosen) if l < half else {(y, x) for x, y in chosen})
    if not np.array_equal([[len(a & b) for b in cells] for a in cells], overlaps):
        raise ValueError(
            "overlaps: found layers that are not nested in the middle ones, expected those of an even stack."
        )
    return cells


def _outline(cells: set[Cell], inset: float) -> list[list[tuple[float, float]]]:
    """The border of a set of cells, moved inwards, as pieces from one side of a cell to its next."""
    pieces = []
    for x, y in sorted(cells):
        for dx, dy in SIDES:
            if (x + dx, y + dy) in cells:
                continue
            ends = []
            for along in (-1, 1):
                tx, ty = -dy * along, dx * along
                straight, turn = (x + tx, y + ty) in cells, (x + tx + dx, y + ty + dy) in cells
                reach = 0.5 - inset if not straight else 0.5 + inset * turn
                ends.append((x + dx * (0.5 - inset) + tx * reach, y + dy * (0.5 - inset) + ty * reach))
            pieces.append(ends)
    return pieces


def plot_nested(overlaps: np.ndarray, names: Sequence[str], n_inputs: int, ax: Axes) -> Axes:
    """The directions that layers hold, one cell each, and every layer's outline around its own.

    Parameters
    ----------
    overlaps : see :func:`nested_cells`. n_inputs : of the model, all directions.
    """
    cells, colours = nested_cells(overlaps), layer_colours(len(names))
    half, width = len(names) // 2, int(np.sqrt(n_inputs))
    everything = {(x, y) for x in range(width) for y in range(width)}
    innermost = [*range(half), *reversed(range(half, len(names)))]
    for x, y in everything:
        inner = [l for l in innermost if (x, y) in cells[l]]
        held = {"facecolor": colours[inner[0]], "alpha": 0.3} if inner else {"facecolor": "0.93"}
        ax.fill(x + np.array([-0.5, 0.5, 0.5, -0.5]), y + np.array([-0.5, -0.5, 0.5, 0.5]), edgecolor="white", **held)
    for l, (name, own) in enumerate(zip(names, cells, strict=True)):
        depth = half - 1 - l if l < half else l - half  # in how many others of its half it lies
        lines = LineCollection(_outline(own, 0.05 + 0.1 * depth), colors=[colours[l]], linewidths=2, capstyle="round")
        ax.add_collection(lines)
        way = int(l < half)  # up in the column, to the right in the row
        outer = [cell for cell in own if cell[way] == max(each[way] for each in own)]
        at = np.mean(outer, axis=0) - 0.1 * depth * np.eye(2)[way]
        text = ax.text(at[0], at[1], f"{name}\n{len(own)}", ha="center", va="center", fontsize=8)
        when_narrow(ax.figure, partial(text.set_text, text.get_text().replace(" ", "\n")))
    rest = everything.difference(*cells)
    if rest:
        x, y = np.mean([*rest], axis=0)
        ax.text(x, y, f"in no layer\n{len(rest)}", ha="center", va="center", fontsize=8)
    ax.set(xlim=(-0.7, width - 0.3), ylim=(-0.7, width - 0.3), aspect="equal", xticks=[], yticks=[])
    ax.axis("off")
    return ax
