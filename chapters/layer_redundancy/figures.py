"""Figures about frozen weights: where an equation has no real root."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE

FLOOR = 1e-20  # losses below it are drawn on it
NO_ROOT: dict[str, Any] = {"color": CYCLE[1], "alpha": 0.18, "linewidth": 0}


def plot_square(ax: Axes, target: float = 1.0, limit: float = 3.0) -> Axes:
    """The solutions w₁ of w₁² + w₂ = target against the frozen w₂, and where there is none."""
    free = np.linspace(-np.sqrt(limit + target), np.sqrt(limit + target), 201)
    ax.plot(target - free**2, free, color=CYCLE[0])
    ax.axvspan(target, limit, **NO_ROOT)
    ax.text((target + limit) / 2, 0, "no $w_1$\nmakes up\nfor it", color=CYCLE[1], ha="center", va="center")
    frozen = target - 2.0  # one example with its two solutions
    ax.plot([frozen, frozen], np.sqrt(2) * np.array([-1, 1]), "o:", color=CYCLE[0], linewidth=1)
    ax.text(frozen - 0.1, 0, "either $w_1$\nmakes up\nfor it", color=CYCLE[0], ha="right", va="center")
    ax.set(xlabel="frozen weight $w_2$", ylabel="$w_1$", xlim=(-limit, limit))
    return ax


def plot_loss_against_weight(
    weights: np.ndarray, losses: np.ndarray, fine: np.ndarray, unsolvable: np.ndarray, ax: Axes
) -> Axes:
    """Best loss after refitting (k,) against the frozen weight (k,), and where there is no real solution.

    Parameters
    ----------
    fine : (m,) weights on a finer grid. unsolvable : (m,) whether the discriminant is negative there: shaded.
    """
    ax.fill_between(fine, 0, 1, where=unsolvable, step="mid", transform=ax.get_xaxis_transform(), **NO_ROOT)
    shown = np.maximum(losses, FLOOR)
    ax.plot(weights, shown, "o", color=CYCLE[0], markersize=3.5)
    lost, solved = fine[unsolvable], weights[shown <= FLOOR]
    if lost.size:
        ax.text(lost.min(), np.sqrt(FLOOR), "  no real\n  solution", color=CYCLE[1])
    if solved.size:
        ax.text(solved.mean(), 10 * FLOOR, "made\nup for", color=CYCLE[0], ha="center", va="bottom")
    ax.set_yscale("log")
    ax.set(xlabel="frozen weight $w$", ylabel="excess loss", xlim=(fine[0], fine[-1]))
    ax.set_ylim(FLOOR / 30, 10 * max(shown.max(), FLOOR))
    return ax
