"""Figures about dilated blocks: exact capacities, the singular values behind them, profiles, and long runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LAG_LABEL, MARKERS


def plot_exact_capacities(
    channels: Sequence[int], capacities: Mapping[str, Sequence[int]], n_inputs: int, ax: Axes
) -> Axes:
    """A table of exact κ: one row per order of the layers, one column per number of channels, full where κ = n."""
    table = np.array(list(capacities.values()), dtype=float)
    ax.imshow(table, cmap="Blues", vmin=0, vmax=1.25 * n_inputs, aspect="auto")
    for i, j in np.ndindex(*table.shape):
        dark = table[i, j] > 0.75 * n_inputs
        ax.text(j, i, f"{table[i, j]:.0f}", ha="center", va="center", color="white" if dark else "0.1")
    ax.set_xticks(range(len(channels)), [str(c) for c in channels])
    ax.set_yticks(range(len(capacities)), list(capacities))
    ax.set(xlabel="channels")
    ax.tick_params(length=0)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


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
            x, np.maximum(singular, floor) / singular[0], color=CYCLE[i], marker=MARKERS[i],
            markevery=max(1, len(x) // 15), label=label,
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
    ax.set(xlabel=LAG_LABEL, ylabel="capacity", ylim=(-0.02, 1.05))
    ax.set_xlim(max(v.size for v in profiles.values()), -1)
    ax.legend(loc="upper center", ncols=len(profiles))
    return ax


def plot_courses(
    courses: Mapping[str, Sequence[Mapping[str, Sequence[float]]]],
    quantity: str,
    ax: Axes,
    ylabel: str,
    reference: float | None = None,
) -> Axes:
    """A quantity of each run against its loss, from right (start) to left; lines of one group share colour and marker.

    Parameters
    ----------
    courses : group → runs, each with lists ``loss`` and ``quantity``. reference : height of a dashed line.
    """
    for i, (label, runs) in enumerate(courses.items()):
        for k, run in enumerate(runs):
            quasi = "L-BFGS" in label
            ax.plot(
                run["loss"], run[quantity], color=CYCLE[i % 2], marker=MARKERS[i % len(MARKERS)],
                linestyle=":" if quasi else "-", markerfacecolor="white" if quasi else CYCLE[i % 2],
                label=label if k == 0 else None,
            )  # fmt: skip
    if reference is not None:
        ax.axhline(reference, color="0.3", linestyle="--", linewidth=0.9)
    ax.set_xscale("log")
    ax.set(xlabel="loss reached", ylabel=ylabel)
    if not ax.xaxis_inverted():
        ax.invert_xaxis()
    return ax


def plot_family_shares(families: Mapping[str, Mapping[str, float]], ax: Axes) -> Axes:
    """Per family the share ``near`` of the tiled model and the difference ``far``, with one half and zero marked."""
    labels = {"near": "tiled: share on the nearest third", "far": "farthest third: repeated minus tiled"}
    rows = np.arange(len(families))
    for i, (key, label) in enumerate(labels.items()):
        ax.plot([each[key] for each in families.values()], rows, MARKERS[i], color=CYCLE[i], label=label)
    ax.axvline(0.5, color=CYCLE[0], linestyle="--", linewidth=0.9)
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.set_yticks(rows, list(families))
    ax.set(xlabel="share of κ", ylim=(len(families) - 0.5, -0.5))
    ax.figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return ax
