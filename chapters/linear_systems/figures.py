"""Figures on the error plane, the share of the error at each input, and what does not add up."""

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from chapters.linear_systems.study import IN_USE, ErrorCurve, OptimalError
from chapters.shared.lag_figures import LAG_AXIS, plot_over_lags


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
    ax.plot(*curve.errors(np.linspace(*IN_USE, 201)).T, color=CYCLE[0], linewidth=2.4, label="error curve")
    ax.plot(*curve.errors(np.linspace(-4, 5, 1801)).T, ":", color=CYCLE[0], linewidth=1.2, label=r"other real $\alpha$")
    k = curve.space.basis[:, 0] * np.sign(curve.space.basis[0, 0])
    line = 2 * radius * np.array([[-k[1], k[0]], [k[1], -k[0]]])
    ax.plot(*line.T, "--", color=CYCLE[2], label=r"$\mathcal{K}^\perp$, where the conditions hold")
    arrow = {"arrowstyle": "-|>", "color": CYCLE[1], "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", 0.5 * radius * k, (0, 0), arrowprops=arrow)
    ax.annotate(r"$\mathcal{K}$", 0.5 * radius * k, (4, 2), textcoords="offset points", color=CYCLE[1], fontsize=11)
    ax.plot(*curve.errors(curve.optimum)[0], "o", color="black", label=r"optimal error $\hat{A}-A^*$")
    others = curve.errors(curve.other_crossings)
    others = others[np.abs(others).max(axis=1) <= radius]
    if others.size:
        ax.plot(*others.T, "ko", fillstyle="none", markersize=8, label="other crossing")
    ax.plot(0, 0, "k+", markersize=9, label="target, $X=0$")
    ends = (-radius, radius)
    ax.set(xlim=ends, ylim=ends, aspect="equal", xlabel="error at lag 0", ylabel="error at lag 1")
    return ax


def plot_realised(error: OptimalError | None, ax: Axes) -> Axes:
    """Realised shares over the inputs, the mean that Eq. 6 gives random errors, and the limit 1 − κ_i."""
    if error is None:
        ax.text(0.5, 0.5, "the target is attained: no error", ha="center", va="center", transform=ax.transAxes)
        return ax
    lags = np.arange(error.free.size)
    ax.step(lags, error.free, "-", where="mid", color="0.3", label=r"limit: $1-\kappa_i$")
    ax.step(lags, error.mean_shares, "--", where="mid", color=CYCLE[1], label=r"Eq. 6: $(1-\kappa_i)/(n-\kappa)$")
    ax.plot(lags, error.shares, "o", color=CYCLE[0], markersize=3.5, label="trained model")
    ax.set(xlabel=LAG_AXIS, ylabel=r"$x_i^2/\Vert X\Vert^2$", yscale="log")
    ax.invert_xaxis()
    ax.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
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
    ax.set(xlabel="smallest principal angle (degrees)", xticks=[0, 30, 60, 90])
    ax.set_ylabel(r"$\sup_s\,|\kappa_1(s)+\kappa_2(s)-\kappa(s)|$")
    ax.legend()
    return ax


def plot_sum_and_union(separate: np.ndarray, joint: np.ndarray, ax: Axes) -> Axes:
    """Sum of the capacities of several constraint spaces beside the capacity of their sum, both (n,), lag 0 first."""
    looks = {"added up": {"color": CYCLE[1]}, "together": {"color": CYCLE[0]}}
    plot_over_lags({"added up": separate, "together": joint}, ax, looks=looks)
    ax.fill_between(np.arange(joint.size), joint, separate, step="mid", color="0.85", linewidth=0)
    ax.set(ylim=(0, None))
    ax.legend()
    return ax
