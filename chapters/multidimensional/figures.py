"""Figures of models with several components per position."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LINES, MARKERS


def plot_by_size(groups: Mapping[str, tuple[Sequence[float], Sequence[float]]], ax: Axes, ylabel: str) -> Axes:
    """One line per group against the number of parameters, on a logarithmic axis.

    Parameters
    ----------
    groups : label → (numbers of parameters, values).
    """
    for i, (label, (x, values)) in enumerate(groups.items()):
        style = LINES[i % len(LINES)]
        ax.plot(x, values, linestyle=style, marker=MARKERS[i % len(MARKERS)], color=CYCLE[i], label=label)
    ax.legend()
    ax.set(xscale="log", xlabel="parameters", ylabel=ylabel)
    return ax
