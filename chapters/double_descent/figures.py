"""Figures of effective model complexity: errors by sample size, by number of features or units; and training time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS
from chapters.double_descent.effective import ModelComplexity
from chapters.shared.intervals import student_interval

STYLES = ("-", "--", ":", "-.")


def plot_errors(
    settings: Sequence[float],
    lines: Mapping[str, np.ndarray],
    ax: Axes,
    xlabel: str,
    ticks: Sequence[float],
    logarithmic: bool = True,
    first: int = 0,
) -> Axes:
    """Means over seeds of (m, n_seeds) with 95 % intervals, against m settings on a logarithmic axis.

    Parameters
    ----------
    lines : label → errors. logarithmic : geometric means on a logarithmic axis, else arithmetic ones.
    first : place of the first line in the cycle of colours, for lines that are not those of the panel above.
    """
    for i, (label, values) in enumerate(lines.items(), first):
        array = np.log(np.maximum(values, 1e-12)) if logarithmic else values
        mean, half = student_interval(array.T)
        ends = [np.exp(end) if logarithmic else end for end in (mean, mean - half, mean + half)]
        ax.plot(settings, ends[0], label=label, color=CYCLE[i], linestyle=STYLES[i % 4], marker=MARKERS[i])
        ax.fill_between(settings, ends[1], ends[2], color=CYCLE[i], alpha=0.18, linewidth=0)
    ax.set(xscale="log", yscale="log" if logarithmic else "linear", xlabel=xlabel)
    ax.set_xticks(list(ticks), [f"{tick:,g}" for tick in ticks])
    ax.xaxis.minorticks_off()
    return ax


def mark_transitions(places: Mapping[str, float | None], ax: Axes) -> Axes:
    """Vertical lines where a complexity reaches the sample size, named at their upper ends; none where it does not."""
    for i, (label, place) in enumerate(places.items()):
        if place is None:
            continue
        ax.axvline(place, color="0.25", linestyle=("-", ":")[i % 2], linewidth=1, zorder=0)
        side, shift = ("left", 3) if i % 2 == 0 else ("right", -3)
        style: dict[str, Any] = {"textcoords": "offset points", "ha": side, "va": "top", "fontsize": 8, "color": "0.25"}
        ax.annotate(label, (place, 1.0), (shift, -2), xycoords=("data", "axes fraction"), **style)
    return ax


def plot_by_time(steps: Sequence[int], complexities: Mapping[str, Sequence[ModelComplexity]], ax: Axes) -> Axes:
    """Complexities with their intervals against the steps of training, a line per kind of labels.

    A triangle marks what is only a lower bound, because the largest sample tried was fitted.
    """
    for i, (label, results) in enumerate(complexities.items()):
        values, low, high = np.array([(result.value, result.low, result.high) for result in results]).T
        lines: dict[str, Any] = {"color": CYCLE[i], "marker": MARKERS[i], "linestyle": STYLES[i]}
        ax.errorbar(np.asarray(steps) * 1.03**i, values, [values - low, high - values], label=label, **lines)
        bound = np.array([result.censored for result in results])
        ax.plot(np.asarray(steps)[bound], 1.25 * values[bound], "^", color=CYCLE[i], markersize=6)
    ax.set(xscale="log", yscale="log", xlabel="steps of training", ylabel="complexity (images)")
    ax.set_xticks(list(steps), [f"{step:,}" for step in steps])
    ax.xaxis.minorticks_off()
    return ax
