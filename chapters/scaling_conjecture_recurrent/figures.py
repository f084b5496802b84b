"""Figures of recurrent transitions: growth over many steps, memory of a lag, the adding task."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from capcore.plotting import CYCLE, MARKERS
from chapters.scaling_conjecture_recurrent.study import GrowthCurve
from chapters.shared.scale_exponents import fraction, look


def plot_growth(
    laws: Mapping[float, tuple[Sequence[int], Sequence[float]]], curves: Mapping[float, GrowthCurve], ax: Axes
) -> Axes:
    """Logarithm of the mean gain against N; logarithmic above one, linear below.

    Parameters
    ----------
    laws : exponent → lengths and closed form there (lines). curves : some of these exponents → draws (markers).
    """
    for a, (numbers, law) in laws.items():
        own = look(a)
        ax.plot(numbers, law, color=own["color"], linewidth=1.3)
        at, side = (numbers[-1], law[-1]), "top" if a == max(laws) else "bottom"  # the lowest lines come close
        name = f"a = {fraction(a)}"
        ax.annotate(name, at, (6, 0), textcoords="offset points", va=side, color=own["color"])
        if a in curves:
            curve = curves[a]
            spread = np.abs(np.array([curve.low, curve.high]) - curve.log_gain)
            ax.errorbar(curve.lengths, curve.log_gain, yerr=spread, linestyle="none", markersize=5, **own)
    lengths = sorted({N for numbers, _ in laws.values() for N in numbers})
    before = 0.0 if ax.get_autoscaley_on() else ax.get_ylim()[1]  # an axis shared with a panel drawn earlier
    drawn = [value for line in ax.lines for value in np.asarray(line.get_ydata(), dtype=float)]
    ax.set_xscale("log", base=2)
    ax.set_yscale("symlog", linthresh=1, linscale=0.6)
    ax.set_xticks(lengths, [f"{N:,}" for N in lengths])
    levels = [0, 1, 3, 10, 30, 100, 300, 1000]
    ax.set_yticks(levels, [str(level) for level in levels])
    ax.minorticks_off()
    ax.set_ylim(-0.3, max(before, 1.4 * max(1.0, *drawn)))
    ax.set(xlabel="steps N", ylabel="natural log of the mean gain")
    return ax


def plot_memory(memories: Mapping[str, np.ndarray], ax: Axes, law: np.ndarray) -> Axes:
    """Memory of a lag, times the number of steps, as means over stretches of lags; the law of Eq. 30 dashed.

    Parameters
    ----------
    memories : label → (N,) R² of lags 0 … N − 1.
    """
    for i, (label, values) in enumerate(memories.items()):
        n_steps = len(values)
        stretches = np.array_split(np.arange(n_steps), 16)
        middle = [stretch.mean() / n_steps for stretch in stretches]
        means = [n_steps * values[stretch].mean() for stretch in stretches]
        ax.plot(middle, means, marker=MARKERS[i % len(MARKERS)], markersize=4, label=label)
    lags = np.arange(len(law)) / len(law)
    ax.plot(lags, len(law) * law, color="0.3", linestyle="--", linewidth=1, label="Eq. 30")
    ax.set(xlabel="← past · lag / N · now →", ylabel="N × memory")
    ax.invert_xaxis()
    return ax


def plot_adding(losses: Mapping[str, Sequence[float]], ends: Mapping[str, tuple[float, float]], ax: Axes) -> Axes:
    """Final loss over that of a constant answer: a row per arm, a marker per seed, a line per interval.

    Rows of one matrix for all steps have another colour than those of fresh ones.
    """
    rows = list(losses)[::-1]
    for y, row in enumerate(rows):
        colour = CYCLE[1 if row.startswith("one") else 0]
        ax.hlines(y, *ends[row], color=colour, linewidth=1)
        ax.plot(losses[row], np.full(len(losses[row]), y), "o", color=colour, alpha=0.8)
    ax.axvline(1, color="0.3", linestyle="--", linewidth=1)
    ax.set(xscale="log", xlabel="loss over that of always answering 1")
    ax.set_yticks(range(len(rows)), rows)
    ticks = (0.1, 0.2, 0.5, 1)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    return ax


def plot_phases(phases: Mapping[str, Mapping[float, float]], ax: Axes) -> AxesImage:
    """One row for each thing that is trained, one column for each exponent; light is as good as the row's best, a dot.

    Parameters
    ----------
    phases : name → exponent → 0 (guessing) to 1 (the best exponent). Exponents that were not tried stay empty.
    """
    columns = sorted({a for row in phases.values() for a in row})
    grid = np.array([[row.get(a, np.nan) for a in columns] for row in phases.values()])
    image = ax.imshow(grid, vmin=0, vmax=1, aspect="auto")
    best = np.nanargmax(grid, axis=1)
    ax.plot(best, np.arange(len(grid)), "o", color="black", markersize=4)
    ax.set_xticks(range(len(columns)), [fraction(a) for a in columns])
    ax.set_yticks(range(len(grid)), list(phases))
    ax.set_xlabel("exponent a · smaller scales →")
    ax.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(grid) + 1) - 0.5, minor=True)
    ax.grid(visible=False)
    ax.grid(which="minor", color="white", linewidth=2)
    ax.tick_params(which="both", length=0)
    return image
