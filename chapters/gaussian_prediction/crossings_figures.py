"""A curved model space, its error curve and the 𝒦^⊥ of its optimum."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from chapters.gaussian_prediction.crossings import Curve


def plot_error_curve(curve: Curve, w: np.ndarray, ax: Axes) -> Axes:
    """The errors X(w) of a curve in the plane, the line 𝒦^⊥ of its optimum, and where the two meet.

    Parameters
    ----------
    w : (m,) parameters to draw.
    """
    errors = curve.coefficients(w) - curve.target[:, None]
    optimum = curve.coefficients(curve.optimum) - curve.target
    crossings = curve.coefficients(curve.crossings(curve.optimum)) - curve.target[:, None]
    ax.plot(*errors, color="C0", label="errors X")
    ax.axline(
        (0, 0), tuple(optimum), color="C1", linestyle="--", linewidth=1.3, label="$\\mathcal{K}^\\perp$ of the optimum"
    )
    ax.plot(*crossings, "s", color="C3", markerfacecolor="none", markersize=9, label="crossings")
    ax.plot(*optimum, "o", color="C2", label="optimal error")
    ax.plot(0, 0, "+", color="k", markersize=8)
    ax.annotate("X = 0", (0, 0), xytext=(6, 5), textcoords="offset points")
    ax.set(xlabel="$X_0$", ylabel="$X_1$", aspect="equal")
    ax.legend(loc="upper right")
    return ax


def plot_off_constraint(curve: Curve, w: np.ndarray, ax: Axes) -> Axes:
    """K̃ᵀX along the curve, with K̃ taken at each point and with K̃ taken once at the optimum."""
    ax.plot(w, curve.off_constraint(w, at=curve.optimum), "--", color="C1", label="$\\tilde K$ of the optimum")
    ax.plot(w, curve.off_constraint(w), color="C0", label="$\\tilde K$ of each point")
    roots = curve.crossings(curve.optimum)
    ax.plot(roots, np.zeros_like(roots), "s", color="C3", markerfacecolor="none", markersize=9)
    ax.plot(curve.optimum, 0, "o", color="C2")
    ax.axhline(0, color="0.4", linewidth=0.8)
    ax.set(xlabel="parameter w", ylabel="$\\tilde K^\\mathsf{T} X(w)$")
    ax.legend()
    return ax
