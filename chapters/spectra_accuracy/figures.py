"""Figures of rank correlations: forests of intervals, simulated tables, and exponents of groups of networks."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from chapters.spectra_accuracy.study import Estimate


def plot_forest(rows: Sequence[Estimate], ax: Axes, *, colour: str, strong: Sequence[int] = ()) -> Axes:
    """One horizontal interval per row, first row on top, with a line at zero.

    Parameters
    ----------
    rows : correlations with the ends of their intervals.
    strong : indices of rows drawn heavier, such as averages.
    """
    for i, row in enumerate(rows):
        widths = {"elinewidth": 2.6, "markersize": 7} if i in strong else {"elinewidth": 1.3, "markersize": 4.5}
        error = [[max(row.rho - row.low, 0)], [max(row.high - row.rho, 0)]]
        ax.errorbar(row.rho, i, xerr=error, fmt="o", color=colour, capsize=2, **widths)  # type: ignore[arg-type]
    ax.axvline(0, color="0.35", linewidth=0.9)
    ax.set_yticks(range(len(rows)), [row.label for row in rows])
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlim=(-1.05, 1.05), xlabel="ρ with the top-1 error")
    ax.grid(axis="y", visible=False)
    return ax


def plot_histograms(groups: Mapping[str, np.ndarray], line: tuple[float, str], ax: Axes, xlabel: str) -> Axes:
    """Outlines of histograms, one per group, with a vertical line at a value found."""
    every = np.concatenate(list(groups.values()))
    edges = np.linspace(min(every.min(), line[0]) - 0.02, max(every.max(), line[0]) + 0.02, 21)
    for i, (name, values) in enumerate(groups.items()):
        counts = np.histogram(values, edges)[0] / len(values)
        ax.stairs(100 * counts, edges, color=CYCLE[i], linestyle=("-", "--", ":")[i % 3], linewidth=1.6, label=name)
    ax.axvline(line[0], color="0.2", linewidth=1.4, linestyle="-.", label=line[1])
    ax.set(xlabel=xlabel, ylabel="simulated tables (%)", ylim=(0, None))
    return ax


def plot_quantiles(groups: Mapping[str, Sequence[float]], ax: Axes, target: float, width: float) -> Axes:
    """Medians, middle halves (thick) and middle 80 % (thin) of groups of exponents, and a band around ``target``.

    ``groups`` : name → quantiles at 10, 25, 50, 75 and 90 %.
    """
    ax.axvspan(target - width, target + width, color=CYCLE[2], alpha=0.18, linewidth=0)
    ax.axvline(target, color=CYCLE[2], linewidth=1.2, linestyle="--")
    ax.text(target, -0.62, f"{target:g} ± {width:g}", color=CYCLE[2], ha="center", va="bottom")
    rows, (lowest, low, middle, high, highest) = range(len(groups)), np.array([*groups.values()]).T
    ax.hlines(rows, lowest, highest, color=CYCLE[0], linewidth=1.3, capstyle="projecting")
    ax.hlines(rows, low, high, color=CYCLE[0], linewidth=5, alpha=0.55)
    ax.plot(middle, rows, "o", color=CYCLE[0], markersize=6)
    ax.set_yticks(range(len(groups)), list(groups))
    ax.set(ylim=(len(groups) - 0.5, -0.5), xlim=(1.2, None), xlabel="α, mean over the slices of a network")
    ax.grid(axis="y", visible=False)
    return ax
