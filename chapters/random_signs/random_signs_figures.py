"""Figures of squared gradients: means with their errors on a law, and how far single networks are from it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE


def plot_mean_on_law(mean: np.ndarray, error: np.ndarray, law: np.ndarray, ax: Axes, label: str = "mean") -> Axes:
    """Means (n,) with two standard errors on either side, and the law (n,) as bars behind them, over the inputs."""
    inputs = np.arange(len(law))
    ax.bar(inputs, law, width=0.9, color=CYCLE[5], alpha=0.45, label="law W∘W")
    ax.errorbar(inputs, mean, 2 * error, fmt="o", markersize=3, color=CYCLE[0], linewidth=1, label=label)
    ax.set(xlabel="input", ylabel="squared gradient", ylim=(0, None), xlim=(-0.7, len(law) - 0.3))
    ax.grid(axis="x", visible=False)
    return ax


def plot_distance_histograms(groups: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """Histograms of distances from the law, one outline per group, with its median as a vertical line."""
    edges = np.linspace(0, 1, 41)
    for i, (label, values) in enumerate(groups.items()):
        style = ("-", "--", ":")[i % 3]
        counts = np.histogram(values, edges)[0] / len(values)
        ax.stairs(counts, edges, color=CYCLE[i], linestyle=style, linewidth=1.5, label=label)
        ax.axvline(float(np.median(values)), color=CYCLE[i], linestyle=style, linewidth=0.8)
    ax.set(xlabel="total variation from the law", ylabel="share of networks", xlim=(0, 1), ylim=(0, None))
    return ax
