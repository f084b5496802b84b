"""Figures of mimicry: what students of several kinds reach, differences with their intervals, and regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS


def plot_arms(values: Mapping[str, np.ndarray], ax: Axes, xlabel: str, names: bool = True) -> Axes:
    """A row per arm: every seed as a dot, their mean as a bar across the row.

    Parameters
    ----------
    values : arm → (seeds,). names : whether rows are named.
    """
    for row, (_, shares) in enumerate(values.items()):
        ax.plot(shares, np.full(len(shares), row), "o", color=CYCLE[0], markersize=4, alpha=0.6)
        ax.plot(2 * [shares.mean()], [row - 0.3, row + 0.3], color=CYCLE[1], linewidth=2.5)
    ax.set_yticks(range(len(values)), list(values) if names else [])
    ax.set(xlabel=xlabel, ylim=(len(values) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    return ax


def plot_differences(values: Mapping[str, tuple[float, float, float]], ax: Axes, tolerance: float) -> Axes:
    """Differences in percentage points with their intervals, one per row; dashed, zero and the tolerance below it.

    Parameters
    ----------
    values : name → mean, lower and upper end, as shares.
    """
    for row, (mean, low, high) in enumerate(values.values()):
        away = low > 0 or high < 0
        ax.plot([100 * low, 100 * high], [row, row], color=CYCLE[1] if away else CYCLE[0], linewidth=2)
        ax.plot(100 * mean, row, "D" if away else "o", color=CYCLE[1] if away else CYCLE[0])
    ax.axvline(0, color="0.25", linewidth=0.9)
    ax.axvline(-100 * tolerance, color="0.25", linestyle="--", linewidth=0.9)
    ax.set_yticks(range(len(values)), list(values))
    ax.set(xlabel="difference in test accuracy (percentage points)", ylim=(len(values) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    return ax


def plot_regions(values: Mapping[str, Sequence[float]], ax: Axes) -> Axes:
    """Linear regions on a segment for networks of several kinds: a thin line per seed, the means thick."""
    table = np.array(list(values.values()))
    for k in range(table.shape[1]):
        ax.plot(range(len(table)), table[:, k], color="0.6", linewidth=0.8, marker=MARKERS[0], markersize=3)
    ax.plot(range(len(table)), table.mean(axis=1), color=CYCLE[1], linewidth=2.5, marker=MARKERS[1], label="mean")
    ax.set_xticks(range(len(table)), list(values))
    ax.set(ylabel="linear regions on a segment", ylim=(0, None), xlim=(-0.3, len(table) - 0.7))
    return ax
