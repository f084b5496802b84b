"""Figures about errors along subspaces, simulated and realised, beside what the capacity says of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from capcore.plotting import CYCLE, LAG_LABEL, MARKERS
from chapters.linear_systems.errors import SimulatedErrors
from chapters.linear_systems.optimal_error import OptimalError

LINES = ("-", "--", ":", "-.")


def plot_simulated(simulated: Mapping[str, SimulatedErrors], n_inputs: int, ax: Axes) -> Axes:
    """Simulated mean over predicted mean with bars of two standard errors: inputs first, then subspaces."""
    for i, (law, result) in enumerate(simulated.items()):
        x = np.arange(len(result.mean)) + 0.27 * (i - (len(simulated) - 1) / 2)
        ax.errorbar(
            x,
            result.mean / result.predicted,
            2 * result.standard_error / result.predicted,
            fmt=MARKERS[i],
            markersize=2.8,
            linewidth=0.8,
            capsize=0,
            label=rf"{law} $\lambda$",
        )
    ax.axhline(1, color="0.3", linewidth=0.8)
    ax.axvline(n_inputs - 0.5, color="0.5", linestyle=":", linewidth=0.8)
    ax.set(ylabel="simulated / Eq. 6", xlim=(-0.9, len(result.mean) - 0.1))
    ax.set_xticks(
        [(n_inputs - 1) / 2, (n_inputs + len(result.mean) - 1) / 2],
        [f"the {n_inputs} inputs", f"{len(result.mean) - n_inputs} random subspaces"],
    )
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="x", visible=False)
    ax.legend(ncols=len(simulated), loc="upper left")
    ax.margins(y=0.2)
    return ax


def plot_departures(ratios: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """Exact expected share of the squared error over Eq. 6's, at every input; one marker per distribution of λ."""
    for i, (label, values) in enumerate(ratios.items()):
        ax.plot(np.arange(len(values)), values, MARKERS[i], color=CYCLE[i], label=label)
    ax.axhline(1, color="0.3", linewidth=0.8)
    ax.set(xlabel="input", ylabel="exact / Eq. 6", yscale="log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0)
    return ax


def plot_exceedance(simulated: Mapping[str, SimulatedErrors], n_inputs: int, ax: Axes) -> Axes:
    """Share of draws whose squared error at an input exceeds x times Eq. 6's value, against x."""
    for i, (law, result) in enumerate(simulated.items()):
        levels = np.linspace(0, 8, 161)
        ax.plot(levels, result.survival(levels, n_inputs), LINES[i], color=CYCLE[i], label=rf"{law} $\lambda$")
    ax.axvline(1, color="0.3", linewidth=0.8)
    ax.annotate(
        "the value of Eq. 6", (1, 0.97), xytext=(4, 0), textcoords="offset points", va="top", fontsize=8.5, color="0.2"
    )
    ax.set(xlabel="squared error at an input / Eq. 6", ylabel="share of draws above", ylim=(0, 1), xlim=(0, 8))
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.85))
    return ax


def plot_shares_against_free(errors: Mapping[str, OptimalError], ax: Axes) -> Axes:
    """Realised share of the squared error of each input against 1 − κ_i, on the diagonal where the two are equal."""
    ax.plot([0, 1], [0, 1], color="0.3", linewidth=0.8)
    for i, (label, error) in enumerate(errors.items()):
        ax.plot(error.free, error.shares, MARKERS[i], color=CYCLE[i], markersize=6, alpha=0.85, label=label)
    ax.set(xlabel=r"free dimension $1-\kappa_i$", ylabel=r"share of the error $x_i^2/\Vert X\Vert^2$", aspect="equal")
    if errors:
        ax.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    return ax


def plot_realised(error: OptimalError | None, ax: Axes) -> Axes:
    """Realised shares over the inputs, the mean that Eq. 6 gives random errors, and the limit 1 − κ_i."""
    if error is None:
        ax.text(0.5, 0.5, "the target is attained: no error", ha="center", va="center", transform=ax.transAxes)
        return ax
    lags, above = np.arange(error.free.size), error.shares > error.mean_shares
    ax.plot(lags, error.free, "-", color="0.3", label=r"limit: $1-\kappa_i$")
    ax.plot(lags, error.mean_shares, "--", color=CYCLE[1], label=r"Eq. 6: $(1-\kappa_i)/(n-\kappa)$")
    ax.plot(lags, error.shares, "o", color=CYCLE[0], label="trained model")
    ax.plot(lags[above], error.shares[above], "o", color=CYCLE[0], markersize=8, fillstyle="none", label="above Eq. 6")
    ax.set(xlabel=LAG_LABEL, ylabel=r"$x_i^2/\Vert X\Vert^2$", yscale="log")
    ax.invert_xaxis()
    ax.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    return ax
