"""Figures of many measures of the same networks: what training does to each, and which go together."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from capcore.plotting import CYCLE, MARKERS
from chapters.kit.phone import when_narrow

Ratios = Mapping[str, tuple[float, float, float]]
"""Measure → a ratio, and both ends of its interval."""
STYLES = {
    "true labels": (CYCLE[0], "o", True),
    "shuffled labels": (CYCLE[1], "s", False),
    "at the end": (CYCLE[2], "D", True),
    "at equal training loss": ("0.15", "v", False),
}
"""Group of ratios → colour, marker, and whether it is filled."""
LABELS = {"right": ("true labels", CYCLE[0], "-", "o"), "shuffled": ("shuffled labels", CYCLE[1], "--", "s")}
"""Kind of labels → its name, colour, line and marker."""


def plot_ratios(
    groups: Mapping[str, Ratios], labels: Mapping[str, str], ax: Axes, xlabel: str, ticks: Sequence[float]
) -> Axes:
    """Ratios with their intervals on a logarithmic axis: measures downwards, one mark for each of two groups.

    Parameters
    ----------
    groups : one of ``STYLES`` → measure → mean, low and high end; a measure that is missing is left out.
    labels : measure → label of its row.
    """
    for i, (group, values) in enumerate(groups.items()):
        colour, marker, filled = STYLES[group]
        rows = [(row, *values[name]) for row, name in enumerate(labels) if name in values]
        at, mean, low, high = np.array(rows).T
        heights = at + 0.22 * (i - (len(groups) - 1) / 2)
        look: dict[str, Any] = {"color": colour, "mfc": colour if filled else "white", "ms": 3, "lw": 1.2}
        ax.errorbar(mean, heights, xerr=[mean - low, high - mean], fmt=marker, label=group, **look)
    ax.axvline(1, color="0.5", linewidth=0.8, linestyle=":")
    ax.set_xscale("log")
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.xaxis.minorticks_off()
    ax.set_yticks(range(len(labels)), list(labels.values()))
    ax.set(xlabel=xlabel, ylim=(len(labels) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    return ax


def plot_against_loss(kinds: Mapping[str, Mapping[str, np.ndarray]], measure: str, ax: Axes, ylabel: str) -> Axes:
    """A measure against the training loss, both geometric means over seeds: a line with a mark for each snapshot.

    The loss falls to the right, as training goes. Dotted: where training on shuffled labels ends.
    """
    for kind, table in kinds.items():
        label, colour, line, marker = LABELS[kind]
        loss, value = (np.exp(np.log(table[name]).mean(axis=1)) for name in ("loss", measure))
        ax.plot(loss, value, line, marker=marker, mfc="white", color=colour, label=label)
    ax.axvline(loss[-1], color="0.3", linewidth=0.9, linestyle=":")
    ax.set(xscale="log", yscale="log", xlabel="training loss (nats)", ylabel=ylabel)
    ax.xaxis.set_inverted(True)
    return ax


def plot_correlations(rho: np.ndarray, clear: np.ndarray, ax: Axes, frame: Sequence[Sequence[int]]) -> AxesImage:
    """Rank correlations (k, k) below the diagonal: blue above 0, red below it, and a grey dot where unclear.

    Parameters
    ----------
    clear : where a colour is shown. frame : rows and columns, without a gap, of the block with a frame.
    """
    shown = np.where(np.tril(np.ones(rho.shape), -1) * (clear != 0), rho, np.nan)
    image = ax.imshow(shown, cmap="RdBu", vmin=-1, vmax=1)
    i, j = np.nonzero(np.tril(clear == 0, -1))
    ax.plot(j, i, "o", color="0.65", markersize=2)
    rows, columns = frame
    corner = min(columns) - 0.5, min(rows) - 0.5
    ax.add_patch(Rectangle(corner, len(columns), len(rows), fill=False, edgecolor="0.1", linewidth=1.4))
    ax.set_xticks(range(len(rho)), [str(k + 1) for k in range(len(rho))], fontsize=7)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    return image


def plot_plane(training: Ratios, labels: Ratios, groups: Mapping[str, Sequence[str]], ax: Axes) -> Axes:
    """Measures in the plane of two ratios with their intervals: what training adds, and what memorising adds to that.

    Parameters
    ----------
    training : measure → mean, low and high of its end over its start. labels : the same of shuffled over true labels.
    groups : name → its measures, which share a colour and a mark; the name stands at the first of them.
    """
    for i, (group, names) in enumerate(groups.items()):
        x, y = (np.array([one[name] for name in names]).T for one in (labels, training))
        down, across = [y[0] - y[1], y[2] - y[0]], [x[0] - x[1], x[2] - x[0]]
        ax.errorbar(x[0], y[0], down, across, fmt=MARKERS[i], color=CYCLE[i], markersize=5, linewidth=1, capsize=0)
        inwards = not 1.2 < x[0][0] < 20  # at either edge of the picture the name stands at the left
        side, up = "right" if inwards else "left", "bottom" if inwards or y[0][0] > 1 else "top"
        place = (-8 if inwards else 7, 4 if up == "bottom" else -4)
        ax.annotate(group, (x[0][0], y[0][0]), place, textcoords="offset points", ha=side, va=up, color=CYCLE[i])
    ax.axhline(1, color="0.5", linewidth=0.8, linestyle=":")
    ax.axvline(1, color="0.5", linewidth=0.8, linestyle=":")
    ax.set(xscale="log", yscale="log", xlabel="shuffled over true labels, at the end")
    ax.set_ylabel("end over start, true labels")
    for height, text, side in ((0.98, "rises", "top"), (0.02, "falls", "bottom")):
        ax.text(0.02, height, text, color="0.3", va=side, transform=ax.transAxes)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
    ax.margins(0.1)
    ax.set_xlim(left=0.35)
    when_narrow(ax.figure, lambda: ax.set_xlim(left=0.15))  # room for the names at the left
    return ax
