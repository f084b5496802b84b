"""Figures of models with several components per position."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LINES, MARKERS


def _plot_groups(groups: Mapping[str, tuple[Sequence[float], Sequence[float]]], ax: Axes) -> None:
    for i, (label, (x, values)) in enumerate(groups.items()):
        style = LINES[i % len(LINES)]
        ax.plot(x, values, linestyle=style, marker=MARKERS[i % len(MARKERS)], color=CYCLE[i], label=label)
    ax.legend()


def plot_by_size(groups: Mapping[str, tuple[Sequence[float], Sequence[float]]], ax: Axes, ylabel: str) -> Axes:
    """One line per group against the number of parameters, on a logarithmic axis.

    Parameters
    ----------
    groups : label → (numbers of parameters, values).
    """
    _plot_groups(groups, ax)
    ax.set(xscale="log", xlabel="parameters", ylabel=ylabel)
    return ax


def plot_against_dimension(dims: Sequence[int], curves: Mapping[str, Sequence[float]], ax: Axes, ylabel: str) -> Axes:
    """One line per label against the number of components, on a logarithmic axis of base 2."""
    _plot_groups({label: (dims, values) for label, values in curves.items()}, ax)
    ax.set_xscale("log", base=2)
    ax.set(xlabel="components per position, $d$", ylabel=ylabel, xticks=dims, xticklabels=dims)
    ax.minorticks_off()
    return ax
