"""Figures of recurrent models: the network unrolled over time, capacities and losses by channels, poles (Figs 9–11)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from capcore.architectures import Recurrent
from capcore.plotting import CYCLE, LINES, MARKERS, channel_colours
from chapters.shared.lag_figures import LAG_AXIS
from chapters.shared.process_names import process_look

FAINT = "0.6"


def plot_recurrent(arch: Recurrent, ax: Axes, n_positions: int = 8) -> Axes:
    """The network unrolled over time: inputs below, one row per channel, outputs above (paper 1, Figure 9).

    Parameters
    ----------
    arch : any recurrent model; its channels are the rows. n_positions : time steps drawn, the most recent at the right.

    In colour: what the most recent output depends on.
    """
    times, c = range(-n_positions + 1, 1), arch.channels
    top = c + 1
    slant = np.linspace(-0.22, 0.22, c) if c > 1 else np.zeros(1)  # rows side by side, so that no edge hides another
    inward = [[(t, 0), (t + slant[row - 1], row)] for t in times for row in range(1, c + 1)]
    onward = [[(t + slant[row - 1], row), (t + 1 + slant[row - 1], row)] for t in times[:-1] for row in range(1, c + 1)]
    outward = [[(t + slant[row - 1], row), (t, top)] for t in times for row in range(1, c + 1)]
    last = outward[-c:]
    ax.add_collection(LineCollection(outward, colors=FAINT, linewidths=0.8, zorder=1))
    for edges, colour, width in ((inward, CYCLE[0], 0.8), (onward, CYCLE[2], 1.8), (last, CYCLE[1], 1.2)):
        ax.add_collection(LineCollection(edges, colors=colour, linewidths=width, zorder=2))
    for row in range(top + 1):
        colours = [CYCLE[0] if row == 0 else (CYCLE[1] if t == 0 else FAINT) if row == top else "white" for t in times]
        shift = slant[row - 1] if 0 < row < top else 0.0
        places = np.array(times) + shift, [row] * n_positions
        ax.scatter(*places, s=60, c=colours, edgecolors="0.35", linewidths=0.7, zorder=3)
    names = [(0, "input", "black"), ((c + 1) / 2, _channels(c), "black"), (top, "output", "black")]
    names += [(0.5, "input weights", CYCLE[0]), (c + 0.5, "output weights", CYCLE[1])]
    for height, text, colour in names:
        ax.text(0.55, height, text, va="center", fontsize=8.5, color=colour)
    between = -n_positions + 0.7, (c + 1) / 2
    ax.text(*between, "recurrent\nweights", va="center", ha="right", fontsize=8.5, color=CYCLE[2])
    ax.set(xlim=(-n_positions - 0.6, 2.6), ylim=(-0.4, top + 0.4), xticks=[], yticks=[])
    ax.set_xlabel("← past · now →")
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax


def plot_capacities(
    channels: np.ndarray, n_params: np.ndarray, curves: Mapping[str, np.ndarray], n_inputs: int, ax: Axes
) -> Axes:
    """Number of parameters and several capacities against the number of channels, with the number of inputs.

    Parameters
    ----------
    channels, n_params : (m,). curves : label → (m,) capacities.
    """
    ax.plot(channels, n_params, color=CYCLE[2], marker=MARKERS[2], label="parameters")
    for i, (label, values) in enumerate(curves.items(), 3):  # the first two looks are those of losses beside it
        ax.plot(channels, values, color=CYCLE[i], marker=MARKERS[i], ls=LINES[i % 3], label=label)
    ax.axhline(n_inputs, color="0.3", linestyle="--", linewidth=0.8)
    ax.text(channels.min(), n_inputs * 1.08, "# inputs", fontsize=8, color="0.3")
    ax.set(xscale="log", yscale="log", xlabel="channels", ylabel="number")
    return ax


def name_lines(ax: Axes, places: Mapping[str, tuple[float, tuple[float, float]]]) -> Axes:
    """Names beside the lines, in their colours, instead of a legend.

    Parameters
    ----------
    places : label → where on the line, from 0 to 1, and the offset in points from there to the end of its name.
    """
    if legend := ax.get_legend():
        legend.remove()
    for line in ax.get_lines():
        name, points = str(line.get_label()), np.asarray(line.get_xydata())
        if name in places:
            where, offset = places[name]
            look: dict[str, Any] = {"ha": "right", "color": line.get_color(), "fontsize": 8.5}
            ax.annotate(name, points[round(where * (len(points) - 1))], offset, textcoords="offset points", **look)
    return ax


def plot_capacity(profiles: Mapping[int, np.ndarray], ax: Axes, xlabel: str = "", logarithmic: bool = False) -> Axes:
    """Capacity over lags, most recent at the right, or along what ``xlabel`` names; one line per number of channels.

    Parameters
    ----------
    profiles : channels → (n,) capacities. logarithmic : both axes, lag τ at τ + 1.
    """
    colours = channel_colours(list(profiles))
    for c, values in profiles.items():
        places = np.arange(len(values)) + (1 if logarithmic or xlabel else 0)
        ax.plot(places, values, color=colours[c], label=_channels(c))
    ax.set(xlabel=xlabel or LAG_AXIS.replace("lag", "lag + 1" if logarithmic else "lag"), ylabel="capacity")
    if logarithmic:
        ax.set(xscale="log", yscale="log")
    else:
        ax.axhline(1, color="0.4", linestyle="--", linewidth=0.8)
    if not xlabel:
        ax.invert_xaxis()
    return ax


def plot_law(curves: Mapping[str, tuple[np.ndarray, np.ndarray]], ax: Axes, logarithmic: bool) -> Axes:
    """Losses against κ, on a logarithmic or a linear axis for κ: a power law or an exponential law is straight.

    Parameters
    ----------
    curves : label → (κ, loss); losses of zero are left out.
    """
    for i, (label, (capacity, loss)) in enumerate(curves.items()):
        seen = np.asarray(loss) > 0
        if seen.any():
            ax.plot(np.asarray(capacity)[seen], np.asarray(loss)[seen], label=label, **process_look(label, i))
    ax.set(yscale="log", xlabel="exact κ", ylabel="loss  $L = \\hat v - v^*$")
    if logarithmic:
        powers_of_two(ax)
    return ax


def plot_poles(poles: Mapping[int, np.ndarray], weights: Mapping[int, np.ndarray], ax: Axes) -> Axes:
    """The poles of several models on a line each, above one another.

    Parameters
    ----------
    poles, weights : channels → (c,). The mark says the sign of the weight, filled for positive and hollow for negative;
    a weight of zero has a cross. Between −1 and 1 the axis is linear, beyond it logarithmic; the band marks ±1.
    """
    for height, c in enumerate(poles):
        for sign, marker, inside, size in ((1, "o", CYCLE[0], 4.5), (-1, "o", "none", 7.5), (0, "x", CYCLE[0], 5)):
            chosen = poles[c][np.sign(weights[c]) == sign]
            ax.plot(chosen, [height] * chosen.size, marker, color=CYCLE[0], mfc=inside, ms=size)
    ax.axvspan(-1, 1, color="0.93", zorder=0)
    ax.set_xscale("symlog", linthresh=1, linscale=1.5)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set(xlabel="pole", ylabel="channels", yticks=range(len(poles)), yticklabels=list(poles))
    ax.set_ylim(-0.6, len(poles) - 0.4)
    ax.grid(axis="x", visible=False)
    return ax


def plot_singular_values(curves: Mapping[str, np.ndarray], ax: Axes, threshold: float) -> Axes:
    """Singular values relative to the largest, by index, on a logarithmic axis; zeros are left out.

    Parameters
    ----------
    curves : label → (k,) descending. threshold : height of a dashed line, below which double precision does not count.
    """
    for i, (label, values) in enumerate(curves.items()):
        seen = values[values > 0]
        index, colour = np.arange(1, seen.size + 1), CYCLE[i // 2]
        inside, size = ("none", 7.5) if i % 2 else (colour, 3.5)
        ax.plot(index, seen / values[0], MARKERS[i // 2], color=colour, mfc=inside, ms=size, label=label)
    ax.axhline(threshold, color="0.3", linestyle="--", linewidth=0.8, label="threshold in double precision")
    ax.set(yscale="log", xlabel="index", ylabel="singular value / largest")
    ax.legend()
    return ax


def powers_of_two(ax: Axes) -> None:
    """A logarithmic axis whose ticks are powers of two."""
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter("{x:g}")


def _channels(number: int) -> str:
    return f"{number} channel" + ("s" if number > 1 else "")
