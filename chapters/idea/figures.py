"""The plane of two inputs, with shadows on the constraint space and equal errors; and events at inputs of a stack."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from capcore import Allocation
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


def _name_line(ax: Axes, direction: np.ndarray) -> None:
    """𝒦 where its line leaves the frame, at the right or above."""
    slope = direction[1] / direction[0] if direction[0] else np.inf
    (_, right), top = ax.get_xlim(), ax.get_ylim()[1]
    at = (right, slope * right) if abs(slope * right) <= abs(top) else (top / slope, top)
    ax.annotate(r"$\mathcal{K}$", at, (-2, -10), textcoords="offset points", color="0.3", ha="right", va="top")


def plot_shadows(model: LineModel, ax: Axes) -> Axes:
    """Both unit vectors dropped onto 𝒦, and the squares on their shadows, whose areas are the capacities."""
    along = model.space.basis[:, 0]
    along *= np.sign(along[np.abs(along).argmax()])
    shadows, corners = np.outer(along, along), [np.zeros(2)]
    _line(ax, along)
    for axis, (tip, shadow, colour) in enumerate(zip(np.eye(2), shadows, COLOURS, strict=True)):
        side = np.array([shadow[1], -shadow[0]]) * np.sign(along[0] * along[1] or 1) * (1 - 2 * axis)
        square = np.array([np.zeros(2), shadow, shadow + side, side])
        ax.fill(*square.T, color=colour, alpha=0.18, linewidth=0)
        ax.plot(*(square[:2] + 0.02 * side / max(np.linalg.norm(side), 1e-9)).T, color=colour, linewidth=3, zorder=3)
        ax.plot(*np.array([tip, shadow]).T, color=colour, linestyle=":", linewidth=1.2)
        _arrow(ax, np.zeros(2), tip, colour)
        ax.annotate(f"input {axis + 1}", (*tip,), (*(3 * tip + 3),), textcoords="offset points", color=colour)
        name, area = "ab"[axis], f"{along[axis] ** 2:.2g}"
        across, up = "center", "center"
        if axis:  # beyond the second square, which its own arrow crosses
            across, up = "right" if side[0] < 0 else "left", "bottom"
        at, shift = square[2 * axis :].mean(axis=0), (4 * axis * np.sign(side[0]), 2 * axis)
        words = f"${name}^2$ = {area}"
        text = ax.annotate(words, (*at,), shift, textcoords="offset points", color=colour, ha=across, va=up)
        text.set_path_effects([withStroke(linewidth=3, foreground="white")])
        corners += [tip, *square]
    _frame(ax, corners)
    _name_line(ax, along)
    return ax


def plot_moves(model: LineModel, ax: Axes) -> Axes:
    """The target and the trained model, and how it follows the target along 𝒦 and not across."""
    along = model.space.basis[:, 0] * np.sign(model.space.basis[:, 0] @ model.direction)
    _line(ax, model.direction)
    trained, points = model.trained(), [model.target, model.trained()]
    ways = {"along": 1.5 * along, "across": 1.5 * np.array([-along[1], along[0]])}
    for (way, step), colour in zip(ways.items(), COLOURS, strict=True):
        aim, moved = model.target + step, model.moved(step)
        ax.plot(*np.array([aim, trained + moved]).T, color="0.6", linestyle=":", linewidth=1.2)
        _arrow(ax, model.target, step, colour)
        if np.linalg.norm(moved) > 1e-9:
            _arrow(ax, trained, moved, colour, 3)
        ax.annotate(f"{way} the line", (*aim,), (5, 2), textcoords="offset points", color=colour)
        points += [aim, trained + moved]
    ax.plot(*np.array(points[:2]).T, color="0.6", linestyle=":", linewidth=1.2)
    for point, name in ((model.target, "target"), (trained, "trained model")):
        ax.plot(*point, marker="o", color="black")
        ax.annotate(name, (*point,), (6, -12), textcoords="offset points")
    _frame(ax, points)
    return ax


def plot_equal_error(model: LineModel, ax: Axes) -> Axes:
    """Where the error is as large as the trained model's: a curve about the target that touches the model's line there.

    The arrow is the direction of the condition, 𝒦, at right angles to the error whatever the correlation is.
    """
    trained, along = model.trained(), model.space.basis[:, 0] * np.sign(model.space.basis[:, 0] @ model.direction)
    error = trained - model.target
    angle = np.linspace(0, 2 * np.pi, 361)
    ways = np.column_stack([np.cos(angle), np.sin(angle)])
    sizes = np.sqrt(error @ model.covariance @ error / np.einsum("ij,jk,ik->i", ways, model.covariance, ways))
    level = model.target + sizes[:, None] * ways
    _line(ax, model.direction)
    ax.plot(*level.T, color="0.55", linestyle="--", linewidth=1)
    top = level[level[:, 1].argmax()]
    ax.annotate("equal error", (*top,), (0, 4), textcoords="offset points", color="0.4", ha="center")
    ax.plot(*np.array([model.target, trained]).T, color=COLOURS[1], linestyle=":", linewidth=1.6)
    _arrow(ax, trained, 1.4 * along, COLOURS[0], 3)
    ax.annotate(r"$\mathcal{K}$", (*(trained + 1.4 * along),), (4, 2), textcoords="offset points", color=COLOURS[0])
    for point, name, rise in ((model.target, "target", 4), (trained, "trained model", -12)):
        ax.plot(*point, marker="o", color="black")
        ax.annotate(name, (*point,), (6, rise), textcoords="offset points")
    _frame(ax, [*level, trained + 1.4 * along, np.zeros(2)])
    return ax


def plot_event(
    found: Allocation,
    refits: Mapping[str, Mapping[int, float]],
    top: Axes,
    below: Axes,
    marked: Sequence[int] = (),
) -> None:
    """Capacity before over the lags; below it the missed share as a line, and what refits cost as dots.

    refits : name of a stack → lag → cost, the stack of ``found`` first. marked : lags of events that are pointed out.
    """
    lags, costs = np.arange(found.n_inputs), next(iter(refits.values()))
    found.plot(ax=top).set(title="", xlabel="", ylabel="capacity before", ylim=(0, 1.05))
    top.fill_between(lags, found.per_input, step="mid", alpha=0.2, linewidth=0)
    below.plot(lags, found.missed, color="0.5", linewidth=1.2, label="missed share, from the fit before")
    for (name, dots), colour, marker in zip(refits.items(), CYCLE[1:], "os", strict=False):
        style: dict[str, Any] = {"color": colour, "clip_on": False, "zorder": 3, "markersize": 4.5, "linestyle": "none"}
        below.plot([*dots], [*dots.values()], marker, label=name, **style)
    for lag in marked:
        for ax, at, words in (
            (top, found.per_input, f"{found.per_input[lag]:.2f}"),
            (below, costs, f"{costs[lag]:.0%}"),
        ):
            ax.axvspan(lag - 0.5, lag + 0.5, color=CYCLE[1], alpha=0.18, linewidth=0)
            text = ax.annotate(words, (lag, at[lag]), (-5, 5), textcoords="offset points", weight="bold")
            text.set_path_effects([withStroke(linewidth=3, foreground="white")])
    below.set(xlabel="← past · samples back · now →", ylabel="missed after", ylim=(0, 1.05))
    below.legend(loc="upper right", frameon=False)
