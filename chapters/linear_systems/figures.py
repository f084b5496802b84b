"""Figures on errors, shares of capacity, and subspaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from capcore.plotting import CYCLE, LAG_LABEL, MARKERS, plot_profiles
from chapters.linear_systems.errors import SimulatedErrors
from chapters.linear_systems.study import IN_USE, ErrorCurve, OptimalError


def plot_error_plane(curve: ErrorCurve, ax: Axes, radius: float) -> Axes:
    """Error curve, 𝒦, 𝒦^⊥, the optimum, every other crossing, and level sets of the loss.

    Parameters
    ----------
    radius : the axes run from −radius to radius around the target, X = 0.
    """
    plain = np.linspace(-radius, radius, 241)
    innermost = max(curve.losses(curve.optimum)[0], 1e-6 * curve.losses_at(np.array([radius, radius])))
    levels = innermost * np.square([1.0, 3.0, 6.0, 10.0, 16.0])
    grid = np.stack(np.meshgrid(plain, plain), axis=-1)
    ax.contour(plain, plain, curve.losses_at(grid), levels, colors="0.72", linewidths=0.8)
    ax.plot(
        *curve.errors(np.linspace(*IN_USE, 201)).T, color=CYCLE[0], linewidth=2.4, label=r"error subspace $\mathcal{X}$"
    )
    ax.plot(*curve.errors(np.linspace(-4, 5, 1801)).T, ":", color=CYCLE[0], linewidth=1.2, label=r"other real $\alpha$")
    k = curve.space.basis[:, 0] * np.sign(curve.space.basis[0, 0])
    line = 2 * radius * np.array([[-k[1], k[0]], [k[1], -k[0]]])
    ax.plot(*line.T, "--", color=CYCLE[2], label=r"constraints subspace $\mathcal{K}^\perp$")
    arrow = {"arrowstyle": "-|>", "color": CYCLE[1], "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", 0.5 * radius * k, (0, 0), arrowprops=arrow)
    ax.annotate(r"$\mathcal{K}$", 0.5 * radius * k, (4, 2), textcoords="offset points", color=CYCLE[1], fontsize=11)
    ax.plot(*curve.errors(curve.optimum)[0], "o", color="black", label=r"optimal error $\hat{A}-A^*$")
    others = curve.errors(curve.other_crossings)
    others = others[np.abs(others).max(axis=1) <= radius]
    if others.size:
        ax.plot(*others.T, "ko", fillstyle="none", markersize=8, label="other crossing")
    ax.plot(0, 0, "k+", markersize=9, label="target, $X=0$")
    ax.set(
        xlim=(-radius, radius), ylim=(-radius, radius), aspect="equal", xlabel="error at lag 0", ylabel="error at lag 1"
    )
    return ax


def plot_loss_along(curve: ErrorCurve, ax: Axes) -> Axes:
    """The loss along the error curve, with every crossing with 𝒦^⊥ marked and the range of use shaded."""
    alphas = np.linspace(min(IN_USE[0], curve.crossings[0]) - 0.2, max(IN_USE[1], curve.crossings[-1]) + 0.2, 400)
    ax.axvspan(*IN_USE, color="0.93", linewidth=0, label="range of use")
    ax.plot(alphas, curve.losses(alphas), color=CYCLE[0])
    ax.plot(curve.optimum, curve.losses(curve.optimum)[0], "ko", label="optimum")
    others = curve.other_crossings
    ax.plot(others, curve.losses_at(curve.errors(others)), "ko", fillstyle="none", markersize=8, label="other crossing")
    ax.set(xlabel=r"smoothing factor $\alpha$", ylabel=r"loss $X^\mathsf{T}\Sigma X$")
    ax.legend()
    return ax


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


HATCHES = ("", "//", "..", "xx")
ABOVE: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "frameon": False, "columnspacing": 1.0}
"""A legend above the axis, where no data can hide behind it."""


LEVERAGES = {
    "model space": r"$J$ (model space)",
    "fit": r"$\Sigma^{1/2}J$ (fit)",
    "constraints": r"$\Sigma J$ (constraints)",
}


def plot_leverages(leverages: Mapping[str, np.ndarray], ax: Axes, title: str = "") -> Axes:
    """The three leverages of one model over its inputs, from ``leverages``."""
    plot_profiles({LEVERAGES[name]: values for name, values in leverages.items()}, ax, ylabel="leverage")
    ax.set(title=title, ylim=(0, 1.08))
    return ax


def plot_squared_cosines(cosines: Mapping[str, np.ndarray], capacities: Mapping[str, float], ax: Axes) -> Axes:
    """One stacked bar per subspace, a block for each principal angle; a diamond marks the capacity.

    Parameters
    ----------
    cosines : subspace → (n_S,) squared cosines. capacities : subspace → κ(S).
    """
    for i, (label, values) in enumerate(cosines.items()):
        bottoms = np.concatenate([[0.0], np.cumsum(values)[:-1]])
        blocks = ax.bar(i, values, 0.55, bottom=bottoms, color="#9ecae1", edgecolor="white", linewidth=1.2)
        (diamond,) = ax.plot(i, capacities[label], "D", color=CYCLE[1], clip_on=False, zorder=3)
        ax.annotate(f"{capacities[label]:.2f}", (i, capacities[label]), (0, 6), textcoords="offset points", ha="center")
    ax.set_xticks(range(len(cosines)), list(cosines))
    ax.set(ylabel="capacity", ylim=(0, max(map(len, cosines.values())) + 0.4))
    ax.grid(axis="x", visible=False)
    ax.legend([blocks, diamond], [r"$\cos^2\theta_j$, one block each", r"$\kappa(S)$"], ncols=2, **ABOVE)
    return ax


def plot_pair_gaps(angles: np.ndarray, gaps: np.ndarray, ax: Axes) -> Axes:
    """Largest departure from additivity of pairs of spaces over their smallest principal angle, with its cosine.

    Parameters
    ----------
    angles : (m,) radians. gaps : (m,) suprema over all directions.
    """
    grid = np.linspace(0, np.pi / 2, 200)
    ax.plot(np.degrees(grid), np.cos(grid), color="0.3", linewidth=1, label=r"$\cos\theta_{\min}$")
    ax.plot(np.degrees(angles), gaps, "o", color=CYCLE[0], markersize=3.5, alpha=0.7, label="random pairs")
    ax.set(
        xlabel="smallest principal angle (degrees)",
        ylabel=r"$\sup_s\,|\kappa_1(s)+\kappa_2(s)-\kappa(s)|$",
        xticks=[0, 30, 60, 90],
    )
    ax.legend()
    return ax


def plot_sum_and_union(inputs: np.ndarray, separate: np.ndarray, joint: np.ndarray, ax: Axes) -> Axes:
    """Sum of the capacities of several constraint spaces beside the capacity of their sum, over the inputs.

    Parameters
    ----------
    inputs : (n,) lags. separate, joint : (n,) Σ_l κ_l and κ of all together. The most recent input is at the right.
    """
    ax.plot(inputs, separate, color=CYCLE[1], marker="s", markevery=max(1, len(inputs) // 12), label="added up")
    ax.plot(inputs, joint, color=CYCLE[0], marker="o", markevery=max(1, len(inputs) // 12), label="together")
    ax.fill_between(inputs, joint, separate, color="0.85", linewidth=0, label="counted more than once")
    ax.axhline(1, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel="lag (0 = most recent input)", ylabel="capacity", ylim=(0, None))
    ax.invert_xaxis()
    ax.legend()
    return ax


def plot_chain_orders(
    orders: Sequence[Sequence[int]],
    terms: Sequence[Sequence[float]],
    labels: Sequence[str],
    ax: Axes,
    names: Sequence[str] | None = None,
) -> Axes:
    """One horizontal stacked bar per order of the same constraint spaces: what each adds to those before it.

    Parameters
    ----------
    orders : for each bar, the numbers of the spaces (from 0) in the order they are added.
    terms : for each bar, the conditional capacities in that order.
    labels : one per space. names : one per bar; default the order itself.
    """
    drawn = {}
    for row, (order, values) in enumerate(zip(orders, terms, strict=True)):
        left = 0.0
        for space, value in zip(order, values, strict=True):
            drawn[space] = ax.barh(
                row,
                value,
                0.62,
                left=left,
                color=CYCLE[space % len(CYCLE)],
                alpha=0.75,
                hatch=HATCHES[space % len(HATCHES)],
                edgecolor="white",
            )
            left += value
    ax.set_yticks(range(len(orders)), names or [", ".join(str(space + 1) for space in order) for order in orders])
    ax.invert_yaxis()
    ax.set(xlabel="conditional capacity")
    ax.grid(axis="y", visible=False)
    ax.legend(
        [drawn[space] for space in sorted(drawn)],
        [labels[space] for space in sorted(drawn)],
        ncols=min(len(drawn), 4),
        handletextpad=0.4,
        **ABOVE,
    )
    return ax
