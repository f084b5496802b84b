"""Capacity under a change of units."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import MARKERS


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
