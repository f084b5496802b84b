"""Features, their moments, and the capacity of each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from re import sub
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import LAG_LABEL, MARKERS


def wrapped(name: str) -> str:
    """The name of a family over several short lines.

    >>> wrapped("DampedCosine")
    'Damped\\nCosine'
    """
    return fill(sub("(?<=[a-z])(?=[A-Z])", " ", name), 11)


def plot_functions(features: Callable[[np.ndarray], np.ndarray], ax: Axes, span: float = 3.0) -> Axes:
    """Every feature as a function of the input, over ±``span`` standard deviations.

    Parameters
    ----------
    features : takes (m,) values to (m, d) features.
    """
    y = np.linspace(-span, span, 241)
    for j, values in enumerate(features(y).T):
        ax.plot(y, values, label=f"feature {j + 1}", marker=MARKERS[j % len(MARKERS)], markevery=(8 * j, 48))
    ax.axhline(0, color="0.7", linewidth=0.6, zorder=0)
    ax.set(xlabel="input (standard deviations)", ylim=(-3.5, 3.5))
    return ax


def plot_z_scores(scores: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """Distribution of z-scores against the standard normal density.

    Parameters
    ----------
    scores : label → (m,) z-scores.
    """
    edges = np.linspace(-5, 5, 41)
    for i, (label, values) in enumerate(scores.items()):
        heights, _ = np.histogram(values, edges, density=True)
        ax.stairs(heights, edges, label=label, linestyle=("-", "--", "-.", ":")[i % 4], linewidth=1.4)
    ax.plot(edges, np.exp(-np.square(edges) / 2) / np.sqrt(2 * np.pi), color="0.4", linewidth=0.9, label="N(0, 1)")
    ax.set(xlabel="sampled minus exact entry of $\\Sigma_\\varphi$ (standard errors)", ylabel="density")
    ax.legend()
    return ax


def plot_feature_capacities(capacities: np.ndarray, ax: Axes) -> Axes:
    """Capacity of every feature of every input, stacked per input, below the ceiling d; most recent input at the right.

    Parameters
    ----------
    capacities : (n, d) values, lag 0 first.
    """
    n, d = capacities.shape
    below = np.cumsum(capacities, axis=1) - capacities
    for j in range(d):
        hatch = ("", "///", "...", "xx")[j % 4]
        ax.bar(
            range(n), capacities[:, j], bottom=below[:, j], width=0.85, hatch=hatch, edgecolor="white", linewidth=0.3,
            label=f"feature {j + 1}",
        )  # fmt: skip
    ax.axhline(d, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel=LAG_LABEL, xlim=(n - 0.4, -0.6))
    return ax


def plot_range(profiles: np.ndarray, ax: Axes, label: str, colour: str = "0.7") -> Axes:
    """The range of many profiles over the inputs, as a band.

    Parameters
    ----------
    profiles : (m, n) values, lag 0 first. label, colour : of the band.
    """
    lags = np.arange(profiles.shape[1])
    ax.fill_between(lags, profiles.min(axis=0), profiles.max(axis=0), color=colour, linewidth=0, label=label, zorder=1)
    return ax


def plot_share_columns(shares: Mapping[str, Mapping[str, float]], ax: Axes) -> Axes:
    """Shares of explained variance, one column per process and one marker per kind of predictor.

    Parameters
    ----------
    shares : kind of predictor → process → share.
    """
    for i, (label, row) in enumerate(shares.items()):
        ax.plot(range(len(row)), list(row.values()), MARKERS[i % len(MARKERS)], label=label, color=f"C{i}")
    names = list(next(iter(shares.values())))
    ax.set_xticks(range(len(names)), [wrapped(name) for name in names], fontsize=7.5)
    ax.set(xlim=(-0.5, len(names) - 0.5), ylabel="share of variance explained")
    return ax


def plot_share_curves(
    counts: Sequence[int], shares: Mapping[str, np.ndarray], levels: Mapping[str, float], ax: Axes
) -> Axes:
    """Shares of explained variance against the number of features per input.

    Parameters
    ----------
    counts : (m,). shares : label → (m,) shares. levels : label → height of a horizontal line.
    """
    for i, (label, values) in enumerate(shares.items()):
        ax.plot(counts, values, label=label, marker=MARKERS[i % len(MARKERS)])
    for style, (label, height) in zip(("--", ":"), levels.items(), strict=False):
        ax.axhline(height, color="0.3", linestyle=style, linewidth=1, label=label)
    ax.set(xlabel="features per input", ylabel="share of variance explained")
    return ax
