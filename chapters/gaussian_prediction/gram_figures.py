"""Singular values against eigenvalues of the Gram matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import MARKERS
from chapters.gaussian_prediction.gram import Counts


def plot_counts(counts: Counts, capacity: int, ax: Axes, title: str = "") -> Axes:
    """Squared singular values and eigenvalues of the Gram matrix on one logarithmic scale.

    Negative eigenvalues are shown as crosses at their absolute value; the vertical line stands after ``capacity``.
    """
    n = counts.eigenvalues.size
    number = np.arange(1, n + 1)
    negative = counts.eigenvalues < 0
    squares = np.square(counts.singular_values)
    ax.semilogy(number[: squares.size], np.maximum(squares, 1e-40), "-", color="C0", label="singular values, squared")
    ax.semilogy(number[~negative], counts.eigenvalues[~negative], "o", color="C1", ms=3, label="eigenvalues")
    ax.semilogy(number[negative], -counts.eigenvalues[negative], "x", color="C3", ms=4, label="negative eigenvalues")
    ax.axhline(n * np.finfo(float).eps, color="0.4", linestyle="--", linewidth=0.9, label="threshold $n\\,\\epsilon$")
    ax.axvline(capacity + 0.5, color="0.4", linestyle=":", linewidth=0.9, label="exact $\\kappa$")
    ax.set(xlabel="number", ylabel="relative to the largest", title=title, ylim=(1e-22, 5))
    return ax


def plot_missed(conditions: np.ndarray, missed: Mapping[str, tuple[Sequence[int], Sequence[int]]], ax: Axes) -> Axes:
    """Directions missed by the two counts against the condition number of the mixing.

    Parameters
    ----------
    missed : model label → (missed by the eigenvalues, missed by the singular values), each (m,).
    """
    for i, (label, (by_eigenvalues, by_singular_values)) in enumerate(missed.items()):
        look = {"color": f"C{i}", "marker": MARKERS[i % len(MARKERS)]}
        ax.semilogx(conditions, by_eigenvalues, label=label, linestyle="-", **look)
        ax.semilogx(conditions, by_singular_values, linestyle=":", markerfacecolor="none", **look)
    ax.set(xlabel="condition number of the mixing", ylabel="directions missed")
    ax.legend(loc="upper left")
    return ax
