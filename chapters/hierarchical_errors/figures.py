"""Figures about errors and what capacity says of them: many runs, stopping points, model against truth, two forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colorbar import Colorbar

from capcore.plotting import CYCLE, LAG_LABEL, MARKERS
from capcore.plotting import share_legend as share_legend
from chapters.hierarchical_errors.runs import AlongBasis, Runs
from chapters.hierarchical_errors.study import PredictionErrors, relative_to
from chapters.shared.survey import Case

QUANTITIES = {
    "distance": "distance, errors to bound",
    "spread_ratio": "spread of bound ÷ of errors",
}


def plot_errors_and_bounds(compared: AlongBasis, ax: Axes, xlabel: str, recent_right: bool = False) -> Axes:
    """Mean normalised squared errors and bounds, with bands of one standard deviation over runs (Fig. 6)."""
    x = np.arange(compared.errors.mean.size)
    for spread, label, colour, line in (
        (compared.errors, "squared errors", CYCLE[0], "-"),
        (compared.bounds, r"bound $n_S-\kappa_S$", CYCLE[1], "--"),
    ):
        ax.plot(x, spread.mean, line, color=colour, label=label)
        low = np.maximum(spread.mean - spread.deviation, 0)
        ax.fill_between(x, low, spread.mean + spread.deviation, color=colour, alpha=0.25, linewidth=0)
    ax.set(xlabel=xlabel, ylabel="share", xlim=(-0.5, x[-1] + 0.5), ylim=(0, None))
    if recent_right:
        ax.invert_xaxis()
    return ax


def plot_runs(runs: Runs, axes: Sequence[Axes]) -> Sequence[Axes]:
    """Figure 6: :func:`plot_errors_and_bounds` along the inputs and along the eigenvectors of the covariance."""
    plot_errors_and_bounds(runs.inputs, axes[0], LAG_LABEL, recent_right=True)
    plot_errors_and_bounds(runs.eigenvectors, axes[1], "eigenvector of the covariance (0 = largest eigenvalue)")
    axes[0].legend(loc="upper right")
    return axes


def plot_stopping(
    stops: Sequence[float], series: Mapping[str, Sequence[AlongBasis]], name: str, ax: Axes, limit: float | None = None
) -> Axes:
    """A statistic of the runs against the iterations after which they were stopped, with its standard error.

    Parameters
    ----------
    series : basis → one comparison per stop. name : "distance" or "spread_ratio".
    limit : height of the registered criterion, if one line is to be drawn. The band is what isotropic errors give.
    """
    for i, (label, compared) in enumerate(series.items()):
        values = [getattr(each, name) for each in compared]
        errors = [each.uncertainty[name] for each in compared]
        isotropic = np.array([each.isotropic[name] for each in compared])
        ax.errorbar(stops, values, errors, marker=MARKERS[i], color=CYCLE[i], label=label)
        ax.fill_between(stops, isotropic[:, 0], isotropic[:, 2], color=CYCLE[i], alpha=0.2, linewidth=0)
        ax.plot(stops, isotropic[:, 1], ":", color=CYCLE[i], linewidth=1)
    if limit is not None:
        ax.axhline(limit, color="0.3", linestyle="--", linewidth=0.9)
    ax.set(xscale="log", xlabel="iterations, at most", ylabel=QUANTITIES[name], ylim=(0, None))
    return ax


def plot_losses(stops: Sequence[float], losses: Sequence[np.ndarray], ax: Axes, floor: float | None = None) -> Axes:
    """Losses of all runs against the iterations after which they were stopped, and the loss of a converged optimum."""
    for stop, values in zip(stops, losses, strict=True):
        ax.plot(np.full(values.size, stop), values, "o", color=CYCLE[0], markersize=3, alpha=0.4, markeredgewidth=0)
    ax.plot(stops, [np.median(values) for values in losses], "-", color=CYCLE[0], label="L-BFGS-B: median and runs")
    if floor is not None:
        ax.axhline(floor, color="0.2", linestyle="--", linewidth=1.0, label="converged optimum")
    ax.set(xscale="log", yscale="log", xlabel="iterations, at most", ylabel="loss (excess variance)")
    return ax


def plot_families(families: Mapping[str, Runs], name: str, limits: Mapping[str, float], ax: Axes) -> Axes:
    """A statistic of each family's runs along each basis, with its standard error; families below one another.

    Parameters
    ----------
    name : "distance" or "spread_ratio". limits : basis ("inputs", "eigenvectors") → height of its criterion, dashed.
    """
    names = list(families)
    for i, (basis, limit) in enumerate(limits.items()):
        compared = [getattr(runs, basis) for runs in families.values()]
        x, bars = [getattr(each, name) for each in compared], [each.uncertainty[name] for each in compared]
        y = np.arange(len(names)) + 0.2 * (i - (len(limits) - 1) / 2)
        ax.errorbar(x, y, xerr=bars, fmt=MARKERS[i], color=CYCLE[i], label=f"along {basis}")
        ax.axvline(limit, color=CYCLE[i], linestyle="--", linewidth=1.0, zorder=0)
    ax.set_yticks(range(len(names)), names)
    ax.set(ylim=(len(names) - 0.5, -0.5), xlim=(0, None), xlabel=QUANTITIES[name])
    ax.grid(axis="y", visible=False)
    return ax


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
        for ax in (absolute, relative):
            ax.axhline(0, color="0.4", linewidth=0.7)
        for ax in (both, absolute, relative):
            ax.set(xlim=(lags[-1] + 0.5, -0.5))
            ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    for ax in axes[-1]:
        ax.set_xlabel("lag")
    axes[0, 0].set_title("coefficients")
    axes[1, 0].set_title("autocorrelation")
    return axes


def plot_absolute_errors(errors: Mapping[str, np.ndarray], ax: Axes, ylabel: str, legend: bool = True) -> Axes:
    """Absolute errors over the lags on a logarithmic scale, one line per label; zeros are gaps. Says so if none."""
    if not errors:
        ax.text(0.5, 0.5, "every target is attained: no error", ha="center", va="center", transform=ax.transAxes)
        ax.set(ylabel=ylabel)
        return ax
    for i, (label, values) in enumerate(errors.items()):
        sizes = np.where(values == 0, np.nan, np.abs(values))
        lags = np.arange(values.size)
        ax.plot(lags, sizes, ("-", "--", ":", "-.")[i % 4], color=CYCLE[i % len(CYCLE)], linewidth=1.1, label=label)
    ax.set(yscale="log", xlabel=LAG_LABEL, ylabel=ylabel, xlim=(lags[-1] + 0.5, -0.5))
    if legend:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return ax


def plot_forces(found: Case, axes: Sequence[Axes]) -> PathCollection:
    """One point per input: capacity against target, error against what capacity leaves free, error against target.

    Shaded by lag on a logarithmic scale. Returns the points of the last axis, for :func:`add_lag_bar`. Zeros cannot
    stand on a logarithmic axis and are left out.
    """
    size, capacity, error = np.abs(found.problem.target), found.allocation.per_input, np.abs(found.error)
    target, deviation = r"target $|A^*_i|$", r"error $|\hat A_i-A^*_i|$"
    panels = (
        (size, capacity, target, r"capacity $\kappa_i$", "linear"),
        (np.maximum(1 - capacity, np.finfo(float).eps), error, r"free $1-\kappa_i$", deviation, "log"),
        (size, error, target, deviation, "log"),
    )
    shade = np.log2(1 + np.arange(size.size))
    for ax, (x, y, xlabel, ylabel, yscale) in zip(axes, panels, strict=True):
        points = ax.scatter(x, y, c=shade, cmap="cividis_r", s=22, edgecolor="0.3", linewidth=0.3)
        ax.set(xlabel=xlabel, ylabel=ylabel, xscale="log", yscale=yscale)
    return points


def add_lag_bar(points: PathCollection, axes: Sequence[Axes]) -> Colorbar:
    """A colour bar of lags for the points of :func:`plot_forces`."""
    n = np.asarray(points.get_offsets()).shape[0]
    lags = [lag for lag in 2 ** np.arange(12) - 1 if lag < n]
    bar = axes[0].figure.colorbar(points, ax=axes, ticks=np.log2(1 + np.array(lags)), label="lag")
    bar.ax.set_yticklabels([str(lag) for lag in lags])
    return bar


def plot_correlation_table(table: np.ndarray, rows: Sequence[str], columns: Sequence[str], ax: Axes) -> Axes:
    """A table of correlations, blue where negative and red where positive; NaN is shown as a dash."""
    ax.imshow(np.nan_to_num(table), cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto", alpha=0.75)
    for i, j in np.ndindex(*table.shape):
        text = "–" if np.isnan(table[i, j]) else f"{table[i, j]:+.2f}"
        ax.text(j, i, text, ha="center", va="center", fontsize=8.5, color="0.05")
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax
