"""Figures along octaves of lag, and of what computations cost against the number of inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import ScalarFormatter

from capcore.large.allocation import octave_edges
from capcore.plotting import MARKERS


def plot_octave_capacities(
    profiles: Mapping[str, Sequence[float]], n_inputs: int, ax: Axes, even: str = "", logarithmic: bool = False
) -> Axes:
    """Capacity of every octave of lag, a line per profile.

    Parameters
    ----------
    profiles : label → capacities of the lags 0, 1, 2–3, 4–7, …. even : label of the profile whose even allocation is
        drawn for comparison (dashed); none if empty. logarithmic : octaves of capacity, too.
    """
    edges = octave_edges(n_inputs)
    widths = np.diff(edges)
    for i, (label, values) in enumerate(profiles.items()):
        ax.plot(values, marker=MARKERS[i % len(MARKERS)], label=label)
    if even:
        share = np.sum(profiles[even]) * widths / n_inputs
        ax.plot(share, color="0.4", linestyle="--", linewidth=1, label=f"{even}, spread evenly")
    ax.plot(widths, color="0.4", linestyle=":", linewidth=1, label="as many as inputs")
    top = 1.08 * max(max(values) for values in profiles.values())
    ticks = range(0, len(widths), max(1, len(widths) // 8))
    ax.set(xlabel="first lag of the octave", ylabel="capacity of the octave", xticks=list(ticks))
    if logarithmic:
        ax.set_yscale("log", base=2)
        ax.yaxis.set_major_formatter(ScalarFormatter())
    ax.set_ylim(0.4 if logarithmic else 0, 1.3 * top if logarithmic else top)
    ax.set_xticklabels([_short(int(edges[i])) for i in ticks])
    return ax


def plot_density(profiles: Mapping[str, Sequence[float]], n_inputs: int, ax: Axes) -> Axes:
    """Mean capacity of an input in every octave of lag, both axes logarithmic, with the mean over all inputs."""
    edges = octave_edges(n_inputs)
    for i, (label, values) in enumerate(profiles.items()):
        (line,) = ax.plot(edges[:-1] + 1, values / np.diff(edges), marker=MARKERS[i % len(MARKERS)], label=label)
        ax.axhline(np.sum(values) / n_inputs, color=line.get_color(), linestyle="--", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlabel="1 + lag (inputs)", ylabel="capacity per input")
    return ax


def plot_ratios(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], ax: Axes) -> Axes:
    """Multiples of an even share against the number of inputs, both axes logarithmic.

    Parameters
    ----------
    lines : label → (numbers of inputs, multiples).
    """
    for i, (label, (n_inputs, multiples)) in enumerate(lines.items()):
        ax.plot(n_inputs, multiples, marker=MARKERS[i % len(MARKERS)], label=label)
    ax.axhline(1, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlabel="inputs", ylabel="multiple of an even share")
    return ax


def plot_costs(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float], tuple[float, float] | None]], ax: Axes, up_to: float
) -> Axes:
    """Measured costs against the number of inputs, continued by their power law (dashed) up to ``up_to`` inputs.

    Parameters
    ----------
    lines : label → (numbers of inputs, costs, (exponent, factor) or None).
    """
    for i, (label, (n_inputs, costs, law)) in enumerate(lines.items()):
        (line,) = ax.plot(n_inputs, costs, marker=MARKERS[i % len(MARKERS)], label=label)
        if law is not None and n_inputs[-1] < up_to:
            ends = np.array([n_inputs[-1], up_to])
            ax.plot(ends, law[1] * ends ** law[0], color=line.get_color(), linestyle="--")
    ax.set(xscale="log", yscale="log", xlabel="inputs")
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
