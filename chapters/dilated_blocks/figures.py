"""Figures about dilated blocks: exact capacities, the singular values behind them, profiles, and long runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from chapters.shared.lag_figures import LAG_AXIS


def plot_rank_decisions(
    values: Mapping[str, np.ndarray], tolerances: Mapping[str, float], exact: Mapping[str, int], ax: Axes
) -> Axes:
    """Singular values by index, with the threshold that decides the numerical rank and the exact rank marked.

    Parameters
    ----------
    values : label → singular values, descending. tolerances : label → threshold. exact : label → exact rank.
    """
    for i, (label, singular) in enumerate(values.items()):
        x = np.arange(1, len(singular) + 1)
        floor = 1e-18 * singular[0]
        ax.plot(
            x, np.maximum(singular, floor) / singular[0], ("-", "--")[i % 2], color=CYCLE[i], label=label
        )  # fmt: skip
        ax.axvline(exact[label] + 0.5, color=CYCLE[i], linestyle=":", linewidth=1)
        ax.annotate(
            f"κ = {exact[label]}", (exact[label], 0.97 - 0.08 * i), xycoords=("data", "axes fraction"),
            xytext=(4, -8), textcoords="offset points", fontsize=8.5, color=CYCLE[i],
        )  # fmt: skip
    level = max(tolerances[label] / values[label][0] for label in values)
    ax.axhline(level, color="0.3", linestyle="--", linewidth=0.9, label="threshold")
    ax.set_yscale("log")
    ax.set(xlabel="index", ylabel="singular value, relative", ylim=(1e-19, 10))
    ax.legend(loc="lower left")
    return ax


def plot_dilated_profiles(profiles: Mapping[str, np.ndarray], ax: Axes, width: int = 1) -> Axes:
    """Capacity per input over the lags, thin, with a running mean over ``width`` lags drawn thick if above 1."""
    for i, (label, values) in enumerate(profiles.items()):
        lags = np.arange(values.size, dtype=float)
        if width > 1:
            ax.plot(lags, values, color=CYCLE[i], linewidth=0.5, alpha=0.45)
            mean = np.convolve(values, np.full(width, 1 / width), mode="valid")
            lags, values = np.arange(mean.size) + (width - 1) / 2, mean
        style = ("-", "--", "-.")[i % 3]
        ax.plot(lags, values, style, color=CYCLE[i], linewidth=1.6, label=label)
    ax.set(xlabel=LAG_AXIS, ylabel="capacity", ylim=(-0.02, 1.05))
    ax.set_xlim(max(v.size for v in profiles.values()), -1)
    ax.legend(loc="upper center", ncols=len(profiles))
    return ax
