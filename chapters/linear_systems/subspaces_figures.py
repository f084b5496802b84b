"""Figures about subspaces: principal angles, pairs of constraint spaces, and chains of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, plot_profiles

HATCHES = ("", "//", "..", "xx")
ABOVE: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "frameon": False, "columnspacing": 1.0}
"""A legend above the axis, where no data can hide behind it."""


LEVERAGES = {
    "model space": r"$J$ (model space)",
    "fit": r"$\Sigma^{1/2}J$ (fit)",
    "constraints": r"$\Sigma J$ (constraints)",
}


def plot_leverages(leverages: Mapping[str, np.ndarray], ax: Axes, title: str = "") -> Axes:
    """The three leverages of one model over its inputs, from ``leverages``."""
    plot_profiles({LEVERAGES[name]: values for name, values in leverages.items()}, ax, ylabel="leverage")
    ax.set(title=title, ylim=(0, 1.08))
    return ax


def plot_squared_cosines(cosines: Mapping[str, np.ndarray], capacities: Mapping[str, float], ax: Axes) -> Axes:
    """One stacked bar per subspace, a block for each principal angle; a diamond marks the capacity.

    Parameters
    ----------
    cosines : subspace → (n_S,) squared cosines. capacities : subspace → κ(S).
    """
    for i, (label, values) in enumerate(cosines.items()):
        bottoms = np.concatenate([[0.0], np.cumsum(values)[:-1]])
        blocks = ax.bar(i, values, 0.55, bottom=bottoms, color="#9ecae1", edgecolor="white", linewidth=1.2)
        (diamond,) = ax.plot(i, capacities[label], "D", color=CYCLE[1], clip_on=False, zorder=3)
        ax.annotate(f"{capacities[label]:.2f}", (i, capacities[label]), (0, 6), textcoords="offset points", ha="center")
    ax.set_xticks(range(len(cosines)), list(cosines))
    ax.set(ylabel="capacity", ylim=(0, max(map(len, cosines.values())) + 0.4))
    ax.grid(axis="x", visible=False)
    ax.legend([blocks, diamond], [r"$\cos^2\theta_j$, one block each", r"$\kappa(S)$"], ncols=2, **ABOVE)
    return ax


def plot_pair_gaps(angles: np.ndarray, gaps: np.ndarray, ax: Axes) -> Axes:
    """Largest departure from additivity of pairs of spaces over their smallest principal angle, with its cosine.

    Parameters
    ----------
    angles : (m,) radians. gaps : (m,) suprema over all directions.
    """
    grid = np.linspace(0, np.pi / 2, 200)
    ax.plot(np.degrees(grid), np.cos(grid), color="0.3", linewidth=1, label=r"$\cos\theta_{\min}$")
    ax.plot(np.degrees(angles), gaps, "o", color=CYCLE[0], markersize=3.5, alpha=0.7, label="random pairs")
    ax.set(
        xlabel="smallest principal angle (degrees)",
        ylabel=r"$\sup_s\,|\kappa_1(s)+\kappa_2(s)-\kappa(s)|$",
        xticks=[0, 30, 60, 90],
    )
    ax.legend()
    return ax


def plot_sum_and_union(inputs: np.ndarray, separate: np.ndarray, joint: np.ndarray, ax: Axes) -> Axes:
    """Sum of the capacities of several constraint spaces beside the capacity of their sum, over the inputs.

    Parameters
    ----------
    inputs : (n,) lags. separate, joint : (n,) Σ_l κ_l and κ of all together. The most recent input is at the right.
    """
    ax.plot(inputs, separate, color=CYCLE[1], marker="s", markevery=max(1, len(inputs) // 12), label="added up")
    ax.plot(inputs, joint, color=CYCLE[0], marker="o", markevery=max(1, len(inputs) // 12), label="together")
    ax.fill_between(inputs, joint, separate, color="0.85", linewidth=0, label="counted more than once")
    ax.axhline(1, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel="lag (0 = most recent input)", ylabel="capacity", ylim=(0, None))
    ax.invert_xaxis()
    ax.legend()
    return ax


def plot_chain_orders(
    orders: Sequence[Sequence[int]],
    terms: Sequence[Sequence[float]],
    labels: Sequence[str],
    ax: Axes,
    names: Sequence[str] | None = None,
) -> Axes:
    """One horizontal stacked bar per order of the same constraint spaces: what each adds to those before it.

    Parameters
    ----------
    orders : for each bar, the numbers of the spaces (from 0) in the order they are added.
    terms : for each bar, the conditional capacities in that order.
    labels : one per space. names : one per bar; default the order itself.
    """
    drawn = {}
    for row, (order, values) in enumerate(zip(orders, terms, strict=True)):
        left = 0.0
        for space, value in zip(order, values, strict=True):
            drawn[space] = ax.barh(
                row,
                value,
                0.62,
                left=left,
                color=CYCLE[space % len(CYCLE)],
                alpha=0.75,
                hatch=HATCHES[space % len(HATCHES)],
                edgecolor="white",
            )
            left += value
    ax.set_yticks(range(len(orders)), names or [", ".join(str(space + 1) for space in order) for order in orders])
    ax.invert_yaxis()
    ax.set(xlabel="conditional capacity")
    ax.grid(axis="y", visible=False)
    ax.legend(
        [drawn[space] for space in sorted(drawn)],
        [labels[space] for space in sorted(drawn)],
        ncols=min(len(drawn), 4),
        handletextpad=0.4,
        **ABOVE,
    )
    return ax
