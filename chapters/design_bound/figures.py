"""The figure of the bounds of stacks of every size."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.designs.results import Design
from capcore.plotting import CYCLE

LOWEST = 1e-12  # of v*: smaller losses are drawn there
LEAST = 8  # parameters that are drawn
GREY = "0.82"
BEYOND = 1.06  # of the largest size: where the axis ends
LOOKS: dict[str, dict[str, Any]] = {
    "stacks": {"label": "stacks", "color": CYCLE[0], "marker": "o", "linestyle": "none", "ms": 4},
    "near and pools": {"label": "near taps and pools", "color": CYCLE[1], "marker": "s", "linestyle": "-", "ms": 3.5},
}


def plot_wall(plan: Design, ax: Axes) -> Axes:
    """Losses of stacks and of near taps and pools by size; grey: below the fitted bound; dashed: the proven one."""
    sizes = np.array([point[0] for point in plan.wall] + [BEYOND * plan.max_params])
    bounds = np.array([point[1] for point in plan.wall] + [plan.wall[-1][1]]) / plan.variance
    shown = [one for one in plan.candidates if one.n_params >= LEAST and one.family in LOOKS]
    losses = [max(candidate.loss / plan.variance, LOWEST) for candidate in shown]
    least_bound = min(bound for _, bound in plan.wall[-1:] + plan.proven_wall[-1:]) / plan.variance
    low, high = min([*losses, max(least_bound, LOWEST)]) / 3, max(losses) * 3
    steps = np.r_[LEAST, sizes], np.r_[high, np.maximum(bounds, low)]
    ax.fill_between(*steps, low, step="post", color=GREY, linewidth=0, zorder=0)
    for name, look in LOOKS.items():
        own = [candidate for candidate in shown if candidate.family == name]
        at = [max(candidate.loss / plan.variance, LOWEST) for candidate in own]
        ax.plot([candidate.n_params for candidate in own], at, linewidth=1, **look)
    if plan.proven_wall:
        at, proven = np.array([*plan.proven_wall, (BEYOND * plan.max_params, plan.proven_wall[-1][1])]).T
        ax.step(at, np.maximum(proven / plan.variance, low), where="post", color="0.45", linewidth=1, linestyle="--")
    ax.text(LEAST * 1.08, low * 1.6, "below the\nfitted bound", fontsize=8.5, color="0.25")
    ax.set(xscale="log", yscale="log", xlim=(LEAST, BEYOND * plan.max_params), ylim=(low, high))
    ax.set(xlabel="weights", ylabel="loss / v*")
    ticks = [tick for tick in (8, 16, 32, 64, 128, 256) if LEAST <= tick <= plan.max_params]
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.set_xticks([], minor=True)
    return ax
