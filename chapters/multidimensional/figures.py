"""Figures of models with several components per position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LAG_LABEL, MARKERS

STYLES = ("-", "--", "-.", ":")


def plot_by_size(
    groups: Mapping[str, tuple[Sequence[int], Sequence[float]]],
    ax: Axes,
    ylabel: str,
    ceiling: tuple[float, str] | None = None,
) -> Axes:
    """One line per group against the number of parameters, on a logarithmic axis.

    Parameters
    ----------
    groups : label → (numbers of parameters, values). ceiling : height and label of a dashed line.
    """
    for i, (label, (sizes, values)) in enumerate(groups.items()):
        style = STYLES[i % len(STYLES)]
        ax.plot(sizes, values, linestyle=style, marker=MARKERS[i % len(MARKERS)], color=CYCLE[i], label=label)
    if ceiling is not None:
        ax.axhline(ceiling[0], color="0.4", linestyle="--", linewidth=0.8)
        ax.annotate(
            ceiling[1], (1, ceiling[0]), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8
        )
    ax.set(xscale="log", xlabel="parameters", ylabel=ylabel)
    ax.legend()
    return ax


def plot_against_dimension(dims: Sequence[int], curves: Mapping[str, Sequence[float]], ax: Axes, ylabel: str) -> Axes:
    """One line per label against the number of components, on a logarithmic axis of base 2."""
    for i, (label, values) in enumerate(curves.items()):
        style = STYLES[i % len(STYLES)]
        ax.plot(dims, values, linestyle=style, marker=MARKERS[i % len(MARKERS)], color=CYCLE[i], label=label)
    ax.set_xscale("log", base=2)
    ax.set(xlabel="components per position, $d$", ylabel=ylabel, xticks=dims, xticklabels=dims)
    ax.minorticks_off()
    ax.legend()
    return ax


def plot_collapse(alone: np.ndarray, across: np.ndarray, together: np.ndarray, ax: Axes) -> Axes:
    """What a collapsed task gives each position, stacked, and what was measured.

    Parameters
    ----------
    alone : (n,) the one-dimensional model's. across : (n,) what the other directions add. together : (n,) measured.
    """
    lags = np.arange(len(alone))
    ax.fill_between(lags, 0, alone, step="mid", color=CYCLE[0], alpha=0.5, linewidth=0, label="the model at $d = 1$")
    ax.fill_between(
        lags,
        alone,
        alone + across,
        step="mid",
        color=CYCLE[4],
        alpha=0.6,
        linewidth=0,
        label="its layer 1, $d - 1$ times",
    )
    ax.plot(lags, together, linestyle="", marker="o", markersize=3, color="0.1", label="measured")
    ax.set(xlabel=LAG_LABEL, ylabel="capacity")
    ax.invert_xaxis()
    ax.legend()
    return ax


def plot_component_bars(groups: Mapping[str, np.ndarray], ax: Axes, ylabel: str) -> Axes:
    """Bars of one number per component, one colour and hatch per group, with the numbers written on them.

    Parameters
    ----------
    groups : label → (d,) values.
    """
    width = 0.8 / len(groups)
    for i, (label, values) in enumerate(groups.items()):
        at = np.arange(len(values)) + (i - (len(groups) - 1) / 2) * width
        bars = ax.bar(at, values, width, color=CYCLE[i], alpha=0.8, hatch=("", "//", "..")[i % 3], label=label)
        ax.bar_label(bars, fmt="%.1f", fontsize=7.5, padding=1)
    count = max(len(values) for values in groups.values())
    ax.set(xlabel="component", ylabel=ylabel, xticks=range(count), xticklabels=range(1, count + 1))
    ax.grid(axis="x", visible=False)
    ax.legend()
    return ax
