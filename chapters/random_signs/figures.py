"""Figures on layers of random signs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from capcore.plotting import CYCLE, MARKERS


def plot_distances(
    settings: Sequence[float],
    lines: Mapping[str, np.ndarray],
    ax: Axes,
    xlabel: str,
    level: tuple[float | np.ndarray, str],
    ticks: Sequence[float],
) -> Axes:
    """Distances (m,), or medians and ranges over networks of (m, n_networks), against m settings on a logarithmic axis.

    Parameters
    ----------
    lines : label → distances.
    level : height of a dashed line, one for all settings or (m,), and its name.
    ticks : plain numbers on the horizontal axis.
    """
    for i, (label, values) in enumerate(lines.items()):
        array = values.reshape(len(settings), -1)
        ax.plot(settings, np.median(array, axis=1), marker=MARKERS[i], color=CYCLE[i], label=label)
        if array.shape[1] > 1:
            ax.fill_between(settings, array.min(axis=1), array.max(axis=1), color=CYCLE[i], alpha=0.15, linewidth=0)
    height, name = level
    style: dict[str, Any] = {"color": "0.3", "linestyle": "--", "linewidth": 0.9, "label": name}
    if np.ndim(height):
        ax.plot(settings, height, **style)
    else:
        ax.axhline(float(height), **style)
    ax.set(xscale="log", xlabel=xlabel, ylabel="total variation", ylim=(0, None))
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.xaxis.minorticks_off()
    return ax


def plot_mean_on_law(mean: np.ndarray, error: np.ndarray | None, law: np.ndarray, ax: Axes) -> Axes:
    """Values (n,), with two standard errors on either side if given, over the inputs; bars behind are the law (n,)."""
    inputs = np.arange(len(law))
    ax.bar(inputs, law, width=0.9, color=CYCLE[5], alpha=0.45, label="law W∘W")
    around = None if error is None else 2 * error
    ax.errorbar(inputs, mean, around, fmt="o", markersize=3, color=CYCLE[0], linewidth=1, label="squared gradient")
    ax.set(xlabel="input", ylabel="squared gradient", ylim=(0, None), xlim=(-0.7, len(law) - 0.3))
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    ax.grid(axis="x", visible=False)
    return ax


def plot_small_network(weights: Sequence[np.ndarray], ax: Axes) -> Axes:
    """Inputs, hidden units and one output from below; lines are as wide as weights are large, orange for negative ones.

    Below each input stand its squared gradient, for linear units, and the product of squared weights.
    """
    sizes = [len(weights[0]), *(w.shape[1] for w in weights)]
    gradient = np.linalg.multi_dot(weights)[:, 0].round(12) ** 2
    law = np.linalg.multi_dot([w**2 for w in weights])[:, 0]
    for level, w in enumerate(weights):
        for (i, j), weight in np.ndenumerate(w):
            if weight:
                ends = [i - (sizes[level] - 1) / 2, j - (sizes[level + 1] - 1) / 2]
                colour = CYCLE[0] if weight > 0 else CYCLE[1]
                ax.plot(ends, [level, level + 1], color=colour, linewidth=4 * abs(weight), zorder=1)
    for level, size in enumerate(sizes):
        ax.scatter(np.arange(size) - (size - 1) / 2, np.full(size, level), 160, "white", edgecolors="0.2", zorder=2)
    for i, (squared, carried) in enumerate(zip(gradient, law, strict=True)):
        label = f"input {i + 1}\ngradient² {squared:.2g}\nsquared weights {carried:.2g}"
        ax.text(i - (sizes[0] - 1) / 2, -0.25, label, ha="center", va="top", fontsize=9)
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.3, len(weights) + 0.25))
    ax.set_axis_off()
    return ax
