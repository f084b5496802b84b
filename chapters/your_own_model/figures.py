"""Figures of the reader's own model and series: curves with the uncertainty of an estimate, and what decides a rank."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LAG_LABEL, plot_profiles


def plot_with_uncertainty(
    estimate: np.ndarray,
    draws: np.ndarray,
    others: Mapping[str, np.ndarray],
    ax: Axes,
    label: str,
    ylabel: str,
    ceiling: float | None = None,
    recent_right: bool = True,
) -> Axes:
    """A curve over the lags with the central 80 % of its bootstrap draws, beside other curves.

    Parameters
    ----------
    estimate : (n,). draws : (m, n). others : label → (n,) curves without uncertainty.
    """
    low, high = np.quantile(draws, [0.1, 0.9], axis=0)
    lags = np.arange(len(estimate))
    ax.fill_between(lags, low, high, color=CYCLE[0], alpha=0.2, linewidth=0, label=f"{label}, 80 % of bootstrap")
    plot_profiles({label: estimate, **others}, ax, LAG_LABEL, ylabel, ceiling, recent_right=recent_right)
    return ax


def plot_singular_values(values: np.ndarray, tolerance: float, exact: int, ax: Axes) -> Axes:
    """The singular values that decide a numerical rank, the tolerance, and the exact rank.

    Parameters
    ----------
    values : (m,) descending. exact : number of them that are not zero in exact arithmetic.
    """
    shown = np.maximum(values, np.finfo(float).tiny ** 0.5)
    ax.semilogy(np.arange(1, len(shown) + 1), shown, "o", markersize=4, color=CYCLE[0], label="singular value")
    ax.axhline(tolerance, color=CYCLE[1], linewidth=1.2, label="tolerance (rounding)")
    ax.axvline(exact + 0.5, color="0.3", linestyle="--", linewidth=1, label="exact rank")
    ax.set(xlabel="number", ylabel="singular value of ΣJ", ylim=(tolerance / 1e4, None))
    ax.legend()
    return ax


def plot_series(values: np.ndarray, ax: Axes, ylabel: str) -> Axes:
    """A series over its own time, oldest first."""
    ax.plot(np.arange(len(values)), values, linewidth=0.7, color=CYCLE[0])
    ax.set(xlabel="time (samples)", ylabel=ylabel)
    return ax
