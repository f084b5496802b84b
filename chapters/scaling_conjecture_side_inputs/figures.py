"""Figures of what side inputs and biases leave to the network's input, and of what networks learn with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import MARKERS

Points = Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float]]]


def plot_shares(points: Points, laws: Mapping[str, Sequence[float]], ax: Axes, floor: float = 1e-8) -> Axes:
    """Measured shares of X with intervals against depth, both axes logarithmic, with their laws as lines.

    Parameters
    ----------
    points : label → (depths, means, half-widths of intervals). laws : label → values at the same depths.
    floor : lowest share on the axis; what lies below leaves the figure.
    """
    for i, (label, (depths, means, halves)) in enumerate(points.items()):
        (line,) = ax.plot(depths, laws[label], linewidth=1.2)
        ax.errorbar(
            depths,
            means,
            np.minimum(halves, 0.999 * np.asarray(means)),
            fmt=MARKERS[i % len(MARKERS)],
            color=line.get_color(),
            markersize=4.5,
            linewidth=1,
            label=label,
        )
    ax.set(xscale="log", yscale="log", xlabel="layers", ylabel="share of X in the squared gradient")
    ax.set_xscale("log", base=2)
    ax.set_ylim(floor, 2)
    return _plain_depths(ax, points)


def plot_accuracies(points: Points, chance: float, ax: Axes, order: Sequence[str] = ()) -> Axes:
    """Test accuracy with intervals against depth, lines slightly apart so that equal ones can be told.

    Parameters
    ----------
    chance : accuracy of guessing (dashed). order : labels of all panels, so that one looks the same in each.
    """
    for i, (label, (depths, means, halves)) in enumerate(points.items()):
        shifted = np.asarray(depths, dtype=float) * 1.06 ** (i - (len(points) - 1) / 2)
        k = list(order).index(label) if order else i
        ax.errorbar(shifted, means, halves, color=f"C{k}", marker=MARKERS[k % len(MARKERS)], markersize=5, label=label)
    ax.axhline(chance, color="0.4", linestyle="--", linewidth=0.8)
    ax.set_xscale("log", base=2)
    ax.set(xlabel="layers", ylabel="test accuracy", ylim=(max(0.0, chance - 0.08), 1.03))
    return _plain_depths(ax, points)


def _plain_depths(ax: Axes, points: Points) -> Axes:
    """Depths as whole numbers on the axis."""
    depths = sorted({int(depth) for values, _, _ in points.values() for depth in values})
    ax.set_xticks(depths, [str(depth) for depth in depths])
    ax.set_xticks([], minor=True)
    return ax
