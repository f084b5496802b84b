"""Figures: the effect on each series, and the autocorrelation that networks keep."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LAG_LABEL
from chapters.far_structure.resampling import Effect
from chapters.far_structure.series import NULLS
from chapters.far_structure.stacks import N_INPUTS

STYLES = {"linear": (CYCLE[6], "s"), "tanh": (CYCLE[0], "o"), "gated": (CYCLE[1], "^")}
"""Kind of unit → colour and marker."""


def plot_effects(by_series: Mapping[str, Mapping[str, Effect]], means: Mapping[str, Effect], ax: Axes) -> Axes:
    """Effects with their intervals, a row for each series, those without far structure last; and above them their mean.

    by_series : kind of unit, or "nonlinear", → series → effect; rows follow the latter.
    """
    order = sorted(by_series["nonlinear"], key=lambda name: (name in NULLS, by_series["nonlinear"][name].mean))
    rows = [0.0, *(1.4 + i + 0.4 * (name in NULLS) for i, name in enumerate(order))]
    for i, (kind, (colour, marker)) in enumerate(STYLES.items()):
        heights = np.array([means[kind], *(by_series[kind][name] for name in order)])
        ends = np.abs(heights[:, 1:] - heights[:, :1]).T
        at = np.array(rows) + 0.26 * (i - 1)
        ax.errorbar(heights[:, 0], at, xerr=ends, fmt=marker, ms=3.5, lw=1.1, color=colour, label=kind)
    ax.axvline(0, color="0.5", linewidth=0.8, linestyle=":")
    ax.axhline(0.7, color="0.5", linewidth=0.8)
    ax.axhline(rows[-len(NULLS)] - 0.7, color="0.5", linewidth=0.8, linestyle="--")
    ax.set_yticks(rows, ["mean of series that count", *order])
    ax.set(xlabel="partial rank correlation of far share and far error", ylim=(rows[-1] + 0.6, -0.6), xlim=(-1, 1))
    ax.grid(axis="y", visible=False)
    return ax


def plot_curves(truth: Sequence[float], curves: Mapping[str, Sequence[float]], ax: Axes, ylabel: str = "") -> Axes:
    """Autocorrelation of a series, and of what networks generate, over the lags 1 … 64; the far half is shaded.

    curves : label → autocorrelation at lags 0 … 64.
    """
    lags = np.arange(1, N_INPUTS + 1)
    ax.axvspan(N_INPUTS / 2 + 0.5, N_INPUTS, color="0.5", alpha=0.12, lw=0)
    ax.plot(lags, truth[1:], color="0.45", lw=2.5, label="the series")
    for i, (label, values) in enumerate(curves.items()):
        ax.plot(lags, values[1:], ("--", "-", ":")[i], color=(CYCLE[1], CYCLE[0], CYCLE[6])[i], label=label)
    ax.set(xlabel=LAG_LABEL, ylabel=ylabel, xlim=(N_INPUTS, 1))
    return ax
