"""Figures of models with several components per position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS

STYLES = ("-", "--", "-.", ":")


def plot_by_size(groups: Mapping[str, tuple[Sequence[int], Sequence[float]]], ax: Axes, ylabel: str) -> Axes:
    """One line per group against the number of parameters, on a logarithmic axis.

    Parameters
    ----------
    groups : label → (numbers of parameters, values).
    """
    for i, (label, (sizes, values)) in enumerate(groups.items()):
        style = STYLES[i % len(STYLES)]
        ax.plot(sizes, values, linestyle=style, marker=MARKERS[i % len(MARKERS)], color=CYCLE[i], label=label)
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
