"""What every figure shares: the style, one legend for several axes, and capacity profiles over the inputs.

A function takes results and an axis, draws, and returns the axis. The style is in ``capcore.mplstyle``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from math import log2
from typing import Any

import numpy as np

from capcore.checks.arguments import library, positive_integer

try:
    import matplotlib.pyplot as plt
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch
    from matplotlib.ticker import FuncFormatter, MaxNLocator
except ModuleNotFoundError:
    library("matplotlib")  # its refusal says how to get it
    raise

# Okabe and Ito's colours, readable with the common colour-vision deficiencies.
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "os^Dv<>P"
LINES = ("-", "--", "-.", ":")
# Ordered things, from light to dark in even steps of lightness: channels and other sizes are cool, layers are warm.
SIZES = "#91dbb4 #50c6ad #38aaac #348fa7 #3573a1 #3b5698 #413e7d #382a54 #291930"
LAYERS = "#f7c2a2 #f6a37a #f47d57 #ef5640 #d82748 #b01759 #7f1e5a #511e4d #2d1738"


def use_style() -> None:
    """Apply ``capcore.mplstyle`` to all later figures."""
    plt.style.use(str(files("capcore") / "capcore.mplstyle"))


def channel_colours(values: Sequence[int]) -> dict[int, tuple]:
    """A colour for each number of channels, the same in all figures up to eight; also for other ordered things.

    >>> channel_colours([2, 8])[2] == channel_colours([1, 2, 4])[2]
    True
    """
    return dict(zip(values, _shades(SIZES, values), strict=True))


def layer_colours(n_layers: int) -> list[tuple]:
    """A colour for each layer, from light (nearest the input) to dark."""
    return _shades(LAYERS, range(n_layers))


def _shades(palette: str, values: Sequence[Any]) -> list[tuple]:
    """Shades from light to dark: numbers from 1 to 8 by their square roots, everything else by order."""
    given = np.array([to_rgb(colour) for colour in palette.split()])
    if len(values) and all(isinstance(number, int | np.integer) and 1 <= number <= 8 for number in values):
        places = 1 + 7 * (np.sqrt(np.asarray(values, dtype=float)) - 1) / (np.sqrt(8) - 1)
    else:
        places = np.linspace(0, len(given) - 1, len(values) + 1)[1:]
    return [tuple(float(np.interp(place, range(len(given)), part)) for part in given.T) for place in places]


def share_legend(figure: Figure, axes: Iterable[Axes], ncols: int = 4) -> Legend:
    """A legend below the figure with each label that occurs in ``axes`` once."""
    handles: dict[str, Artist] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    return figure.legend(list(handles.values()), list(handles), ncols=ncols, loc="outside lower center", frameon=False)


def axes_for(ax: Axes | None) -> Axes:
    """``ax``, or new axes."""
    return plt.subplots()[1] if ax is None else ax


def show_legend(ax: Axes, label: str | None) -> Axes:
    """Show the legend, if there is a new label in it."""
    if label is not None:
        ax.legend()
    return ax


LEAST_LOSS = 1e-32
"""A loss below is drawn there: an axis of logarithms has no zero."""
LAG_LABEL = "← past · lag · now →"


def label_inputs(ax: Axes, inputs: str, label: str = LAG_LABEL) -> None:
    """The axis of what has a capacity each: lags from the past to now, or others in their own order, by their name."""
    ax.set(xlabel=label if inputs == "lag" else inputs, ylabel="capacity")
    ax.xaxis.set_inverted(inputs == "lag")


def plot_profile(
    values: np.ndarray, ax: Axes, label: str | None, ceiling: float, inputs: str = "lag", at: Any = None, **style: Any
) -> Axes:
    """One more profile (n,) over the inputs, in another colour and another line, below the ceiling of an input.

    at : (n,) array, their places; by default 0, 1, 2, …
    """
    if not any(line.get_drawstyle() == "steps-mid" for line in ax.lines):
        ax.axhline(ceiling, color="0.4", linestyle="--", linewidth=0.8)
        label_inputs(ax, inputs)
    _add_steps(values, ax, label, style, at)
    return show_legend(ax, label)


def plot_layers(layers: Mapping[str, np.ndarray], ax: Axes, inputs: str, **style: Any) -> Axes:
    """Capacities (n,) of layers over the inputs, each on top of those before it."""
    values = np.array([*layers.values()])
    look = {"labels": [*layers], "colors": layer_colours(len(layers)), "step": "mid", **style}
    ax.stackplot(np.arange(values.shape[1]), values, **look)
    label_inputs(ax, inputs)
    return show_legend(ax, "layers")


def plot_octaves(
    values: np.ndarray, edges: np.ndarray, ax: Axes, label: str | None, inputs: str = "lag", **style: Any
) -> Axes:
    """Capacity (k,) of the octaves of lag between edges (k + 1,), on a scale on which each octave has the same width.

    Labels of ticks are powers of two, and as many as have room.
    """
    before = [patch for patch in ax.patches if isinstance(patch, StepPatch) and not patch.get_fill()]
    places = [0.0, *(1 + log2(int(edge)) for edge in edges[1:])]
    look = {"linestyle": LINES[len(before) % len(LINES)], "linewidth": 1.5, **style}
    colour = look.pop("color", f"C{len(before)}")
    ax.stairs(values, places, fill=True, color=colour, alpha=0.12, linewidth=0)
    ax.stairs(values, places, color=colour, label=label, **look)
    last = max([places[-1], *(float(patch.get_data()[1][-1]) for patch in before)])
    ax.xaxis.set_major_locator(_Powers(nbins="auto", integer=True, steps=[1, 2, 4, 8, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda place, _: _power(place)))
    ax.set_xlim(0, last)
    label_inputs(ax, inputs)
    return show_legend(ax, label)


def plot_groups(values: np.ndarray, ax: Axes, name: str, label: str | None, **style: Any) -> Axes:
    """Capacity (n,) of the groups of a subspace, in order."""
    _add_steps(values, ax, label, style)
    ax.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=True))
    ax.set(xlabel=name, ylabel="capacity")
    if min(values) >= 0:
        ax.set_ylim(bottom=0)
    return show_legend(ax, label)


def plot_image(values: np.ndarray, shape: tuple[int, int], ax: Axes, label: str | None = None, **style: Any) -> Axes:
    """Capacity of pixels as an image of ``shape`` (rows, columns), with a colour bar.

    Raises
    ------
    ValueError
        If the shape is not two whole numbers whose product is the number of values.
    """
    sides = [positive_integer(side, "shape") for side in shape] if isinstance(shape, list | tuple) else []
    if len(sides) != 2 or sides[0] * sides[1] != values.size:
        raise ValueError(f"shape: found {shape!r}, expected (rows, columns) whose product is {values.size}.")
    image = ax.imshow(np.reshape(values, sides), **{"vmin": 0.0, "interpolation": "nearest", **style})
    ax.figure.colorbar(image, ax=ax, label="capacity")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(nbins="auto", integer=True))
    ax.grid(False)
    ax.set(xlabel="column", ylabel="row", title=label or "")
    return ax


def _add_steps(values: np.ndarray, ax: Axes, label: str | None, style: Mapping[str, Any], at: Any = None) -> Line2D:
    """One more profile, by default in another line than those before."""
    before = sum(line.get_drawstyle() == "steps-mid" for line in ax.lines)
    look = {"linestyle": LINES[before % len(LINES)], **style}
    return ax.step(np.arange(len(values)) if at is None else at, values, where="mid", label=label, **look)[0]


class _Powers(MaxNLocator):
    """As many ticks as have room, at even steps of the exponent: lag 2^k is at place k + 1, and lag 0 at 0."""

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """The places, in order."""
        return [place + 1 for place in super().tick_values(vmin - 1, vmax - 1)]


def _power(place: float) -> str:
    """The lag at a place of the octaves' scale, as a power of two that needs little room.

    >>> _power(0.0), _power(1.0), _power(21.0)
    ('0', '1', '2²⁰')
    """
    exponent = round(place) - 1
    if exponent < 1:
        return str(exponent + 1)
    return "2" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def plot_comparison(models: Mapping[str, Any], least_error: float) -> Figure:
    """Error of all starts above ``least_error`` at the left, capacity of every input at the best optimum at the right.

    A band shows the range over optima that tie for the best.

    Parameters
    ----------
    models : dict
        Label → :class:`~capcore.designs.comparison.Optima`.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for i, (label, model) in enumerate(models.items()):
        look = {"color": CYCLE[i % len(CYCLE)], "linestyle": LINES[i % len(LINES)]}
        excess = np.maximum(model.excess(least_error), LEAST_LOSS)
        left.plot(range(1, len(excess) + 1), excess, MARKERS[i % len(MARKERS)], label=label, **look)
        best, least, most = model.profile
        lags = np.arange(len(best))
        right.step(lags, best, where="mid", **look)
        right.fill_between(lags, least, most, step="mid", color=look["color"], alpha=0.25, linewidth=0)
    left.set(yscale="log", xlabel="starts, by loss", ylabel="error above the best forecast")
    octaves = any(len(model.profile[0]) != model.arch.n_inputs for model in models.values())
    label_inputs(right, model.allocations[0].inputs, "octave of lag" if octaves else LAG_LABEL)
    share_legend(figure, [left])
    return figure
