"""Figures of what side inputs and biases leave to the network's input, and of what networks learn with them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

Points = Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float]]]


Looks = Mapping[str, Mapping[str, Any]]


def plot_shares(points: Points, laws: Mapping[str, Any], looks: Looks, ax: Axes, floor: float = 1e-8) -> Axes:
    """Measured shares of X with intervals against depth, with their laws as lines; shares near 0 and 1 are spread out.

    Parameters
    ----------
    points : label → (depths, means, half-widths of intervals). laws : label → values at the same depths.
    looks : label → colour, marker and, where it is not solid, linestyle.
    floor : lowest share on the axis; what lies below leaves the figure.
    """
    for label, (depths, means, halves) in points.items():
        look, mean = looks[label], np.asarray(means)
        ax.plot(depths, laws[label], linewidth=1.2, color=look["color"], linestyle=look.get("linestyle", "-"))
        ends = np.minimum(halves, [0.999 * mean, 0.999 * (1 - mean)])  # the axis has no 0 and no 1
        ax.errorbar(depths, mean, ends, fmt=look["marker"], color=look["color"], markersize=4.5, linewidth=1)
        ax.plot([], [], label=label, markersize=4.5, linewidth=1.2, **look)  # line and marker in the legend
    ax.set(yscale="logit", xlabel="layers", ylabel="share of X in the squared gradient")
    ax.set_xscale("log", base=2)
    marks = {1e-6: "10⁻⁶", 1e-4: "10⁻⁴", 0.01: "0.01", 0.1: "0.1", 0.5: "0.5", 0.9: "0.9", 0.99: "0.99"}
    ax.set_yticks([mark for mark in marks if mark > floor], [text for mark, text in marks.items() if mark > floor])
    ax.set_yticks([], minor=True)
    ax.set_ylim(floor, 0.999)
    return _plain_depths(ax, points)


def plot_accuracies(points: Points, chance: float, looks: Looks, ax: Axes) -> Axes:
    """Test accuracy with intervals against depth, lines slightly apart so that equal ones can be told.

    Parameters
    ----------
    chance : accuracy of guessing (dashed). looks : label → options of its line.
    """
    for i, (label, (depths, means, halves)) in enumerate(points.items()):
        shifted = np.asarray(depths, dtype=float) * 1.06 ** (i - (len(points) - 1) / 2)
        ax.errorbar(shifted, means, halves, markersize=5, label=label, **looks[label])
    ax.axhline(chance, color="0.4", linestyle="--", linewidth=0.8)
    ax.set_xscale("log", base=2)
    ax.set(xlabel="layers", ylabel="test accuracy", ylim=(max(0.0, chance - 0.08), 1.03))
    return _plain_depths(ax, points)


def _plain_depths(ax: Axes, points: Points) -> Axes:
    """Depths as whole numbers on the axis."""
    depths = sorted({int(depth) for values, _, _ in points.values() for depth in values})
    ax.set(xticks=depths, xticklabels=depths)
    ax.set_xticks([], minor=True)
    return ax
