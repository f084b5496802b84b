"""Figures on processes and their samples, on responses to a moved target, and on where errors meet 𝒦^⊥."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from scipy.linalg import cholesky

from capcore.plotting import LAG_LABEL
from capcore.processes import Process
from chapters.gaussian_prediction.optima import Curve
from chapters.gaussian_prediction.response import Answer
from chapters.shared.process_names import process_look, process_name


def plot_error_curve(curve: Curve, w: np.ndarray, ax: Axes) -> Axes:
    """The errors X(w) of a curve in the plane, the line 𝒦^⊥ of its optimum, and where the two meet.

    Parameters
    ----------
    w : (m,) parameters to draw.
    """
    errors = curve.coefficients(w) - curve.target[:, None]
    optimum = curve.coefficients(curve.optimum) - curve.target
    crossings = curve.coefficients(curve.crossings(curve.optimum)) - curve.target[:, None]
    ax.plot(*errors, color="C0")
    ax.axline((0, 0), tuple(optimum), color="C1", linestyle="--", linewidth=1.3)
    ax.plot(*crossings, "o", color="C0", markerfacecolor="white", markersize=7)
    ax.plot(*optimum, "o", color="C0", markersize=7)
    ax.plot(0, 0, "+", color="k", markersize=8)
    others = [crossing for crossing in crossings.T if not np.allclose(crossing, optimum)]
    ax.annotate("optimum", (*optimum,), (-2, -22), textcoords="offset points", ha="right")
    for name, at in (("target, X = 0", np.zeros(2)), *(("no optimum", point) for point in others)):
        ax.annotate(name, (*at,), (8, 4), textcoords="offset points")
    ax.annotate("errors X", (*errors[:, -1],), (-4, 4), textcoords="offset points", color="C0", ha="right")
    middle = np.mean([*others, optimum], axis=0)
    ax.annotate(r"$\mathcal{K}^\perp$", (*middle,), (6, 4), textcoords="offset points", color="C1", fontsize=11)
    ax.set(xlabel="$X_0$", ylabel="$X_1$", aspect="equal")
    ax.margins(0.12)
    return ax


def plot_lines(lines: Mapping[str, np.ndarray], ax: Axes, xlabel: str, ylabel: str) -> Axes:
    """One line per family over the lags, (n,) values, told apart by colour and dash; the most recent at the right."""
    for i, (family, values) in enumerate(lines.items()):
        look = {**process_look(family, i), "marker": ""}
        ax.plot(values, label=process_name(family), **look)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.invert_xaxis()
    return ax


def plot_paths(processes: Mapping[str, Process], n_samples: int, ax: Axes, seed: int = 0) -> Axes:
    """One sample path of each process, below each other and named at its end; time runs to the right."""
    rng = np.random.default_rng(seed)
    for i, (family, process) in enumerate(processes.items()):
        path = cholesky(process.covariance(n_samples), lower=True) @ rng.normal(size=n_samples)
        look = {**process_look(family, i), "marker": "", "linestyle": "-"}
        ax.plot(path / np.sqrt(process.autocovariance(1)[0]) - 6 * i, linewidth=0.9, **look)
        name = ax.annotate(process_name(family), (0, 2.6 - 6 * i), color=look["color"])
        name.set_path_effects([withStroke(linewidth=3, foreground="white")])
    ax.set(xlabel="time", yticks=[])
    return ax


def plot_response_per_input(answers: Mapping[str, Answer], ax: Axes) -> Axes:
    """Squared response to a move of one target coefficient against the capacity of that input, with its bounds."""
    line = np.array([0.5 * min(answer.capacities.min() for answer in answers.values()), 1.0])
    for i, (label, answer) in enumerate(answers.items()):
        colour, (low, high) = f"C{i}", answer.bounds
        ax.loglog(answer.capacities, answer.squares, "o", color=colour, label=label, markersize=3, zorder=3)
        ax.fill_between(line, low * line, high * line, color=colour, alpha=0.15, linewidth=0)
    ax.set(xlabel="capacity of the input", ylabel="squared response per unit of move")
    ax.legend(loc="upper left")
    return ax


def plot_response_to_one(answer: Answer, lag: int, ax: Axes) -> Axes:
    """How all trained coefficients move when the target's at one lag moves by one, most recent at the right."""
    column = answer.matrix[:, lag]
    ax.stairs(column, np.arange(column.size + 1) - 0.5, fill=True, color="C0")
    ax.stairs([1.0], [lag - 0.5, lag + 0.5], color="C1", linewidth=1.2)
    ax.annotate("target", (lag, 1.0), (0, 3), textcoords="offset points", ha="center", color="C1")
    ax.axhline(0, color="0.5", linewidth=0.6)
    ax.set(xlabel=LAG_LABEL, ylabel="move of the coefficients", ylim=(min(-0.05, column.min()), 1.12))
    ax.invert_xaxis()
    return ax


def ring_refitted(capacities: np.ndarray, squares: np.ndarray, ax: Axes) -> Axes:
    """Rings where a model was trained again, in :func:`plot_response_per_input`; both (m,)."""
    ax.plot(capacities, squares, "o", color="k", markerfacecolor="none", markersize=8, label="trained again")
    ax.legend(loc="upper left")
    return ax
