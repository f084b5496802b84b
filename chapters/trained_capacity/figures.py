"""Figures of where trained networks spend their capacity. Capacities of digits' networks are means over ten outputs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, channel_colours
from chapters.shared.lag_figures import plot_over_lags

LOOKS: dict[str, dict[str, Any]] = {
    "linear stack": {"color": "0.35", "linestyle": "--"},
    "tanh": {"color": CYCLE[0]},
    "gated": {"color": CYCLE[1], "linestyle": "-."},
}


def plot_lags(lines: Mapping[str, np.ndarray], ax: Axes, ylabel: str) -> Axes:
    """Lines over the lags, named as in ``LOOKS``, the most recent input at the right."""
    plot_over_lags(lines, ax, None, LOOKS).set_ylabel(ylabel)
    ax.set_ylim(0, max(ax.get_ylim()[1], 1.03 * np.max([*lines.values()])))
    return ax


def plot_agreement(groups: Mapping[str, Mapping[str, Sequence[float]]], ax: Axes) -> Axes:
    """Correlations with the linear stack's profile: a row for each process, a mark for each sample, by kind.

    groups : row → kind → correlations; "random weights" has the range of its middle 90 %.
    """
    random = [np.quantile(kinds["random weights"], [0.05, 0.95]) for kinds in groups.values()]
    ax.hlines(range(len(groups)), *np.transpose(random), color="0.75", linewidth=5, label="random weights")
    for name, shift, marker, colour in (("tanh", 0.14, "o", CYCLE[0]), ("gated", -0.14, "s", CYCLE[1])):
        places = [(value, row + shift) for row, kinds in enumerate(groups.values()) for value in kinds[name]]
        ax.plot(*np.transpose(places), marker, color=colour, markersize=4, label=name)
    ax.axvline(0.9, color="0.4", linestyle=":", linewidth=0.8)
    ax.set_yticks(range(len(groups)), list(groups))
    ax.invert_yaxis()
    ax.set(xlabel="correlation with the linear stack's profile", xlim=(None, 1.02))
    return ax


def plot_courses(steps: Sequence[int], courses: Mapping[str, np.ndarray], ax: Axes, ylabel: str) -> Axes:
    """Lines over the steps of training, on a logarithmic axis, from light to dark, named at their ends."""
    colours = channel_colours(list(courses))  # type: ignore[arg-type]  # names keep their order
    for name, values in courses.items():
        ax.plot(steps, values, color=colours[name], label=name)  # type: ignore[index]
    ax.set(xscale="log", xlabel="steps of gradient descent", ylabel=ylabel, ylim=(0, None))
    return ax


def plot_groups(kinds: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """Means over seeds of (n_seeds, 8) capacities of groups of principal components, with their standard deviations."""
    looks = zip((-0.12, 0.0, 0.12), CYCLE, "os^", ("-", "--", ":"), strict=False)
    for (name, values), (shift, colour, marker, line) in zip(kinds.items(), looks, strict=False):
        look: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": line, "markersize": 4, "linewidth": 1}
        at = np.arange(1, values.shape[1] + 1) + shift
        ax.errorbar(at, values.mean(axis=0), values.std(axis=0, ddof=1), label=name, **look)
    ax.set(xlabel="principal components, in groups of eight", ylabel="mean capacity", ylim=(0, 1.05))
    return ax


def plot_predictors(found: Mapping[str, np.ndarray], names: Mapping[str, str], ax: Axes) -> Axes:
    """Sizes of rank correlations with their 95 % intervals, a row for each predictor, and what chance gives.

    found : name → (value, low, high); "chance" → (1,). names : name → label of its row.
    """
    for row, name in enumerate(names):
        value, low, high = found[name]
        colour = CYCLE[0] if row < 2 else CYCLE[1]
        ax.plot([low, high], [row, row], color=colour, linewidth=1.5)
        ax.plot([value], [row], "o" if row < 2 else "s", color=colour, markersize=5)
    ax.axvspan(0, found["chance"][0], color="0.9", zorder=0)
    ax.text(found["chance"][0] / 2, 0.5, "chance", ha="center", va="center", fontsize=8, color="0.35")
    ax.set_yticks(range(len(names)), list(names.values()))
    ax.invert_yaxis()
    ax.set(xlabel="size of the rank correlation with the share that is followed", xlim=(0, 1))
    return ax
