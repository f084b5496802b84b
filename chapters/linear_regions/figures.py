"""Figures of linear regions: the polygons of a slice, and counts against a quantity that they should follow."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.path import Path
from matplotlib.ticker import LogLocator
from scipy.ndimage import distance_transform_edt

from capcore.plotting import CYCLE, LINES
from chapters.kit.pictures import KEPT
from chapters.shared.complexity import SlicePartition

MARKERS = "osD^vP*"
PALE = (
    "#DCE9F5", "#F7E0D0", "#D5EEE3", "#F3DDEB", "#F9EBC8", "#DDF0FA", "#E4E4E4", "#FFFFFF", "#CFCFEA", "#E9D9C6",
)  # fmt: skip


def plot_partition(partition: SlicePartition, ax: Axes, points: Mapping[str, np.ndarray]) -> Axes:
    """The polygons of a slice, shaded by the class of the largest logit in the middle, with named points on it.

    The number of every class stands where its area is widest, if there is room.

    Parameters
    ----------
    points : label → (u, v), such as the three images that span the slice.
    """
    middles = np.array([polygon.mean(axis=0) for polygon in partition.polygons])
    logits = partition.maps[:, 0] + np.einsum("ra,rao->ro", middles, partition.maps[:, 1:])
    winner = logits.argmax(axis=1)
    style = {"facecolors": np.array(PALE)[winner % 10], "edgecolors": "0.25", "linewidths": 0.35, "gid": KEPT}
    ax.add_collection(PolyCollection(partition.polygons, **style))
    for label, (u, v) in points.items():
        ax.plot(u, v, "o", color=CYCLE[1], markersize=5, markeredgecolor="white", zorder=3)
        ax.annotate(label, (u, v), (4, 4), textcoords="offset points", fontsize=9, fontweight="bold", zorder=4)
    for k, (u, v) in _widest(partition, winner, np.array(list(points.values()))).items():
        box = {"facecolor": "white", "edgecolor": "0.6", "linewidth": 0.5, "boxstyle": "square,pad=0.2"}
        ax.text(u, v, str(k), color="0.2", fontsize=7, ha="center", va="center", zorder=2.5, bbox=box)
    ax.set(aspect="equal", xlim=_span(partition.outline[:, 0]), ylim=_span(partition.outline[:, 1]))
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    return ax


def _widest(partition: SlicePartition, winner: np.ndarray, points: np.ndarray) -> dict[int, np.ndarray]:
    """Class → (2,) the middle of the largest disc on its area that meets no point's label, on a grid of 100 × 100."""
    n = 100
    spans = [_span(partition.outline[:, i]) for i in (0, 1)]
    axes = [low + (np.arange(n) + 0.5) * (high - low) / n for low, high in spans]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    owner = np.full((n, n), -1)
    for polygon, k in zip(partition.polygons, winner, strict=True):
        box = tuple(
            slice(*np.searchsorted(at, (low, high)))
            for at, low, high in zip(axes, polygon.min(axis=0), polygon.max(axis=0), strict=True)
        )
        inside = Path(polygon).contains_points(grid[box].reshape(-1, 2)).reshape(grid[box].shape[:2])
        owner[box][inside] = k
    reach = 0.12 * max(high - low for low, high in spans)
    for point in points:
        owner[np.linalg.norm(grid - point, axis=-1) < reach] = -1
    widest = {}
    for k in np.unique(owner[owner >= 0]):
        depth = distance_transform_edt(np.pad(owner == k, 1))[1:-1, 1:-1]
        if depth.max() > 0.04 * n:
            widest[int(k)] = grid[np.unravel_index(depth.argmax(), depth.shape)]
    return widest


def _span(values: np.ndarray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def plot_counts(
    x: Sequence[float],
    groups: Mapping[str, np.ndarray],
    ax: Axes,
    xlabel: str,
    ylabel: str,
    references: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    start: int = 0,
    joined: bool = True,
) -> Axes:
    """Means over networks against x, both on logarithmic axes, with 95 % of the scatter of the mean as bars.

    Parameters
    ----------
    groups : label → (n_x, n_networks).
    references : label → (x, y) of lines to compare with, drawn thin.
    start : where the groups begin in the colours and markers, for a second call on the same axis.
    joined : whether lines join the points; not where a law is drawn through them.
    """
    for i, (label, values) in enumerate(groups.items(), start):
        error = 2 * values.std(axis=1, ddof=1) / values.shape[1] ** 0.5
        style = (LINES[i % 4] if joined else "") + MARKERS[i % 7]
        ax.errorbar(x, values.mean(axis=1), error, fmt=style, color=CYCLE[i], linewidth=1.3, label=label)
    for i, (label, (at, line)) in enumerate((references or {}).items()):
        ax.plot(at, line, color="0.35", linewidth=1, linestyle=(":", "--")[i % 2], label=label)
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    ax.set_xticks(list(x), [_tick(value) for value in x])
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.minorticks_off()
    return ax


def _tick(value: float) -> str:
    """A number below 1 as a fraction, which is shorter."""
    return f"1/{1 / value:g}" if 0 < value < 1 and float(1 / value).is_integer() else f"{value:g}"


def plot_training(epochs: Sequence[int], groups: Mapping[str, np.ndarray], ax: Axes, ylabel: str) -> Axes:
    """Means with 95 % intervals (2, n_epochs) over epochs, one line per group, from the start on a broken axis.

    Parameters
    ----------
    groups : label → (mean, half-width of the interval), each (n_epochs,).
    """
    at = np.arange(len(epochs))
    for i, (label, (mean, half)) in enumerate(groups.items()):
        ax.errorbar(at, mean, half, fmt=LINES[i] + MARKERS[i], color=CYCLE[i], linewidth=1.3, label=label)
    ax.set_xticks(at, [str(epoch) for epoch in epochs])
    ax.set(xlabel="epochs of training", ylabel=ylabel, ylim=(0, None))
    return ax
