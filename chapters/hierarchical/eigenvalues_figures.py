"""Eigenvalues and singular values that decide a capacity (paper 1, Figure 5 left)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from capcore.plotting import MARKERS


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
