"""Figures of the reader's own trained network: a map of pixels, images with their leverages, and weight decays."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import LogLocator

from capcore.plotting import CYCLE, SIZES
from chapters.shared.intervals import Interval

SHADES = LinearSegmentedColormap.from_list("capacity", [SIZES.split()[0] + "00", *SIZES.split()])
INK = LinearSegmentedColormap.from_list("ink", ["#80808000", "#808080"])  # legible on light pages and on dark ones


def plot_map(values: np.ndarray, ax: Axes) -> Axes:
    """(64,) capacities of the pixels as an image with a colour bar."""
    shown = ax.imshow(np.reshape(values, (8, 8)), cmap=SHADES, vmin=0)
    ax.figure.colorbar(shown, ax=ax, label="capacity of the pixel", shrink=0.85)
    ax.set(xticks=[], yticks=[])
    return ax


def plot_images(images: np.ndarray, labels: Sequence[int], leverage: np.ndarray, count: int, ax: Axes) -> Axes:
    """Two rows of images (2 · count, 64), with label and leverage above each."""
    for i, (image, label, value) in enumerate(zip(images, labels, leverage, strict=True)):
        row, column = divmod(i, count)
        left, top = 10 * column, 13.5 * row
        ax.imshow(np.reshape(image, (8, 8)), cmap=INK, extent=(left, left + 8, top + 8, top))
        ax.text(left + 4, top - 0.5, f"{label}: {value:.2f}", ha="center", va="bottom", fontsize=8)
    ax.set(xlim=(-0.5, 10 * count - 1.5), ylim=(22, -3.5), xticks=[], yticks=[])
    ax.set_frame_on(False)
    return ax


def plot_choice(foretold: pd.DataFrame, n: int, trained: pd.DataFrame, axes: Sequence[Axes]) -> Sequence[Axes]:
    """Two panels over the weight decay: the total, and mean losses.

    Lines are what one of ``n`` examples foretells for other decays, by cross-entropy; dots are networks trained
    at each, rows of ``trained`` with columns "total", "training", "left out" and "tests".
    """
    left, right = axes
    foretold = foretold.loc[trained.index.min() / 1.3 : trained.index.max() * 1.3]
    left.plot(foretold.index, foretold["total"], color=CYCLE[0], label="from one network")
    left.plot(trained.index, trained["total"], "o", color=CYCLE[0], label="trained at this decay")
    left.set(xscale="log", xlabel="weight decay", ylabel="parameters that count", ylim=(0, 1.1 * left.dataLim.ymax))
    lines = {
        "training": (foretold["training"], ":", CYCLE[1]),
        "training + optimism": (foretold["training"] + foretold["total"] / n, "--", CYCLE[1]),
        "left out": (foretold["left out"], "-", CYCLE[2]),
    }
    for label, (values, style, colour) in lines.items():
        right.plot(foretold.index, values, style, color=colour, label=label)
    for name, colour in (("training", CYCLE[1]), ("left out", CYCLE[2])):
        right.plot(trained.index, trained[name], "o", color=colour)
    right.plot(trained.index, trained["tests"], "o", color="black", markersize=9, fillstyle="none", label="tests")
    least = trained["left out"].min() / 3  # below it, training losses near zero would flatten the others
    right.set(xscale="log", yscale="log", xlabel="weight decay", ylabel="mean loss", ylim=(least, None))
    right.yaxis.set(major_locator=LogLocator(subs=(1, 2, 5)), major_formatter="{x:g}", minor_formatter="")
    return axes


def plot_intervals(values: Mapping[str, Interval], ax: Axes, label: str) -> Axes:
    """Means with their intervals, the first on top; names beside the axis."""
    places = np.arange(len(values))
    means, widths = np.array([*values.values()]).T
    ax.errorbar(means, places, xerr=widths, fmt="o", color=CYCLE[0], capsize=3, markersize=5)
    ax.set(yticks=places, yticklabels=[*values], xlabel=label, xlim=(0, 1.08 * (means + widths).max()))
    ax.set_ylim(len(values) - 0.5, -0.5)
    return ax
