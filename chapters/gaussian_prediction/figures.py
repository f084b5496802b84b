"""Figures on processes, predictors, and what an optimum leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from re import sub
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import MARKERS
from chapters.gaussian_prediction.optima import Curve
from chapters.gaussian_prediction.response import AutocorrelationError
from chapters.gaussian_prediction.study import Counts, SampledError

STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def plot_lines(lines: Mapping[str, np.ndarray], ax: Axes, xlabel: str, ylabel: str, first: int = 0) -> Axes:
    """One line per label, told apart by colour, dash and marker; position 0 at the left.

    Parameters
    ----------
    lines : label → (n,) values. first : abscissa of their first entry.
    """
    for i, (label, values) in enumerate(lines.items()):
        ax.plot(
            first + np.arange(len(values)),
            values,
            label=label,
            linestyle=STYLES[i % len(STYLES)],
            marker=MARKERS[i % len(MARKERS)],
            markevery=(i, max(1, len(values) // 8)),
        )
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax


def plot_spectra(eigenvalues: Mapping[str, np.ndarray], axes: Sequence[Axes]) -> Sequence[Axes]:
    """The eigenvalues of one covariance per panel, on one logarithmic scale.

    Parameters
    ----------
    eigenvalues : name of the process → (n,) eigenvalues, descending.
    """
    for ax, (name, values) in zip(axes, eigenvalues.items(), strict=True):
        ax.semilogy(np.arange(1, len(values) + 1), values, ".", markersize=3)
        ax.set_title(fill(sub("(?<=[a-z])(?=[A-Z])", " ", name), 11), fontsize=9)
    axes[0].set_ylabel("eigenvalue of Σ")
    axes[len(axes) // 2].set_xlabel("eigenvalue number, largest first")  # once: narrow panels have no room for it each
    return axes


def plot_allocations(
    profiles: Sequence[Mapping[str, np.ndarray]], regular: Sequence[Mapping[str, bool]], axes: Sequence[Axes]
) -> Sequence[Axes]:
    """The capacity per input of the same models for one process per panel, most recent input at the right.

    Parameters
    ----------
    profiles : for each panel, model label → (n,) capacities.
    regular : for each panel, model label → whether it stands at a regular point; the others are drawn dotted and pale.
    """
    for ax, lines, flags in zip(axes, profiles, regular, strict=True):
        for i, (label, values) in enumerate(lines.items()):
            ax.plot(
                np.arange(len(values)),
                values,
                label=label,
                color=f"C{i}",
                marker=MARKERS[i % len(MARKERS)],
                markersize=3,
                markevery=max(1, len(values) // 8),
                linestyle="-" if flags[label] else ":",
                alpha=1.0 if flags[label] else 0.55,
            )
        ax.axhline(1.0, color="0.4", linestyle="--", linewidth=0.8)
        ax.set(xlabel="lag", ylim=(-0.03, 1.08))
        ax.invert_xaxis()
        ax.label_outer()
    axes[0].set_ylabel("capacity per input")
    return axes


def plot_sampled_errors(samples: Mapping[str, SampledError], expected: Mapping[str, float], ax: Axes) -> Axes:
    """Relative distance of each sampled mean from the value it should have, with one and two standard errors.

    Parameters
    ----------
    samples, expected : label → sampled error, and the value without sampling.
    """
    labels = list(samples)
    height = np.arange(len(labels))
    means = np.array([samples[label].mean / expected[label] - 1 for label in labels])
    errors = np.array([samples[label].standard_error / expected[label] for label in labels])
    ax.errorbar(100 * means, height, xerr=200 * errors, fmt="none", color="0.6", linewidth=1.0, capsize=0)
    ax.errorbar(100 * means, height, xerr=100 * errors, fmt="o", color="C0", linewidth=2.2)
    ax.axvline(0, color="0.3", linestyle="--", linewidth=0.9)
    ax.set_yticks(height, labels)
    ax.set(ylim=(len(labels) - 0.5, -0.5), xlabel="sampled mean squared error − Eq. 33, in % of Eq. 33")
    return ax


def plot_autocorrelation_errors(
    errors: Sequence[AutocorrelationError], labels: Sequence[str], axes: Sequence[Axes]
) -> Sequence[Axes]:
    """One panel per model: what is left of E in the system of Ĉ, and the source ΣX, over the lags.

    Each is relative to the largest |E| of its model.
    """
    for ax, error, label in zip(axes, errors, labels, strict=False):
        lags = np.arange(1, error.residual.size + 1)
        ax.plot(lags, error.error[1:] / error.size, color="0.6", linewidth=1.0, label="error E")
        ax.plot(lags, error.residual / error.size, color="C0", label="residual of E")
        ax.plot(lags, error.source / error.size, "o", color="C1", markerfacecolor="none", ms=4, label="source ΣX")
        ax.axhline(0, color="0.4", linewidth=0.7)
        ax.set(title=label, xlabel="lag k")
    axes[0].set_ylabel("relative to max |E|")
    return axes


def plot_counts(counts: Counts, capacity: int, ax: Axes, title: str = "") -> Axes:
    """Squared singular values and eigenvalues of the Gram matrix on one logarithmic scale.

    Negative eigenvalues are shown as crosses at their absolute value; the vertical line stands after ``capacity``.
    """
    n = counts.eigenvalues.size
    number = np.arange(1, n + 1)
    negative = counts.eigenvalues < 0
    squares = np.square(counts.singular_values)
    ax.semilogy(number[: squares.size], np.maximum(squares, 1e-40), "-", color="C0", label="singular values, squared")
    ax.semilogy(number[~negative], counts.eigenvalues[~negative], "o", color="C1", ms=3, label="eigenvalues")
    ax.semilogy(number[negative], -counts.eigenvalues[negative], "x", color="C3", ms=4, label="negative eigenvalues")
    ax.axhline(n * np.finfo(float).eps, color="0.4", linestyle="--", linewidth=0.9, label="threshold $n\\,\\epsilon$")
    ax.axvline(capacity + 0.5, color="0.4", linestyle=":", linewidth=0.9, label="exact $\\kappa$")
    ax.set(xlabel="number", ylabel="relative to the largest", title=title, ylim=(1e-22, 5))
    return ax


def plot_missed(conditions: np.ndarray, missed: Mapping[str, tuple[Sequence[int], Sequence[int]]], ax: Axes) -> Axes:
    """Directions missed by the two counts against the condition number of the mixing.

    Parameters
    ----------
    missed : model label → (missed by the eigenvalues, missed by the singular values), each (m,).
    """
    for i, (label, (by_eigenvalues, by_singular_values)) in enumerate(missed.items()):
        look = {"color": f"C{i}", "marker": MARKERS[i % len(MARKERS)]}
        ax.semilogx(conditions, by_eigenvalues, label=label, linestyle="-", **look)
        ax.semilogx(conditions, by_singular_values, linestyle=":", markerfacecolor="none", **look)
    ax.set(xlabel="condition number of the mixing", ylabel="directions missed")
    ax.legend(loc="upper left")
    return ax


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


def plot_rescaling(
    factors: np.ndarray, computed: Mapping[str, np.ndarray], closed_form: Mapping[str, np.ndarray], ax: Axes
) -> Axes:
    """Capacity of single inputs against the factor they are multiplied by: markers computed, lines in closed form."""
    for i, (label, values) in enumerate(computed.items()):
        ax.semilogx(factors, closed_form[label], color=f"C{i}")
        ax.semilogx(factors, values, MARKERS[i % len(MARKERS)], color=f"C{i}", label=label)
    ax.axvline(1.0, color="0.4", linestyle="--", linewidth=0.9)
    ax.set(xlabel="factor the input is multiplied by", ylabel="capacity of that input", ylim=(-0.03, 1.03))
    ax.legend()
    return ax


LOOKS = {
    "inside 𝒦": {"label": "inside $\\mathcal{K}$", "color": "C0", "marker": "o", "linestyle": "-"},
    "generic": {"label": "generic", "color": "C1", "marker": "s", "linestyle": "--"},
    "orthogonal to 𝒦": {"label": "orthogonal to $\\mathcal{K}$", "color": "C2", "marker": "^", "linestyle": "-."},
    "none (control)": {"label": "none (control)", "color": "0.35", "marker": "x", "linestyle": ":"},
}
"""Kind of move → how it looks in every figure."""


def plot_response_curves(steps: np.ndarray, curves: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """Length of the response against the length of the move, both logarithmic.

    Parameters
    ----------
    steps : (m,) lengths of the moves, in units of the error. curves : kind of move → (m,) responses.
    """
    for kind, values in curves.items():
        ax.loglog(steps, values, **LOOKS[kind])
    ax.set(xlabel="length of the move (in units of ‖X‖)", ylabel="response of Â per unit of move")
    ax.legend(title="move of A*", loc="center left", bbox_to_anchor=(0.0, 0.62))
    return ax


def plot_response_kinds(responses: Mapping[str, Mapping[str, np.ndarray]], ax: Axes) -> Axes:
    """The response of several models to each kind of move, one column per model.

    Parameters
    ----------
    responses : model label → kind of move → (1,) response.
    """
    kinds = list(dict.fromkeys(kind for row in responses.values() for kind in row))
    for kind in kinds:
        look = {**LOOKS[kind], "linestyle": "none"}
        columns = [i for i, row in enumerate(responses.values()) if kind in row]
        ax.semilogy(columns, [row[kind][0] for row in responses.values() if kind in row], **look)
    ax.set_xticks(range(len(responses)), list(responses))
    ax.set(xlim=(-0.5, len(responses) - 0.5))
    return ax


def plot_response_per_input(
    capacities: Mapping[str, np.ndarray],
    squares: Mapping[str, np.ndarray],
    bounds: Mapping[str, tuple[float, float]],
    ax: Axes,
) -> Axes:
    """Squared response to a move of one target coefficient against the capacity of that input.

    Parameters
    ----------
    capacities, squares : label → (n,) values. bounds : label → least and largest slope a point can lie on.
    """
    line = np.array([0.5 * min(kappa.min() for kappa in capacities.values()), 1.0])
    for i, (label, kappa) in enumerate(capacities.items()):
        colour = f"C{i}"
        ax.loglog(kappa, squares[label], MARKERS[i % len(MARKERS)], color=colour, label=label, markersize=4, zorder=3)
        low, high = bounds[label]
        ax.fill_between(line, low * line, high * line, color=colour, alpha=0.15, linewidth=0)
    ax.set(xlabel="capacity of the input, $\\kappa_i$", ylabel="squared response of Â to $A^*_i$")
    ax.legend(loc="upper left")
    return ax
