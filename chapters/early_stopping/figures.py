"""Figures of what models miss of an event where training stops."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from chapters.shared.lag_figures import line_colours, plot_over_lags


def plot_missed(missed: np.ndarray, stopped: Mapping[str, Mapping[int, float]], ax: Axes) -> Axes:
    """What stopped models miss of an event, by its lag, above the missed share at the optimum.

    Parameters
    ----------
    missed : (n,) the missed share at each lag. stopped : when it stopped → lag → share of the event.
    """
    looks = {"computed at the optimum (small moves only)": {"color": "black", "linewidth": 1.2}}
    plot_over_lags(dict.fromkeys(looks, missed), ax, ceiling=None, looks=looks)
    for (name, shares), colour, marker in zip(stopped.items(), CYCLE, "osD", strict=False):
        ax.plot([*shares], [*shares.values()], marker, color=colour, markersize=5, label=name)
    ax.set(ylabel="share missed")
    return ax


def plot_training(steps: Sequence[int], missed: Mapping[str, Sequence[float]], ax: Axes) -> Axes:
    """What is missed of one event against the steps of training; one line for each model, in its own colour."""
    for (name, shares), colour in zip(missed.items(), line_colours(missed), strict=True):
        ax.plot(steps, shares, "o-", color=colour, label=name, markersize=4)
    ax.set(xscale="log", ylabel="share missed")
    return ax
