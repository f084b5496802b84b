"""Figures of the reader's own model and series: curves with the uncertainty of an estimate."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from chapters.shared.lag_figures import LAG_AXIS


def plot_with_uncertainty(
    estimate: np.ndarray, draws: np.ndarray, others: Mapping, ax: Axes, ylabel: str, ceiling: float | None = None
) -> Axes:
    """A curve over the lags with the central 80% of its bootstrap draws, beside other curves; most recent at the right.

    Parameters
    ----------
    estimate : (n,). draws : (m, n). others : label → (n,) curves without uncertainty.
    """
    low, high = np.quantile(draws, [0.1, 0.9], axis=0)
    lags = np.arange(len(estimate))
    label = "80% of simulated series"
    ax.fill_between(lags, low, high, step="mid", color=CYCLE[0], alpha=0.2, linewidth=0, label=label)
    for i, (label, values) in enumerate({"measured series": estimate, **others}.items()):
        ax.step(lags, values, where="mid", color=CYCLE[i], linestyle=("-", "--")[i % 2], label=label)
    if ceiling is not None:
        ax.axhline(ceiling, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel=LAG_AXIS, ylabel=ylabel)
    ax.invert_xaxis()
    return ax
