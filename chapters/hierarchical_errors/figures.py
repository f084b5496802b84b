"""Figures about errors and what capacity says of them: many runs, stopping points, model against truth."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LAG_LABEL
from chapters.hierarchical_errors.runs import AlongBasis, Runs
from chapters.hierarchical_errors.study import PredictionErrors, ends, relative_to
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


def plot_stopping(stops: Sequence[float], series: Mapping[str, Sequence[AlongBasis]], ax: Axes) -> Axes:
    """Distance of the errors from the bound against the iterations after which runs were stopped, with standard errors.

    Parameters
    ----------
    series : basis → one comparison per stop. The band is what isotropic errors give.
    """
    for (label, compared), colour in zip(series.items(), CYCLE[1:], strict=False):
        isotropic = np.array([stop.isotropic["distance"] for stop in compared])
        ax.fill_between(stops, isotropic[:, 0], isotropic[:, 2], color=colour, alpha=0.2, linewidth=0)
        values = [stop.distance for stop in compared]
        ax.errorbar(stops, values, [stop.uncertainty["distance"] for stop in compared], color=colour)
        at, below = (stops[-1], values[-1]), (0, -18)
        ax.annotate(f"along the {label}", at, below, color=colour, textcoords="offset points", ha="right")
    ax.annotate("errors drawn at random", (stops[0], isotropic[0, 2]), (0, 4), textcoords="offset points", color="0.3")
    ax.set(xscale="log", xlabel="iterations, at most", ylabel="distance from the prediction", ylim=(0, 0.8))
    return ax


def plot_losses(stops: Sequence[float], losses: Sequence[np.ndarray], ax: Axes, floor: float | None = None) -> Axes:
    """Losses of all runs against the iterations after which they were stopped, and the loss of a converged optimum."""
    ax.plot(stops, losses, color=CYCLE[0], alpha=0.5, linewidth=0.7)
    if floor is not None:
        ax.axhline(floor, color="black", linestyle="--", linewidth=1.0)
        ax.annotate("the optimum, reached by Gauss–Newton", (stops[0], floor), (0, 4), textcoords="offset points")
    ax.set(xscale="log", yscale="log", xlabel="iterations, at most", ylabel="loss (excess variance)")
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
