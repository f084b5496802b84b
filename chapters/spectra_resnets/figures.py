"""Exponents of trained networks beside those of noise, and p-values of their power laws."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from capcore.spectra.models import RANGE

TICKS = (1, 1.5, 2, 3, 5, 10, 20)
STYLES = ("-", "--", ":", "-.")


def plot_exponent_histograms(groups: Mapping[str, np.ndarray], ax: Axes, highest: float = 20.0) -> Axes:
    """Outlines of histograms of α over a logarithmic axis, as shares; the first group filled, [2, 5] shaded.

    groups : label → exponents, NaN left out. Exponents above ``highest`` count in the last bin.
    """
    edges = np.geomspace(1.2, highest, 30)
    ax.axvspan(*RANGE, color="0.92", zorder=0)
    for i, (label, alphas) in enumerate(groups.items()):
        there = np.clip(alphas[np.isfinite(alphas)], edges[0], 0.999 * highest)
        heights = np.histogram(there, edges)[0] / len(there)
        if i == 0:
            ax.stairs(heights, edges, fill=True, color=CYCLE[0], alpha=0.25)
        ax.stairs(heights, edges, color=CYCLE[i], linestyle=STYLES[i % 4], linewidth=1.6, label=label)
    ax.set(xscale="log", xlabel="exponent α", ylabel="share of spectra", ylim=(0, None), xlim=(edges[0], highest))
    ax.set_xticks(TICKS[1:], [f"{tick:g}" for tick in TICKS[1:]])
    ax.xaxis.set_minor_formatter("")
    return ax


def plot_p_values(groups: Mapping[str, np.ndarray], ax: Axes, level: float = 0.1) -> Axes:
    """Share of spectra with a p-value up to each level; the diagonal is for spectra that follow the law throughout.

    groups : label → p-values. level : drawn as a vertical line.
    """
    ax.plot([0, 1], [0, 1], color="0.55", linewidth=1, linestyle=(0, (1, 2)), label="law throughout")
    for i, (label, values) in enumerate(groups.items()):
        ordered = np.sort(values)
        share = np.arange(1, len(ordered) + 1) / len(ordered)
        ax.step(
            [0, *ordered, 1], [0, *share, 1], where="post", color=CYCLE[i], linestyle=STYLES[i % 4], linewidth=1.6,
            label=label,
        )  # fmt: skip
    ax.axvline(level, color="0.3", linewidth=0.8)
    ax.set(xlabel="p-value of the fit", ylabel="share of spectra up to it", xlim=(0, 1), ylim=(0, 1))
    return ax
