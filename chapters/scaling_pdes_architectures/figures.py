"""Figures of capacity along octaves of distance, and on a plane."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.ticker import MaxNLocator

from capcore.plotting import LINES


def plot_octaves_of_distance(
    capacities: Mapping[str, np.ndarray], ax: Axes, cumulative: bool = False, limit: np.ndarray | None = None
) -> Axes:
    """Capacity of every octave of the distance from the output, or all up to it, over the share of octaves.

    Parameters
    ----------
    capacities : label → (N + 1,) what does not move, and the octaves 2^(m − 1) ≤ |x| < 2^m.
    limit : (…) law for many layers at evenly spaced shares from 0 to 1 (grey), where ``cumulative``.
    """
    if limit is not None:
        ax.plot(np.linspace(0, 1, len(limit)), limit, color="0.6", linewidth=4, alpha=0.6, label="limit of many layers")
    for i, (label, values) in enumerate(capacities.items()):
        shown = np.cumsum(values) if cumulative else values
        share = np.arange(len(values)) / (len(values) - 1)
        ax.plot(share, shown, linestyle=LINES[i % len(LINES)], label=label)
    ylabel = "capacity within the distance" if cumulative else "capacity of the octave"
    ax.set(xlabel="octave of the distance ÷ number of octaves", ylabel=ylabel)
    return ax


def plot_plane(capacity: np.ndarray, axis: np.ndarray, density: np.ndarray, ax: Axes) -> Axes:
    """Capacity on a plane as an image, with contours of a density at four levels, both around the output's position.

    Parameters
    ----------
    capacity : (n, n) with the output in the middle. axis : (m,) positions along each axis, for the density (m, m); its
        ends are those of the image.
    """
    middle, reach = capacity.shape[0] // 2, int(axis[-1])
    near = slice(middle - reach, middle + reach + 1)
    edges = (-reach - 0.5, reach + 0.5) * 2
    image = ax.imshow(capacity[near, near].T, origin="lower", extent=edges, cmap="cividis", norm=PowerNorm(0.5, vmin=0))
    levels = density.max() * np.array([0.03, 0.1, 0.3, 0.7])
    ax.contour(axis, axis, density.T, levels=levels, colors="white", linewidths=1)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="capacity")
    ax.grid(False)
    for which in (ax.xaxis, ax.yaxis):
        which.set_major_locator(MaxNLocator(5, integer=True))
    ax.set(xlabel="first axis (positions)", ylabel="second axis (positions)")
    return ax
