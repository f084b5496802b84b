"""Figures of what capacity says of errors: many runs, stops, model against truth."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LAG_LABEL
from chapters.hierarchical_errors.runs import AlongBasis, Runs
from chapters.hierarchical_errors.study import PredictionErrors, ends
from chapters.shared.numbers import scientific


def plot_errors_and_bounds(compared: AlongBasis, free: int, ax: Axes, xlabel: str) -> Axes:
    """Mean normalised squared errors and bounds, with bands of one standard deviation over runs (Fig. 6).

    The axis is logarithmic, since a single large error would flatten all others. Bands stand above the means: below
    them most would reach zero, and fill the picture. The limit at an optimum is ``free``, n − κ, times the bound.
    """
    x = np.arange(compared.errors.mean.size)
    means = np.concatenate([compared.errors.mean, compared.bounds.mean])
    bottom = means[means > 0].min(initial=1.0) / 3
    for spread, label, colour, line in (
        (compared.errors, "squared error", CYCLE[0], "-"),
        (compared.bounds, "its average by Eq. 6", CYCLE[1], "--"),
    ):
        ax.step(x, spread.mean, line, where="mid", color=colour, label=label)
        low, high = np.maximum(spread.mean, bottom), spread.mean + spread.deviation
        ax.fill_between(x, low, np.maximum(high, low), step="mid", color=colour, alpha=0.25, linewidth=0)
    limit = np.minimum(free * compared.bounds.mean, 1)
    ax.step(x, limit, ":", where="mid", color="black", linewidth=1, label="most at an optimum")
    ax.set(xlabel=xlabel, ylabel="share of the whole", xlim=(-0.5, x[-1] + 0.5), yscale="log")
    ax.set_ylim(bottom=bottom)
    return ax


def plot_runs(runs: Runs, axes: Sequence[Axes]) -> Sequence[Axes]:
    """Figure 6: :func:`plot_errors_and_bounds` along the inputs and along the eigenvectors of the covariance."""
    free = runs.inputs.bounds.mean.size - runs.totals.min()
    plot_errors_and_bounds(runs.inputs, free, axes[0], LAG_LABEL).invert_xaxis()
    plot_errors_and_bounds(runs.eigenvectors, free, axes[1], "eigenvector of the covariance (0 = largest eigenvalue)")
    return axes


def plot_stopped_stacks(
    stacks: Mapping[str, Mapping[str, Any]], axes: Sequence[Axes], width: int = 9
) -> Sequence[Axes]:
    """Capacity per input where two stacks were stopped: the end of L-BFGS-B, and the lowest loss of all runs.

    Parameters
    ----------
    stacks : order → what ``stopped_stacks`` stored of it. axes : one each.
    width : neighbouring inputs that each value is the mean of, since the peaks of single ones hide the course.
    """
    for (order, stack), ax in zip(stacks.items(), axes, strict=True):
        for stop, name, colour, line in zip(ends(stack), ("stopped", "best"), (CYCLE[0], "black"), "-:", strict=True):
            smooth = np.convolve(stop["per_input"], np.ones(width) / width, mode="valid")
            ax.plot(
                np.arange(smooth.size) + width // 2,
                smooth,
                line,
                color=colour,
                label=f"{name}, loss {scientific(stop['loss'])}",
            )
        ax.set(title=order, ylim=(0, 1.05), xlabel=LAG_LABEL, ylabel=f"capacity, mean of {width} inputs")
        ax.invert_xaxis()
        ax.legend(loc="lower right", frameon=False)
    return axes


def plot_model_against_truth(errors: PredictionErrors, axes: Sequence[Axes]) -> Sequence[Axes]:
    """Figure 14's differences: of the coefficients and of the autocorrelation; the eight shortest lags are shaded.

    Parameters
    ----------
    axes : two axes.
    """
    differences = {
        r"coefficients, $\hat A-A^*$": errors.coefficient_error,
        r"autocorrelation, $\hat C-C$": errors.autocorrelation_error,
    }
    for (title, error), ax in zip(differences.items(), axes, strict=True):
        ax.axvspan(-0.5, 8.5, color=CYCLE[1], alpha=0.2, linewidth=0)
        ax.axhline(0, color="0.4", linewidth=0.7)
        ax.plot(error, color=CYCLE[0], linewidth=1.0)
        ax.set(title=title, xlabel=LAG_LABEL, xlim=(error.size - 0.5, -0.5))
        ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    return axes
