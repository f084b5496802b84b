"""Figures of the metric α̂ and of paper 3, Eq. 6: units, rescaled weights, and a ratio against an exponent."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS


def plot_by_unit(values: Mapping[str, np.ndarray], names: Sequence[str], ax: Axes, ylabel: str) -> Axes:
    """α̂ (n_networks,) of the same networks, one line per unit. names : of the networks, along the horizontal axis."""
    ax.axhline(0, color="0.4", linewidth=0.9)
    for i, (unit, heights) in enumerate(values.items()):
        ax.plot(heights, marker=MARKERS[i], color=CYCLE[i], linestyle=("-", "--", ":")[i % 3], label=unit)
    ax.set_xticks(range(len(names)), list(names))
    ax.set(ylabel=ylabel, xlim=(-0.3, len(names) - 0.7))
    return ax


def plot_rescaled(
    factors: np.ndarray, computed: np.ndarray, law: np.ndarray | None, ax: Axes, ylabel: str, colour: int = 0
) -> Axes:
    """A metric (m,) against m factors on the weights: markers computed; a line for the law, where one is given."""
    if law is not None:
        ax.semilogx(factors, law, "--", color="0.4", label="law")
    ax.semilogx(factors, computed, MARKERS[colour], color=CYCLE[colour], label="computed")
    ax.axvline(1.0, color="0.6", linewidth=0.9)
    ax.set(xlabel="factor on the kernels", ylabel=ylabel)
    return ax


def plot_ratio(
    groups: Mapping[str, tuple[np.ndarray, np.ndarray]], curves: Mapping[str, tuple[np.ndarray, np.ndarray]], ax: Axes
) -> Axes:
    """log‖W‖²_F / log λ_max against α, with the line of equality.

    groups : label → (n_cases, n_draws) exponents and ratios: their means, with bars to the quartiles. curves : label →
    (m,) exponents and ratios.
    """
    low, high = 1.0, 1.0
    for i, (label, (alphas, ratios)) in enumerate(groups.items()):
        x, y = alphas.mean(axis=1), ratios.mean(axis=1)
        ends = np.abs(np.quantile(ratios, [0.25, 0.75], axis=1) - y)
        ax.errorbar(x, y, ends, fmt=MARKERS[i], color=CYCLE[i], ms=5, linewidth=1, label=label)
        low, high = min(low, float(x.min())), max(high, float(x.max()))
    for i, (label, (alphas, ratios)) in enumerate(curves.items()):
        ax.plot(alphas, ratios, ("-.", ":")[i % 2], color=CYCLE[4 + i], label=label)
    ax.plot([low, high + 0.1], [low, high + 0.1], color="0.3", linewidth=1, label="ratio = α")
    ax.set(xlabel="exponent α", ylabel=r"$\log\,\Vert W\Vert_F^2\;/\;\log\,\lambda_\max$")
    return ax
