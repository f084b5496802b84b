"""Figures about redundant parameters: which sets of layers, what freezing costs, and two designs compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from capcore.plotting import CYCLE, MARKERS

FLOOR = 1e-20  # losses below it are drawn on it


def plot_layer_sets(
    sets: Mapping[str, Sequence[Sequence[str]]],
    single: Mapping[str, Sequence[str]],
    names: Sequence[str],
    ax: Axes,
) -> Axes:
    """A column of layers for every largest redundant set of several models; members are filled and joined by a line.

    Parameters
    ----------
    sets : model → its sets of layer names. single : model → layers that are redundant on their own, drawn as open
    circles where they are not in the set. names : all layers, lowest first, from bottom to top.
    """
    x, ticks = 0.0, []
    for model, columns in sets.items():
        start = x
        for members in columns or [()]:
            rows = [y for y, name in enumerate(names) if name in members]
            alone = [y for y, name in enumerate(names) if name in single[model] and name not in members]
            others = [y for y in range(len(names)) if y not in rows and y not in alone]
            ax.plot([x] * len(others), others, ".", color="0.75", markersize=4)
            ax.plot([x] * len(alone), alone, "o", markerfacecolor="white", color=CYCLE[0], markersize=8)
            ax.plot([x] * len(rows), rows, "o-", color=CYCLE[0], markersize=8, linewidth=1.2)
            x += 1
        ticks.append(((start + x - 1) / 2, model))
        ax.axvline(x, color="0.85", linewidth=0.8)
        x += 1
    ax.set_xticks([place for place, _ in ticks], [model for _, model in ticks])
    ax.set_yticks(range(len(names)), names)
    ax.set(xlim=(-1, x - 1), ylim=(-0.6, len(names) - 0.4))
    ax.grid(visible=False)
    ax.tick_params(length=0)
    handles: list[Artist] = [
        Line2D([], [], color=CYCLE[0], marker="o", markersize=8, label="frozen together: the set is redundant"),
        Line2D([], [], color=CYCLE[0], marker="o", markersize=8, markerfacecolor="white", linestyle="",
               label="redundant alone, not with this set"),
        Line2D([], [], color="0.75", marker=".", linestyle="", label="never redundant"),
    ]  # fmt: skip
    _legend_below(ax, handles)
    return ax


def plot_loss_against_weight(
    weights: np.ndarray, losses: np.ndarray, fine: np.ndarray, unsolvable: np.ndarray, ax: Axes
) -> Axes:
    """Best loss after refitting (k,) against the frozen weight (k,), and where there is no real solution.

    Parameters
    ----------
    fine : (m,) weights on a finer grid. unsolvable : (m,) whether the discriminant is negative there: shaded.
    """
    ax.fill_between(
        fine, 0, 1, where=unsolvable, step="mid", transform=ax.get_xaxis_transform(), color=CYCLE[1], alpha=0.18,
        linewidth=0,
    )  # fmt: skip
    shown = np.maximum(losses, FLOOR)
    ax.plot(weights, shown, "o", color=CYCLE[0], markersize=3.5)
    ax.set_yscale("log")
    ax.set(xlabel="frozen weight of the second pole", ylabel="excess loss after refitting")
    ax.set(xlim=(fine[0], fine[-1]), ylim=(FLOOR / 30, 10 * max(shown.max(), FLOOR)))
    handles: list[Artist] = [
        Line2D([], [], color=CYCLE[0], marker="o", linestyle="", markersize=3.5, label="best of the refits"),
        Patch(color=CYCLE[1], alpha=0.18, label="negative discriminant: no real solution"),
    ]
    _legend_below(ax, handles)
    return ax


def plot_excesses(groups: Mapping[str, tuple[np.ndarray, np.ndarray]], ax: Axes, floor: float = 1e-8) -> Axes:
    """Excess losses of many draws, one row per group; open marks where the run was still descending.

    Parameters
    ----------
    groups : label → (excess, settled), each (n_draws,); an excess below ``floor`` is drawn on it.
    """
    for y, (excess, settled) in enumerate(groups.values()):
        shown = np.maximum(excess, floor)
        height = y + np.linspace(-0.25, 0.25, shown.size) if shown.size > 1 else np.array([float(y)])
        ax.plot(shown[settled], height[settled], MARKERS[0], color=CYCLE[0], markersize=3.5)
        ax.plot(
            shown[~settled], height[~settled], MARKERS[2], color=CYCLE[1], markersize=4.5, markerfacecolor="white"
        )  # fmt: skip
    ax.axvline(0.01, color="0.3", linestyle="--", linewidth=0.9)
    ax.set_xscale("log")
    ax.set_yticks(range(len(groups)), list(groups))
    ax.set(xlabel="loss above the optimum, relative", ylim=(len(groups) - 0.5, -0.5))
    ax.set_xlim(floor / 5, None)
    handles: list[Artist] = [
        Line2D([], [], color=CYCLE[0], marker=MARKERS[0], linestyle="", markersize=3.5, label="converged"),
        Line2D([], [], color=CYCLE[1], marker=MARKERS[2], linestyle="", markersize=4.5, markerfacecolor="white",
               label="still descending"),
        Line2D([], [], color="0.3", linestyle="--", linewidth=0.9, label="1 %"),
    ]  # fmt: skip
    _legend_below(ax, handles)
    return ax


def plot_designs(losses: Mapping[str, Mapping[str, float]], ax: Axes) -> Axes:
    """Loss at the optimum of several designs, one row per process; values below 1e-26 are drawn on that line.

    Parameters
    ----------
    losses : design → process → loss.
    """
    processes = list(next(iter(losses.values())))
    for i, (design, values) in enumerate(losses.items()):
        shown = [max(values[name], 1e-26) for name in processes]
        ax.plot(shown, np.arange(len(processes)) + 0.12 * (2 * i - 1), MARKERS[i], color=CYCLE[i], label=design)
    ax.axvline(1e-26, color="0.5", linewidth=0.8, linestyle=":")
    ax.annotate(
        "attained", (1e-26, 1), xycoords=("data", "axes fraction"), xytext=(3, 2), textcoords="offset points",
        fontsize=8, color="0.25",
    )  # fmt: skip
    ax.set_xscale("log")
    ax.set_yticks(range(len(processes)), processes)
    ax.set(xlabel="loss at the optimum", ylim=(len(processes) - 0.5, -0.5))
    _legend_below(ax, ax.get_legend_handles_labels()[0])
    return ax


def _legend_below(ax: Axes, handles: Sequence[Artist]) -> None:
    """One row of labels under the figure."""
    labels = [str(handle.get_label()) for handle in handles]
    ax.figure.legend(handles, labels, loc="outside lower center", ncols=len(handles), frameon=False)
