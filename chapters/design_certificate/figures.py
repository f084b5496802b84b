"""Figures of designs: bounds of every size, bounds against losses, outcomes of searches, what can be ordered."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.designs.results import Design
from capcore.plotting import CYCLE, share_legend
from chapters.design_certificate.study import Tried

LOWEST = 1e-12  # of v*: smaller losses are drawn there
LEAST = 8  # parameters that are drawn
GREY = "0.82"
BEYOND = 1.06  # of the largest size: where the axis ends
LOOKS: dict[str, dict[str, Any]] = {
    "stacks": {"label": "stacks", "color": CYCLE[0], "marker": "o", "linestyle": "none", "ms": 4},
    "near and pools": {"label": "near taps and pools", "color": CYCLE[1], "marker": "s", "linestyle": "-", "ms": 3.5},
    "log taps": {"label": "taps at geometric lags", "color": CYCLE[2], "marker": "^", "linestyle": ":", "ms": 3.5},
    "autoregressive": {"label": "recent taps", "color": CYCLE[3], "marker": "D", "linestyle": "--", "ms": 3},
}


def plot_wall(plan: Design, ax: Axes, usual: Sequence[tuple[int, float]]) -> Axes:
    """Losses of all models of a design by their size, in grey what lies below the fitted bound, dashed the proven one.

    Parameters
    ----------
    plan : Design
    ax : Axes
    usual : list of (int, float)
        Parameters and losses over v* of stacks of a usual kind.
    """
    sizes = np.array([point[0] for point in plan.wall] + [BEYOND * plan.max_params])
    bounds = np.array([point[1] for point in plan.wall] + [plan.wall[-1][1]]) / plan.variance
    shown = [candidate for candidate in plan.candidates if candidate.n_params >= LEAST]
    losses = [*(max(candidate.loss / plan.variance, LOWEST) for candidate in shown), *(loss for _, loss in usual)]
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
    if usual:
        ax.plot(*np.transpose(usual), "x", color="black", ms=5, label="kernel 2, equal channels")
    ax.text(LEAST * 1.08, low * 1.6, "below the\nfitted bound", fontsize=8.5, color="0.25")
    ax.set(xscale="log", yscale="log", xlim=(LEAST, BEYOND * plan.max_params), ylim=(low, high))
    ax.set(xlabel="parameters", ylabel="loss / v*")
    ticks = [tick for tick in (8, 16, 32, 64, 128, 256) if LEAST <= tick <= plan.max_params]
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.set_xticks([], minor=True)
    return ax


def plot_walls(designs: Mapping[str, Design], axes: Sequence[Axes], usual: list[list[tuple[int, float]]]) -> None:
    """The walls of several processes side by side, with one legend."""
    for ax, (name, design), stacks in zip(axes, designs.items(), usual, strict=True):
        plot_wall(design, ax, usual=stacks).set_title(name)
    for ax in axes[1:]:
        ax.set_ylabel("")
    share_legend(axes[0].figure, axes[:1])  # type: ignore[arg-type]  # not in a subfigure


def plot_bounds(tried: Tried, axes: tuple[Axes, Axes]) -> None:
    """Losses of random stacks against the largest entry at their bonds, and against the sum of the entries."""
    sides = {"largest entry / v*": tried.bounds, "sum of the entries / v*": tried.sums}
    for ax, (name, values) in zip(axes, sides.items(), strict=True):
        shown = np.maximum(values, LOWEST), np.maximum(tried.losses, LOWEST)
        ends = np.array([min(map(np.min, shown)) / 2, max(map(np.max, shown)) * 2])
        ax.plot(ends, ends, color="0.4", linewidth=1)
        ax.fill_between(ends, ends, ends[0], color=GREY, linewidth=0, zorder=0, alpha=1 if ax is axes[0] else 0)
        ax.plot(*shown, "o", ms=3, color=CYCLE[0], alpha=0.7)
        ax.set(xscale="log", yscale="log", xlabel=name, ylabel="loss / v*", xlim=ends, ylim=ends)


def plot_outcomes(ratios: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """A bar for each search: in how many cases its loss is as low as the design's, up to ten times it, and beyond.

    Parameters
    ----------
    ratios : dict
        Search → the design's loss over that of the search.
    ax : Axes
    """
    left = np.zeros(len(ratios))
    parts = {
        "within 1 %": (0.99, np.inf, GREY),
        "up to ten\ntimes as much": (0.1, 0.99, CYCLE[4]),
        "more": (0, 0.1, CYCLE[1]),
    }
    for name, (least, most, colour) in parts.items():
        counts = np.array([np.sum((least <= values) & (values < most)) for values in ratios.values()])
        bars = ax.barh(list(ratios), counts, 0.6, left, color=colour)
        labels = [f"{n} {name}" if n == counts.max() else str(n or "") for n in counts]
        ax.bar_label(bars, labels, label_type="center", color="black")
        left += counts
    ax.set(xlabel="cases, by loss relative to the design's", ylim=(len(ratios) - 0.5, -0.5), xlim=(0, left.max()))
    ax.grid(False)
    return ax


def plot_menu(menu: Mapping[str, Any], budgets: list[int], ax: Axes) -> Axes:
    """For each budget the least loss for at least such a share of the capacity on the distant half; grey below all.

    Parameters
    ----------
    menu : dict
        One process of the stored result.
    budgets : list of int
        Ascending.
    ax : Axes
    """
    fronts = {budget: front(menu, budget) for budget in budgets}
    losses = [loss for points in fronts.values() for _, loss in points]
    low, high = min(losses) / 4, max(losses) * 4
    for i, (budget, points) in enumerate(fronts.items()):
        shares, least = np.array(points).T
        ax.step([0, *shares], [least[0], *least], where="pre", color=CYCLE[i])
        ax.plot(shares, least, "o", ms=3.5, color=CYCLE[i])
        ax.text(0.01, 1.4 * least[0], f"{budget} parameters", fontsize=8.5, color=CYCLE[i])
    shares, least = np.array(fronts[budgets[-1]]).T
    ax.fill_between([0, *shares], [least[0], *least], low, step="pre", color=GREY, linewidth=0, zorder=0)
    ax.axvspan(shares[-1], 1, color=GREY, linewidth=0, zorder=0)
    ax.set(yscale="log", xlim=(0, 0.7), ylim=(low, high))
    ax.set(xlabel="share of the capacity on the distant half, at least", ylabel="loss / v*")
    return ax


def front(menu: Mapping[str, Any], budget: int) -> list[tuple[float, float]]:
    """(share, loss) of the stacks within a budget that no other of them beats in both, by share.

    >>> stacks = [{"parameters": 3, "share": 0.2, "loss": 0.1}, {"parameters": 4, "share": 0.1, "loss": 0.2}]
    >>> front({"stacks": stacks}, 4)
    [(0.2, 0.1)]
    """
    within = [stack for stack in menu["stacks"] if stack["parameters"] <= budget]
    best = [one for one in within if not any(o["loss"] < one["loss"] and o["share"] >= one["share"] for o in within)]
    return sorted((stack["share"], stack["loss"]) for stack in best)
