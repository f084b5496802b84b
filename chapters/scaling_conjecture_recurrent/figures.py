"""Figures of recurrent transitions: forgetting, growth over many steps, memory of a lag, the adding task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS
from chapters.scaling_conjecture_recurrent.memory import Forgetting
from chapters.scaling_conjecture_recurrent.study import GrowthCurve


def plot_forgetting(found: Mapping[str, Forgetting], ax: Axes) -> Axes:
    """Capacity of the input at every lag, times the number of steps, with the half-life of each (a larger marker)."""
    for i, (label, each) in enumerate(found.items()):
        n_steps = len(each.per_lag)
        lags = np.arange(n_steps) / n_steps
        (line,) = ax.plot(lags, n_steps * each.per_lag, label=label, marker=MARKERS[i], markevery=max(1, n_steps // 8))
        if np.isfinite(each.half_life):
            half = each.half_life / n_steps
            ax.plot(half, n_steps * each.per_lag[0] / 2, marker=MARKERS[i], ms=9, mfc="white", color=line.get_color())
    ax.set(xlabel="lag / N", ylabel="N × capacity of the lag")
    return ax


def plot_growth(
    curves: Mapping[str, GrowthCurve],
    ax: Axes,
    laws: Mapping[str, tuple[Sequence[int], Sequence[float]]] | None = None,
    norm: bool = False,
) -> Axes:
    """Logarithm of the mean gain against N with its interval; logarithmic above one, linear below.

    Parameters
    ----------
    laws : label → lengths and closed form there (dashed, in the colour of the curve). norm : the largest singular value
        instead of the mean gain, without intervals.
    """
    for i, (label, curve) in enumerate(curves.items()):
        colour = CYCLE[i % len(CYCLE)]
        values = curve.log_norm if norm else curve.log_gain
        if norm:
            ax.plot(curve.lengths, values, marker=MARKERS[i], color=colour, label=label)
        else:
            spread = np.abs(np.array([curve.low, curve.high]) - values)
            solid = "none" if laws and label in laws else "-"
            ax.errorbar(
                curve.lengths, values, yerr=spread, marker=MARKERS[i], color=colour, linestyle=solid, label=label
            )
        if laws and label in laws:
            ax.plot(*laws[label], color=colour, linestyle="--", linewidth=1)
    lengths = sorted({N for curve in curves.values() for N in curve.lengths})
    before = 0.0 if ax.get_autoscaley_on() else ax.get_ylim()[1]  # an axis shared with a panel drawn earlier
    drawn = [value for line in ax.lines for value in np.asarray(line.get_ydata(), dtype=float)]
    ax.set_xscale("log", base=2)
    ax.set_yscale("symlog", linthresh=1, linscale=0.6)
    ax.set_xticks(lengths, [f"{N:,}" for N in lengths])
    levels = [0, 1, 3, 10, 30, 100, 300, 1000]
    ax.set_yticks(levels, [str(level) for level in levels])
    ax.minorticks_off()
    ax.set_ylim(-0.15, max(before, 1.4 * max(1.0, *drawn)))
    quantity = "largest singular value" if norm else "mean gain"
    ax.set(xlabel="steps N", ylabel=f"natural log of the {quantity}")
    return ax


def plot_memory(memories: Mapping[str, np.ndarray], ax: Axes, law: np.ndarray | None = None, bins: int = 16) -> Axes:
    """Memory of a lag, times the number of steps, as means over stretches of lags; the law of Eq. 30 dashed.

    Parameters
    ----------
    memories : label → (N,) R² of lags 0 … N − 1. bins : number of stretches.
    """
    for i, (label, values) in enumerate(memories.items()):
        n_steps = len(values)
        stretches = np.array_split(np.arange(n_steps), min(bins, n_steps))
        middle = [stretch.mean() / n_steps for stretch in stretches]
        means = [n_steps * values[stretch].mean() for stretch in stretches]
        ax.plot(middle, means, marker=MARKERS[i], label=label)
    if law is not None:
        ax.plot(
            np.arange(len(law)) / len(law), len(law) * law, color="0.3", linestyle="--", linewidth=1, label="Eq. 30"
        )
    ax.set(xlabel="lag / N", ylabel="N × R² of the probe")
    return ax


def plot_adding(
    losses: Mapping[str, Mapping[int, Sequence[float]]],
    intervals: Mapping[str, Mapping[int, tuple[float, float]]],
    ax: Axes,
) -> Axes:
    """Final loss over that of a constant answer: a row per arm, a marker per length and seed, a line per interval.

    Parameters
    ----------
    losses : label → length → one value per seed. intervals : label → length → ends.
    """
    rows = list(losses)[::-1]
    lengths = list(losses[rows[0]])
    for i, N in enumerate(lengths):
        heights = np.arange(len(rows)) + 0.26 * ((len(lengths) - 1) / 2 - i)
        ends = np.array([intervals[row][N] for row in rows])
        ax.hlines(heights, ends[:, 0], ends[:, 1], color=CYCLE[i], linewidth=1)
        points = np.array([(value, y) for row, y in zip(rows, heights, strict=True) for value in losses[row][N]])
        ax.plot(*points.T, marker=MARKERS[i], linestyle="none", color=CYCLE[i], alpha=0.8, label=f"N = {N}")
    ax.axvline(1, color="0.3", linestyle="--", linewidth=1)
    ax.axvline(0.5, color="0.3", linestyle=":", linewidth=1)
    every = [value for row in rows for values in losses[row].values() for value in values]
    ax.set(xscale="log", xlabel="final loss / loss of a constant answer", xlim=(min(every) / 2, 2 * max(1, *every)))
    low, high = ax.get_xlim()
    ticks = [tick for tick in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3) if low <= tick <= high]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_yticks(range(len(rows)), rows)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.grid(axis="y", visible=False)
    return ax


def plot_training(curves: Mapping[str, Sequence[float]], n_steps: int, ax: Axes) -> Axes:
    """Loss over that of a constant answer during training, as means over equal stretches of the steps."""
    for i, (label, values) in enumerate(curves.items()):
        steps = (np.arange(len(values)) + 0.5) * n_steps / len(values)
        ax.plot(steps, values, marker=MARKERS[i % len(MARKERS)], label=label)
    ax.axhline(1, color="0.3", linestyle="--", linewidth=1)
    ax.set(yscale="log", xlabel="training steps", ylabel="loss / loss of a constant answer")
    return ax
