"""The plane of two inputs: the axes' shadows on the constraint space, and a trained model that follows its target."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from chapters.idea.study import LineModel

COLOURS = CYCLE[:2]
MARGIN = 0.2


def _arrow(ax: Axes, start: np.ndarray, step: np.ndarray, colour: str, width: float = 1.6) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (*(start + step),), (*start,), arrowprops=style)


def _frame(ax: Axes, points: list[np.ndarray]) -> None:
    """Equal scales around the points, and the line through the origin that was drawn stays within."""
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    middle, half = (low + high) / 2, (high - low).max() / 2 * (1 + MARGIN)
    ax.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half), aspect="equal")


def _line(ax: Axes, direction: np.ndarray) -> None:
    ax.plot(*np.outer([-99, 99], direction / np.linalg.norm(direction)).T, color="0.55", linewidth=1, zorder=1)


def plot_shadows(model: LineModel, ax: Axes) -> Axes:
    """Both unit vectors, their shadows on 𝒦, and the squared lengths of these."""
    along = model.space.basis[:, 0]
    shadows = np.outer(along, along)
    _line(ax, along)
    for axis, (tip, shadow, colour) in enumerate(zip(np.eye(2), shadows, COLOURS, strict=True)):
        _arrow(ax, np.zeros(2), tip, colour)
        ax.plot(*np.array([tip, shadow]).T, color=colour, linestyle=":", linewidth=1.2)
        ax.plot(
            *np.array([np.zeros(2), shadow]).T, color=colour, linewidth=3 + 3 * axis, alpha=0.6, solid_capstyle="butt"
        )
        name, turned = f"input {axis + 1}: {along[axis] ** 2:.2g}", 90 * axis
        at, away = tip / 2, -9 * tip[::-1]
        ax.annotate(
            name, (*at,), (*away,), "data", "offset points", color=colour, ha="center", va="center", rotation=turned
        )
    _frame(ax, [np.zeros(2), *np.eye(2), *shadows])
    return ax


def plot_moves(model: LineModel, ax: Axes) -> Axes:
    """The target and the trained model, and how it follows the target along 𝒦 and not across."""
    along = model.space.basis[:, 0] * np.sign(model.space.basis[:, 0] @ model.direction)
    _line(ax, model.direction)
    found, points = model.trained(), [model.target, model.trained()]
    ax.plot(*np.array(points).T, color="0.6", linestyle=":", linewidth=1.2)
    for step, colour in ((1.5 * along, COLOURS[0]), (1.5 * np.array([-along[1], along[0]]), COLOURS[1])):
        _arrow(ax, model.target, step, colour)
        moved = model.moved(step)
        if np.linalg.norm(moved) > 1e-9:
            _arrow(ax, found, moved, colour, 3)
        points += [model.target + step, found + moved]
    for point, name in ((model.target, "target"), (found, "trained model")):
        ax.plot(*point, marker="o", color="black")
        ax.annotate(name, (*point,), (6, -12), textcoords="offset points")
    _frame(ax, points)
    return ax
