"""Capacity over lags: how larger models fill up the past, and the grid of digits behind the peaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from capcore.plotting import CYCLE, LAG_LABEL, MARKERS


def plot_skyline(profiles: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """Profiles one before the other, like mountain ranges: the first in front, what each later one adds above it.

    Parameters
    ----------
    profiles : label → (n,) capacities, lag 0 first; the labels stand in a key at the right, the first at the bottom.

    Where a profile falls below an earlier one it is hidden.
    """
    import seaborn as sns  # see channel_colours

    shades = sns.color_palette("mako", len(profiles) + 2)[1:-1]
    for i, (label, values) in reversed(list(enumerate(profiles.items()))):
        edges = np.arange(len(values) + 1) - 0.5
        heights = np.append(values, values[-1])
        ax.fill_between(edges, 0, heights, step="post", color=shades[i], linewidth=0)
        ax.step(edges, heights, where="post", color="white", linewidth=0.5)
        bottom = (i + 0.3) / len(profiles)
        ax.add_patch(
            Rectangle(
                (1.015, bottom), 0.025, 0.7 / len(profiles), transform=ax.transAxes, clip_on=False, color=shades[i]
            )
        )
        ax.text(1.05, bottom + 0.35 / len(profiles), label, va="center", fontsize=8.5, transform=ax.transAxes)
    ax.set(xlabel=LAG_LABEL, ylabel="capacity", xlim=(len(values) - 0.5, -0.5), ylim=(0, 1))
    ax.grid(False)
    return ax


def plot_by_digits(
    profile: np.ndarray, counts: np.ndarray, ax: Axes, reference: tuple[str, np.ndarray] | None = None
) -> Axes:
    """Capacity of each lag as a stem, marked by the number of digits of the lag that are not zero.

    Parameters
    ----------
    profile : (n,) capacities. counts : (n,) whole numbers. reference : label and (n,) values of a thin curve.
    """
    lags = np.arange(len(profile))
    if reference is not None:
        ax.plot(lags, reference[1], color="0.55", linewidth=0.9, label=reference[0], zorder=1)
    for group, label in ((0, "no digit"), (1, "one digit"), (2, "two digits"), (3, "three or more")):
        chosen = counts == group if group < 3 else counts >= 3
        if chosen.any():
            ax.vlines(lags[chosen], 0, profile[chosen], color=CYCLE[group], linewidth=1, zorder=2)
            ax.plot(lags[chosen], profile[chosen], MARKERS[group], ms=4.5, color=CYCLE[group], label=label, zorder=3)
    ax.set(xlabel=LAG_LABEL, ylabel="capacity", ylim=(0, 1.05))
    ax.invert_xaxis()
    ax.legend(title="digits that are not 0")
    return ax


def plot_digit_grid(profile: np.ndarray, kernel_sizes: Sequence[int], ax: Axes, split: int | None = None) -> Axes:
    """The profile as a grid: recent digits of the lag (layers up to ``split``) across, older digits down.

    Parameters
    ----------
    profile : (n,) capacities, lag 0 first. kernel_sizes : n_1 … n_L. split : 1 … L − 1, by default the middle.
    """
    layer = len(kernel_sizes) // 2 if split is None else split
    across = int(np.prod(kernel_sizes[:layer], dtype=int))
    ax.imshow(np.reshape(profile, (-1, across)), vmin=0, vmax=1, aspect="equal")
    ax.set(xlabel=f"lag modulo {across}", ylabel=f"⌊lag / {across}⌋")
    ax.grid(False)
    return ax
