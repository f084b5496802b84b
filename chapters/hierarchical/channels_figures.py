"""What more channels buy: parameters, capacity and loss (paper 1, Figure 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS

STYLES = ("-", "--", "-.", ":")


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
