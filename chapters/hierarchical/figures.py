"""Figures of the chapter on dilated stacks: the address of a lag, capacity over lags, and what more channels buy.

Paper 1, Figures 3 to 5.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.text import Text

from capcore.architectures import Hierarchical
from capcore.plotting import CYCLE, LAG_LABEL, LINES, MARKERS, channel_colours, layer_colours
from chapters.hierarchical.study import digits
from chapters.kit.phone import when_narrow

ROUNDING = 1e-28  # squares of coefficients' rounding errors, summed over tens of inputs, stay below it


def shade_rounding(ax: Axes) -> Axes:
    """A band, with its name, over the losses of a logarithmic axis that are rounding; nothing where there are none.

    The axis ends at the same height whatever the rounding was.
    """
    if ax.get_ylim()[0] < ROUNDING:
        low, highest = ROUNDING * 1e-6, max(float(ax.dataLim.ymax), ROUNDING)
        ax.axhspan(low, ROUNDING, color="0.92", zorder=0)
        ax.set_ylim(low, highest * (highest / low) ** 0.03)
        ax.annotate(
            "rounding", (0.02, ROUNDING), (0, -4), ("axes fraction", "data"), "offset points",
            va="top", fontsize=8, color="0.3",
        )  # fmt: skip
    return ax


def plot_address(arch: Hierarchical, lag: int, ax: Axes) -> Axes:
    """The paths of taps from the output down to every input, the one that leads to ``lag`` in bold with its taps named.

    Time runs to the right. A node is a position in a layer (with all of its channels), an edge a tap.
    """
    colours = [(), *layer_colours(arch.n_layers)]
    path = np.concatenate([[0], np.cumsum(np.array(arch.dilations) * digits(arch.kernel_sizes)[lag])])
    path = lag - path  # where the path stands above so many layers
    reached = {0}
    for l in range(arch.n_layers, 0, -1):
        steps = [tap * arch.dilations[l - 1] for tap in range(arch.kernel_sizes[l - 1])]
        edges = [[(at + step, l - 1), (at, l)] for at in sorted(reached) for step in steps]
        ax.add_collection(LineCollection(edges, colors=[colours[l]], linewidths=0.8, zorder=2))
        ax.plot([path[l - 1], path[l]], [l - 1, l], color=colours[l], linewidth=3.5, solid_capstyle="round", zorder=3)
        tap = (path[l - 1] - path[l]) // arch.dilations[l - 1]
        text = ax.text(-1.5, l - 0.5, f"dilation {arch.dilations[l - 1]}, tap {tap}", va="center")
        when_narrow(ax.figure, partial(text.set_text, f"{arch.dilations[l - 1]}: tap {tap}"))
        reached = {at + step for at in reached for step in steps}
    ax.plot(sorted(reached), [0] * len(reached), "|", color="0.3", markersize=5, zorder=1)
    ax.plot(0, arch.n_layers, "o", color="black", markersize=5, zorder=4)
    ax.text(-1.5, arch.n_layers, "output", va="bottom")
    ax.set(ylim=(-0.3, arch.n_layers + 0.3), yticks=[], ylabel="inputs below, output above")
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.tick_params(bottom=False, labelbottom=False)
    return ax


def plot_addressed(profile: np.ndarray, kernel_sizes: Sequence[int], ax: Axes) -> Axes:
    """A profile over the lags; those with at most one digit other than 0 in colour, with all of their digits."""
    colours = layer_colours(len(kernel_sizes))
    edges = np.arange(len(profile) + 1) - 0.5
    ax.stairs(profile, edges, fill=True, color="0.85")
    texts: list[Text] = []
    for lag, taps in enumerate(digits(kernel_sizes)):
        if np.count_nonzero(taps) <= 1:
            colour = colours[int(np.argmax(taps))] if taps.any() else "black"
            ax.stairs(profile[[lag]], edges[lag : lag + 2], fill=True, color=colour)
            address = "".join(map(str, taps[::-1]))
            texts.append(ax.text(lag, profile[lag] + 0.03, address, rotation=90, ha="center", va="bottom", fontsize=7))
    _spread(texts, len(profile) / 42)
    when_narrow(ax.figure, lambda: _spread(texts, len(profile) / 22))
    ax.set(xlabel=LAG_LABEL, ylabel="capacity", xlim=(edges[-1], edges[0]), ylim=(0, 1.45), yticks=[0, 0.5, 1])
    return ax


def _spread(texts: Sequence[Text], apart: float) -> None:
    """Push texts, sorted by where they stand, to both sides until none is closer than ``apart`` to the next."""
    places = [text.get_position()[0] for text in texts]
    for i in [*range(len(places) - 1)] * 50:
        push = max(apart - places[i + 1] + places[i], 0) / 2
        places[i], places[i + 1] = places[i] - push, places[i + 1] + push
    for text, place in zip(texts, places, strict=True):
        text.set_x(place)


def plot_lines(profiles: Mapping[str, np.ndarray], ax: Axes, colours: Mapping[str, object], xlabel: str = "") -> Axes:
    """One line per profile; without ``xlabel`` over the lags, the most recent at the right."""
    for label, values in profiles.items():
        ax.step(np.arange(len(values)), values, where="mid", color=colours[label], label=label)
    ax.set(xlabel=xlabel or LAG_LABEL, ylabel="capacity", ylim=(0, 1.05))
    if not xlabel:
        ax.set_xlim(len(values) - 0.5, -0.5)
    ax.legend()
    return ax


def plot_parametrisation(width: np.ndarray, n_params: np.ndarray, kappa: np.ndarray, n_inputs: int, ax: Axes) -> Axes:
    """Number of parameters and exact capacity against the number of channels, with the number of inputs."""
    ax.plot(width, n_params, color=CYCLE[0], label="# parameters")
    ax.plot(width, kappa, color=CYCLE[1], linestyle="--", label="capacity κ")
    ax.axhline(n_inputs, color="0.3", linestyle=":", linewidth=1.2, label="# inputs")
    ax.set(xscale="log", yscale="log", xlabel="channels")
    ax.legend()
    return ax


def plot_losses(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    ax: Axes,
    xlabel: str = "channels",
    benchmark: tuple[str, float] | None = None,
    n_inputs: int | None = None,
    band: tuple[str, Sequence[float], Sequence[float], Sequence[float]] | None = None,
) -> Axes:
    """Losses on two logarithmic axes.

    Parameters
    ----------
    curves : label → (x, loss). benchmark : label and height of a horizontal line.
    n_inputs : where to draw the vertical line "# inputs". band : label, x, lower and upper ends of a shaded band.
    """
    if band is not None:
        label, x, lower, upper = band
        ax.fill_between(x, lower, upper, color="0.75", linewidth=0, label=label)
    for i, (label, (x, loss)) in enumerate(curves.items()):
        ax.plot(x, loss, color=CYCLE[i], marker=MARKERS[i], linestyle=LINES[i % len(LINES)], label=label)
    if n_inputs is not None:
        ax.axvline(n_inputs, color="0.3", linestyle="--", linewidth=1, label="# inputs")
    if benchmark is not None:
        ax.axhline(benchmark[1], color="0.3", linestyle=":", linewidth=1.2, label=benchmark[0])
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel="loss  $L = \\hat v - v^*$")
    ax.legend()
    return shade_rounding(ax)


def plot_histories(curves: Mapping[str, np.ndarray], ax: Axes, styles: Mapping[str, str]) -> Axes:
    """Loss against iteration, both logarithmic; iteration k stands at k + 1.

    Parameters
    ----------
    curves : label → (iterations + 1,) losses.
    styles : label → Matplotlib format, such as "C1--".
    """
    for label, history in curves.items():
        ax.plot(np.arange(1, len(history) + 1), history, styles[label], linewidth=1.2, label=label)
    ax.set(xscale="log", yscale="log", xlabel="iteration", ylabel="loss")
    ax.legend()
    return shade_rounding(ax)


def legend_below(ax: Axes, *others: Axes, ncols: int) -> Axes:
    """The legend of ``ax`` moved below the figure; those of ``others`` removed."""
    for axes in (ax, *others):
        axes.legend().remove()
    figure: Any = ax.get_figure()
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=ncols, fontsize=7.5)
    return ax


def plot_eigenvalues(spectra: Mapping[str, np.ndarray], ax: Axes, threshold: float, colours: Mapping[str, Any]) -> Axes:
    """Moduli on a logarithmic axis, in the order given: filled where positive, hollow where negative.

    Parameters
    ----------
    spectra : label → (m,) values, descending. threshold : height of a dashed line. Zeros are not drawn.
    """
    for i, (label, values) in enumerate(spectra.items()):
        rank = np.arange(1, len(values) + 1)
        marker, positive, negative = MARKERS[i % len(MARKERS)], values > 0, values < 0
        ax.plot(rank[positive], values[positive], marker, ms=3, color=colours[label], label=label)
        ax.plot(rank[negative], -values[negative], marker, ms=3, mfc="none", mec=colours[label], mew=0.7)
    ax.axhline(threshold, color="0.3", linestyle="--", linewidth=1)
    ax.set(yscale="log", xlabel="rank")
    return ax


def plot_bars(profiles: Mapping[str, np.ndarray], axes: Sequence[Axes]) -> Sequence[Axes]:
    """A profile in each panel, the most recent lag at the right.

    Parameters
    ----------
    profiles : title → (n,) capacities, lag 0 first; titles begin with the number of channels. axes : one each.
    """
    colours = channel_colours([int(title.split()[0]) for title in profiles])
    for (title, values), colour, ax in zip(profiles.items(), colours.values(), axes, strict=True):
        ax.stairs(values, np.arange(len(values) + 1) - 0.5, fill=True, color=colour)
        ax.set(title=title, ylabel="capacity", xlim=(len(values) - 0.5, -0.5), ylim=(0, 1.05), yticks=[0, 0.5, 1])
    axes[-1].set_xlabel(LAG_LABEL)
    return axes


def plot_digit_grid(profile: np.ndarray, kernel_sizes: Sequence[int], ax: Axes, named: Sequence[int] = ()) -> Axes:
    """The profile as a grid: low digits of the lag across, older ones down; ``named`` lags stand in their cells."""
    across = int(np.prod(kernel_sizes[: len(kernel_sizes) // 2], dtype=int))
    ax.imshow(np.reshape(profile, (-1, across)), vmin=0, vmax=1, aspect="equal")
    for lag in named:
        colour = "white" if profile[lag] < 0.6 else "black"
        ax.text(lag % across, lag // across, str(lag), color=colour, ha="center", va="center", fontsize=8)
    ax.set(xlabel=f"low digits: lag modulo {across}", ylabel=f"high digits: ⌊lag / {across}⌋")
    ax.grid(visible=False)
    return ax


def add_shares(older: np.ndarray, recent: np.ndarray, ax: Axes) -> Axes:
    """Shares of the rows and of the columns of a grid, as bars along its right and its upper edge."""
    right, above = ax.inset_axes((1.02, 0, 0.12, 1), sharey=ax), ax.inset_axes((0, 1.02, 1, 0.12), sharex=ax)
    right.barh(np.arange(older.size), older, color="0.5")
    above.bar(np.arange(recent.size), recent, color="0.5")
    for axes in (right, above):
        axes.axis("off")
    return ax
