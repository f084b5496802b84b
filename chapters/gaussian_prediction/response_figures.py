"""How an optimum responds to moves of its target."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import MARKERS

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
