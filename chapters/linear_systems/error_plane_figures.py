"""The plane of errors of a one-parameter model on two inputs (paper 1, Figure 2)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from chapters.linear_systems.error_curve import IN_USE, ErrorCurve


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
