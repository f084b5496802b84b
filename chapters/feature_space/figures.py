"""Features, their moments, and the capacity of each of them."""

from collections.abc import Callable, Mapping
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import LINES, MARKERS
from chapters.shared.lag_figures import LAG_AXIS
from chapters.shared.process_names import process_name

BASES = {"PiecewiseLinear": "piecewise linear", "Monomials": "powers"}
"""Bases whose name is not a word, in words."""
DEGREES = ("linear", "square", "cube")
"""Polynomials by their degree."""


def plot_functions(features: Callable[[np.ndarray], np.ndarray], ax: Axes) -> Axes:
    """Every feature as a function of the input, over ±3 standard deviations.

    Parameters
    ----------
    features : takes (m,) values to (m, d) features.
    """
    y = np.linspace(-3, 3, 241)
    for j, values in enumerate(features(y).T):
        ax.plot(y, values, label=f"feature {j + 1}", linestyle=LINES[j % 4])
    ax.axhline(0, color="0.7", linewidth=0.6, zorder=0)
    ax.set(xlabel="input (standard deviations)", ylim=(-3.5, 3.5))
    return ax


def plot_feature_capacities(capacities: np.ndarray, ax: Axes) -> Axes:
    """Capacity of the polynomials of every input by degree, stacked, below their number d; latest input at the right.

    Parameters
    ----------
    capacities : (n, d) values, lag 0 first.
    """
    n, d = capacities.shape
    below = np.cumsum(capacities, axis=1) - capacities
    for j in range(d):
        hatch = ("", "///", "...", "xx")[j % 4]
        ax.bar(
            range(n), capacities[:, j], bottom=below[:, j], width=0.85, hatch=hatch, edgecolor="white", linewidth=0.3,
            label=DEGREES[j] if j < len(DEGREES) else f"degree {j + 1}",
        )  # fmt: skip
    ax.axhline(d, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel=LAG_AXIS, xlim=(n - 0.4, -0.6))
    return ax


def plot_share_columns(shares: Mapping[str, Mapping[str, float]], ax: Axes) -> Axes:
    """Shares of explained variance, one column per process and one marker per kind of predictor.

    Parameters
    ----------
    shares : kind of predictor → process → share.
    """
    for i, (label, row) in enumerate(shares.items()):
        ax.plot(range(len(row)), list(row.values()), MARKERS[i % len(MARKERS)], label=label, color=f"C{i}")
    names = list(next(iter(shares.values())))
    ax.set_xticks(range(len(names)), [fill(process_name(name), 11) for name in names], fontsize=7.5)
    ax.set(xlim=(-0.5, len(names) - 0.5), ylabel="share of variance explained")
    return ax
