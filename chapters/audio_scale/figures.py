"""Figures along octaves of lag, the most recent at the right."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

from capcore.results.fit_and_allocation import octave_edges


def plot_octave_capacities(
    profiles: Mapping[str, Any], n_inputs: int, ax: Axes, logarithmic: bool = False, colours: Any = None
) -> Axes:
    """Capacity of every octave of lag, a line per profile, below the ceiling of one per input.

    Parameters
    ----------
    profiles : label → capacities of the lags 0, 1, 2–3, 4–7, …. logarithmic : octaves of capacity, too.
    colours : label → colour; default the style's cycle.
    """
    edges = octave_edges(n_inputs)
    widths = np.diff(edges)
    for label, values in profiles.items():
        ax.plot(values, label=label, color=colours[label] if colours else None)
    ax.plot(widths, color="0.4", linestyle=":", linewidth=1, label="one per input")
    top = 1.08 * max(max(values) for values in profiles.values())
    ticks = range(0, len(widths), max(1, len(widths) // 7))
    ax.set(xlabel="← past · first lag of the octave · now →", ylabel="capacity of the octave")
    if logarithmic:
        ax.set_yscale("log", base=2)
        ax.yaxis.set_major_formatter(ScalarFormatter())
    ax.set_ylim(0.4 if logarithmic else 0, 1.3 * top if logarithmic else top)
    ax.set_xticks(list(ticks), [_short(int(edges[i])) for i in ticks])
    ax.invert_xaxis()
    return ax


def plot_density(profiles: Mapping[str, Sequence[float]], n_inputs: int, ax: Axes, colours: Mapping[str, Any]) -> Axes:
    """Mean capacity of an input in every octave of lag, both axes logarithmic, with the mean over all inputs."""
    edges = octave_edges(n_inputs)
    for label, values in profiles.items():
        (line,) = ax.plot(edges[:-1] + 1, values / np.diff(edges), label=label, color=colours[label])
        ax.axhline(np.sum(values) / n_inputs, color=line.get_color(), linestyle="--", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlabel="← past · lag + 1 · now →", ylabel="capacity per input")
    ax.invert_xaxis()
    return ax


def plot_ratios(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], ax: Axes) -> Axes:
    """Multiples of an even share against the number of inputs, both axes logarithmic, each line named at its end.

    Parameters
    ----------
    lines : label → (numbers of inputs, multiples).
    """
    for label, (n_inputs, multiples) in lines.items():
        (line,) = ax.plot(n_inputs, multiples, marker="o", markersize=3)
        at, colour = (n_inputs[-1], multiples[-1]), line.get_color()
        ax.annotate(label, at, (4, -12), color=colour, textcoords="offset points", ha="right", va="center")
    ax.axhline(1, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlabel="inputs", ylabel="multiple of an even share")
    ax.margins(y=0.12)
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_locator(NullLocator())
    return ax


def _short(number: int) -> str:
    """A whole power of two, short.

    >>> _short(1), _short(16384), _short(1048576)
    ('1', '16 k', '1 M')
    """
    for size, unit in ((2**30, " G"), (2**20, " M"), (2**10, " k")):
        if number >= size and number % size == 0:
            return f"{number // size}{unit}"
    return str(number)
