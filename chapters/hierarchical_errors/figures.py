"""Figures about what stopped models miss, and what capacity says of errors: many runs, stops, model against truth."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LAG_LABEL
from chapters.hierarchical_errors.runs import AlongBasis, Runs
from chapters.hierarchical_errors.study import PredictionErrors, ends, relative_to
from chapters.shared.lag_figures import line_colours, plot_over_lags
from chapters.shared.numbers import scientific


def plot_errors_and_bounds(compared: AlongBasis, ax: Axes, xlabel: str, recent_right: bool = False) -> Axes:
    """Mean normalised squared errors and bounds, with bands of one standard deviation over runs (Fig. 6).

    The axis is logarithmic, since a single large error would flatten all others. Bands stand above the means: below
    them most would reach zero, and fill the picture.
    """
    x = np.arange(compared.errors.mean.size)
    means = np.concatenate([compared.errors.mean, compared.bounds.mean])
    bottom = means[means > 0].min(initial=1.0) / 3
    for spread, label, colour, line in (
        (compared.errors, "squared errors", CYCLE[0], "-"),
        (compared.bounds, r"bound $n_S-\kappa_S$", CYCLE[1], "--"),
    ):
        ax.step(x, spread.mean, line, where="mid", color=colour, label=label)
        low, high = np.maximum(spread.mean, bottom), spread.mean + spread.deviation
        ax.fill_between(x, low, np.maximum(high, low), step="mid", color=colour, alpha=0.25, linewidth=0)
    ax.set(xlabel=xlabel, ylabel="share of the whole", xlim=(-0.5, x[-1] + 0.5), yscale="log")
    ax.set_ylim(bottom=bottom)
    if recent_right:
        ax.invert_xaxis()
    return ax


def plot_runs(runs: Runs, axes: Sequence[Axes]) -> Sequence[Axes]:
    """Figure 6: :func:`plot_errors_and_bounds` along the inputs and along the eigenvectors of the covariance."""
    plot_errors_and_bounds(runs.inputs, axes[0], LAG_LABEL, recent_right=True)
    plot_errors_and_bounds(runs.eigenvectors, axes[1], "eigenvector of the covariance (0 = largest eigenvalue)")
    axes[0].legend(loc="upper right")
    return axes


def plot_missed(missed: np.ndarray, stopped: Mapping[str, Mapping[int, float]], ax: Axes) -> Axes:
    """What stopped models miss of an event, by its lag, above the missed share at the optimum.

    Parameters
    ----------
    missed : (n,) the missed share at each lag. stopped : when it stopped → lag → share of the event.
    """
    looks = {"missed share at the optimum": {"color": "black", "linewidth": 1.2}}
    plot_over_lags(dict.fromkeys(looks, missed), ax, ceiling=None, looks=looks)
    for (name, shares), colour, marker in zip(stopped.items(), CYCLE, "osD", strict=False):
        ax.plot([*shares], [*shares.values()], marker, color=colour, markersize=5, label=name)
    ax.set(ylabel="share missed")
    return ax


def plot_training(steps: Sequence[int], missed: Mapping[str, Sequence[float]], ax: Axes) -> Axes:
    """What is missed of one event against the steps of training; one line for each model, in its own colour."""
    for (name, shares), colour in zip(missed.items(), line_colours(missed), strict=True):
        ax.plot(steps, shares, "o-", color=colour, label=name, markersize=4)
    ax.set(xscale="log", ylabel="share missed")
    return ax


def plot_stopped_stacks(stacks: Mapping[str, Mapping[str, Any]], axes: Sequence[Axes]) -> Sequence[Axes]:
    """Capacity per input where two stacks were stopped: the end of L-BFGS-B, and the lowest loss of all runs.

    Parameters
    ----------
    stacks : order → what ``stopped_stacks`` stored of it. axes : one each.
    """
    for (order, stack), ax in zip(stacks.items(), axes, strict=True):
        bars: dict[str, Any] = {"fill": True, "color": CYCLE[0], "alpha": 0.6}
        line: dict[str, Any] = {"baseline": None, "color": "black", "linewidth": 0.8}
        for stop, look in zip(ends(stack), (bars, line), strict=True):
            edges = np.arange(len(stop["per_input"]) + 1) - 0.5
            ax.stairs(stop["per_input"], edges, label=f"loss {scientific(stop['loss'])}", **look)
        ax.set(title=order, ylim=(0, 1.2), xlabel=LAG_LABEL, ylabel="capacity per input")
        ax.invert_xaxis()
        ax.legend(loc="upper center", ncols=2, frameon=False)
    return axes


def plot_model_against_truth(errors: PredictionErrors, axes: np.ndarray) -> np.ndarray:
    """Figure 14: coefficients above, autocorrelation below; both curves, their difference, and relative to the truth.

    Parameters
    ----------
    axes : (2, 3) axes.
    """
    rows = (
        (errors.model, errors.target, errors.coefficient_error, r"\hat A", "A^*"),
        (errors.model_autocorrelation, errors.autocorrelation, errors.autocorrelation_error, r"\hat C", "C"),
    )
    for (model, truth, error, fitted, true), (both, absolute, relative) in zip(rows, axes, strict=True):
        lags = np.arange(truth.size)
        both.plot(lags, model, color=CYCLE[0], linewidth=2.2, alpha=0.6, label=f"model ${fitted}$")
        both.plot(lags, truth, "--", color=CYCLE[2], linewidth=1.2, label=f"truth ${true}$")
        both.legend(loc="best")
        absolute.plot(lags, error, color=CYCLE[0], linewidth=1.0)
        relative.plot(lags, relative_to(error, truth), color=CYCLE[0], linewidth=1.0)
        absolute.set_title(f"difference ${fitted}-{true}$")
        relative.set_title(f"relative $({fitted}-{true})/{true}$")
        for ax in (both, absolute, relative):
            if ax is not both:
                ax.axhline(0, color="0.4", linewidth=0.7)
            ax.set(xlim=(lags[-1] + 0.5, -0.5))
            ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    for ax in axes[-1]:
        ax.set_xlabel(LAG_LABEL)
    axes[0, 0].set_title("coefficients")
    axes[1, 0].set_title("autocorrelation")
    return axes
