"""Figures of the hierarchical chapter: layers and taps, what more channels buy, eigenvalues, and capacity over lags.

Paper 1, Figures 3 to 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from capcore.architectures import Hierarchical
from capcore.plotting import CYCLE, LAG_LABEL, MARKERS

FAINT = "0.82"
STYLES = ("-", "--", "-.", ":")


def plot_architecture(
    arch: Hierarchical, ax: Axes, highlight: int = 0, n_positions: int | None = None, labels: bool = True
) -> Axes:
    """The network unrolled over time, with every input that one output sees.

    Parameters
    ----------
    arch : any hierarchical model: channels, kernel sizes and dilations are read off it.
    highlight : lag of the output whose receptive field is drawn in colour; 0 is the most recent.
    n_positions : columns drawn, by default the receptive field (and ``highlight`` more).
    labels : name the layers at the right.

    Time runs to the right. A node is a position in a layer (with all of its channels), an edge a tap.
    """
    width = arch.n_inputs + highlight if n_positions is None else n_positions
    reached = _reached(arch, highlight)
    size = float(np.clip(250 / width, 1.5, 9))
    faint: list[list[tuple[int, int]]] = []
    strong: list[list[tuple[int, int]]] = []
    for l, (taps, dilation) in enumerate(zip(arch.kernel_sizes, arch.dilations, strict=True), 1):
        for lag in range(width):
            sources = [source for source in (lag + tap * dilation for tap in range(taps)) if source < width]
            edges = [[(-source, l - 1), (-lag, l)] for source in sources]
            (strong if lag in reached[l] else faint).extend(edges)
    ax.add_collection(LineCollection(faint, colors=FAINT, linewidths=min(0.8, size / 8), zorder=1))
    ax.add_collection(LineCollection(strong, colors=CYCLE[0], linewidths=max(0.8, size / 5), zorder=2))
    for l in range(arch.n_layers + 1):
        for lags, colour in ((set(range(width)) - reached[l], FAINT), (reached[l], _node_colour(l, arch.n_layers))):
            positions = [-lag for lag in sorted(lags)]
            ax.plot(positions, [l] * len(positions), "o", ms=size, mfc=colour, mec="0.35", mew=size / 14, zorder=3)
        if labels:
            ax.text(0.8 + 0.3 * width / 16, l, _label(arch, l), va="center", fontsize=8)
    ax.set(xlim=(-width + 0.3 - width / 60, 0.6), ylim=(-0.4, arch.n_layers + 0.4), xticks=[], yticks=[])
    ax.set_xlabel("time (most recent at the right)")
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax


def _reached(arch: Hierarchical, highlight: int) -> list[set[int]]:
    """For each layer, input first, the lags that the highlighted output depends on."""
    reached = [{highlight}]
    for taps, dilation in zip(arch.kernel_sizes[::-1], arch.dilations[::-1], strict=True):
        reached.insert(0, {lag + tap * dilation for lag in reached[0] for tap in range(taps)})
    return reached


def _node_colour(layer: int, n_layers: int) -> str:
    return {0: CYCLE[0], n_layers: CYCLE[1]}.get(layer, "white")


def _label(arch: Hierarchical, layer: int) -> str:
    if layer == 0:
        return "input" if arch.input_dim == 1 else f"input, {arch.input_dim} components"
    name = "output" if layer == arch.n_layers else f"hidden, {_count(arch.channels[layer - 1], 'channel')}"
    return f"{name}\n{arch.kernel_sizes[layer - 1]} taps, dilation {arch.dilations[layer - 1]}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("s" if number > 1 else "")


def plot_parametrisation(
    width: np.ndarray, n_params: np.ndarray, capacity: np.ndarray, n_inputs: int, ax: Axes
) -> Axes:
    """Number of parameters and exact capacity against the number of channels, with the number of inputs."""
    ax.plot(width, n_params, color=CYCLE[0], marker="o", label="# parameters")
    ax.plot(width, capacity, color=CYCLE[1], marker="s", label="κ")
    ax.axhline(n_inputs, color="0.3", linestyle="--", linewidth=1, label="# inputs")
    ax.set(xscale="log", yscale="log", xlabel="channels", title="parametrisation")
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
        style = STYLES[i % len(STYLES)]
        ax.plot(x, loss, color=CYCLE[i], marker=MARKERS[i], linestyle=style, label=label)
    if n_inputs is not None:
        ax.axvline(n_inputs, color="0.3", linestyle="--", linewidth=1, label="# inputs")
    if benchmark is not None:
        ax.axhline(benchmark[1], color="0.3", linestyle=":", linewidth=1.2, label=benchmark[0])
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel="loss  $L = \\hat v - v^*$")
    ax.legend()
    return ax


def plot_histories(curves: Mapping[str, np.ndarray], ax: Axes, styles: Mapping[str, str] | None = None) -> Axes:
    """Loss against iteration, both logarithmic; iteration k stands at k + 1.

    Parameters
    ----------
    curves : label → (iterations + 1,) losses. A label that begins with "_" is drawn without a legend entry.
    styles : label → Matplotlib format, such as "C1--".
    """
    for i, (label, history) in enumerate(curves.items()):
        style = styles[label] if styles else f"C{i % len(CYCLE)}"
        ax.plot(np.arange(1, len(history) + 1), history, style, linewidth=1.2, label=label)
    ax.set(xscale="log", yscale="log", xlabel="iteration", ylabel="loss")
    ax.legend()
    return ax


def plot_spread(groups: Mapping[str, Mapping[int, Sequence[float]]], ax: Axes, ylabel: str) -> Axes:
    """Points by number of channels, evenly spaced; each label has its marker and a place beside the others'.

    Parameters
    ----------
    groups : label → channels → values, drawn on a logarithmic axis.
    """
    channels = sorted({c for group in groups.values() for c in group})
    for i, (label, group) in enumerate(groups.items()):
        place = {c: k + 0.24 * (i - (len(groups) - 1) / 2) for k, c in enumerate(channels)}
        points = [(place[c], value) for c, values in group.items() for value in values]
        ax.plot(*zip(*points, strict=True), MARKERS[i], mfc="none", ms=5, color=CYCLE[i], label=label)
    ax.set(yscale="log", xlabel="channels", ylabel=ylabel, xticks=range(len(channels)), xticklabels=channels)
    if len(groups) > 1:
        ax.legend()
    return ax


def legend_below(ax: Axes, *others: Axes, side: str = "center", ncols: int = 2) -> Axes:
    """The legend of ``ax`` moved below the figure, to one ``side`` of it; those of ``others`` removed.

    Parameters
    ----------
    side : left, center or right.
    """
    for each in (ax, *others):
        each.legend().remove()
    figure: Any = ax.get_figure()
    figure.legend(*ax.get_legend_handles_labels(), loc=f"outside lower {side}", ncols=ncols, fontsize=7.5)
    return ax


def plot_eigenvalues(
    spectra: Mapping[str, np.ndarray],
    ax: Axes,
    threshold: float | None = None,
    colours: Mapping[str, object] | None = None,
    ylabel: str = "eigenvalue (modulus)",
) -> Axes:
    """Moduli on a logarithmic axis, in the order given: filled where positive, hollow where negative.

    Parameters
    ----------
    spectra : label → (m,) values, descending. threshold : height of a dashed line. Zeros are not drawn.
    """
    for i, (label, values) in enumerate(spectra.items()):
        rank = np.arange(1, len(values) + 1)
        colour = colours[label] if colours else f"C{i}"
        marker = MARKERS[i % len(MARKERS)]
        positive, negative = values > 0, values < 0
        ax.plot(rank[positive], values[positive], marker, ms=3, color=colour, label=label)
        ax.plot(rank[negative], -values[negative], marker, ms=3, mfc="none", mec=colour, mew=0.7)
    if threshold is not None:
        ax.axhline(threshold, color="0.3", linestyle="--", linewidth=1)
    ax.set(yscale="log", xlabel="rank", ylabel=ylabel)
    ax.legend(loc="lower left")
    return ax


def plot_counts(excess: Mapping[str, np.ndarray], ax: Axes, colours: Mapping[str, object] | None = None) -> Axes:
    """How often each whole number occurs, as groups of bars; one bar per label.

    Parameters
    ----------
    excess : label → (m,) whole numbers.
    """
    for i, (label, numbers) in enumerate(excess.items()):
        values, times = np.unique(numbers, return_counts=True)
        width = 0.8 / len(excess)
        offset = (i - (len(excess) - 1) / 2) * width
        colour = colours[label] if colours else f"C{i}"
        ax.bar(
            values + offset, times / numbers.size, width, color=colour, label=label, hatch=("", "//", "..", "xx")[i % 4]
        )
    ax.set(ylabel="share of orders")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if excess:
        ax.legend()
    return ax


def plot_skyline(profiles: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """Profiles one before the other, like mountain ranges: the first in front, what each later one adds above it.

    Parameters
    ----------
    profiles : label → (n,) capacities, lag 0 first; the labels stand in a key at the right, the first at the bottom.

    Where a profile falls below an earlier one it is hidden.
    """
    import seaborn as sns  # see channel_colours

    shades = sns.color_palette("mako", len(profiles) + 2)[1:-1]
    for i, (label, values) in reversed(list(enumerate(profiles.items()))):
        edges = np.arange(len(values) + 1) - 0.5
        heights = np.append(values, values[-1])
        ax.fill_between(edges, 0, heights, step="post", color=shades[i], linewidth=0)
        ax.step(edges, heights, where="post", color="white", linewidth=0.5)
        bottom = (i + 0.3) / len(profiles)
        ax.add_patch(
            Rectangle(
                (1.015, bottom), 0.025, 0.7 / len(profiles), transform=ax.transAxes, clip_on=False, color=shades[i]
            )
        )
        ax.text(1.05, bottom + 0.35 / len(profiles), label, va="center", fontsize=8.5, transform=ax.transAxes)
    ax.set(xlabel=LAG_LABEL, ylabel="capacity", xlim=(len(values) - 0.5, -0.5), ylim=(0, 1))
    ax.grid(False)
    return ax


def plot_by_digits(
    profile: np.ndarray, counts: np.ndarray, ax: Axes, reference: tuple[str, np.ndarray] | None = None
) -> Axes:
    """Capacity of each lag as a stem, marked by the number of digits of the lag that are not zero.

    Parameters
    ----------
    profile : (n,) capacities. counts : (n,) whole numbers. reference : label and (n,) values of a thin curve.
    """
    lags = np.arange(len(profile))
    if reference is not None:
        ax.plot(lags, reference[1], color="0.55", linewidth=0.9, label=reference[0], zorder=1)
    for group, label in ((0, "no digit"), (1, "one digit"), (2, "two digits"), (3, "three or more")):
        chosen = counts == group if group < 3 else counts >= 3
        if chosen.any():
            ax.vlines(lags[chosen], 0, profile[chosen], color=CYCLE[group], linewidth=1, zorder=2)
            ax.plot(lags[chosen], profile[chosen], MARKERS[group], ms=4.5, color=CYCLE[group], label=label, zorder=3)
    ax.set(xlabel=LAG_LABEL, ylabel="capacity", ylim=(0, 1.05))
    ax.invert_xaxis()
    ax.legend(title="digits that are not 0")
    return ax


def plot_digit_grid(profile: np.ndarray, kernel_sizes: Sequence[int], ax: Axes, split: int | None = None) -> Axes:
    """The profile as a grid: recent digits of the lag (layers up to ``split``) across, older digits down.

    Parameters
    ----------
    profile : (n,) capacities, lag 0 first. kernel_sizes : n_1 … n_L. split : 1 … L − 1, by default the middle.
    """
    layer = len(kernel_sizes) // 2 if split is None else split
    across = int(np.prod(kernel_sizes[:layer], dtype=int))
    ax.imshow(np.reshape(profile, (-1, across)), vmin=0, vmax=1, aspect="equal")
    ax.set(xlabel=f"lag modulo {across}", ylabel=f"⌊lag / {across}⌋")
    ax.grid(False)
    return ax
