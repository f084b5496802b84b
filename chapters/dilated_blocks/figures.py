"""Figures about dilated blocks: the two stacks, the singular values behind their capacities, profiles."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from capcore.plotting import CYCLE, layer_colours
from chapters.shared.lag_figures import LAG_AXIS


def plot_stack(dilations: Sequence[int], ax: Axes) -> Axes:
    """Layers of two taps as paths from the output above down to the inputs, the most recent at the right.

    Parameters
    ----------
    dilations : of each layer, the one nearest the input first. They are named at the right; equal ones have one colour.
    """
    colours = dict(zip(sorted({*dilations}), layer_colours(len({*dilations})), strict=True))
    reached = {0}
    for l, step in reversed([*enumerate(dilations)]):
        edges = [[(at + tap, l), (at, l + 1)] for at in sorted(reached) for tap in (0, step)]
        ax.add_collection(LineCollection(edges, colors=[colours[step]], linewidths=1.1))
        ax.text(-0.8, l + 0.5, str(step), va="center")
        reached = {at + tap for at in reached for tap in (0, step)}
        ax.plot(sorted(reached), [l] * len(reached), "o", color="0.3", markersize=2)
    ax.plot(0, len(dilations), "o", color="black", markersize=4)
    ax.set(xlim=(max(reached) + 0.7, -1.8), ylim=(-0.4, len(dilations) + 0.4), yticks=[], xlabel=LAG_AXIS)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    return ax


def plot_rank_decisions(
    values: Mapping[str, np.ndarray], tolerances: Mapping[str, float], exact: Mapping[str, int], ax: Axes
) -> Axes:
    """Singular values by index, with the threshold that decides the numerical rank and the exact rank marked.

    Parameters
    ----------
    values : label → singular values, descending. tolerances : label → threshold. exact : label → exact rank.
    """
    for i, (label, singular) in enumerate(values.items()):
        x, shown = np.arange(1, len(singular) + 1), np.maximum(singular / singular[0], 1e-18)
        ax.plot(x, shown, ("-", "--")[i % 2], color=CYCLE[i])
        ax.axvline(exact[label] + 0.5, color=CYCLE[i], linestyle=":", linewidth=1)
        ax.annotate(
            f"{label}, κ = {exact[label]}", (exact[label], 0.99), (3, 0), ("data", "axes fraction"), "offset points",
            rotation=90, va="top", fontsize=8.5, color=CYCLE[i],
        )  # fmt: skip
    level = max(tolerances[label] / values[label][0] for label in values)
    ax.axhline(level, color="0.3", linestyle="--", linewidth=0.9)
    ax.annotate("threshold", (0, level), (4, 3), textcoords="offset points", fontsize=8.5)
    ax.set(yscale="log", xlabel="index", ylabel="relative to the largest", xlim=(0, 1.25 * max(exact.values())))
    ax.set(ylim=(1e-18, 1e6), yticks=[1e0, 1e-6, 1e-12, 1e-18])
    return ax


def plot_dilated_profiles(profiles: Mapping[str, np.ndarray], ax: Axes, width: int = 1) -> Axes:
    """Capacity per input over the lags, thin, with a running mean over ``width`` lags drawn thick if above 1."""
    for i, (label, values) in enumerate(profiles.items()):
        lags = np.arange(values.size, dtype=float)
        if width > 1:
            ax.plot(lags, values, color=CYCLE[i], linewidth=0.5, alpha=0.45)
            mean = np.convolve(values, np.full(width, 1 / width), mode="valid")
            lags, values = np.arange(mean.size) + (width - 1) / 2, mean
        style = ("-", "--", "-.")[i % 3]
        ax.plot(lags, values, style, color=CYCLE[i], linewidth=1.6, label=label)
    ax.set(xlabel=LAG_AXIS, ylabel="capacity", ylim=(-0.02, 1.05))
    ax.set_xlim(max(v.size for v in profiles.values()), -1)
    return ax
