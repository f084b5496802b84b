"""Figures of capacity and expressivity: labels memorised, targets learnt, and where κ lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from capcore.plotting import CYCLE, MARKERS
from chapters.capacity_vs_expressivity.study import MemorisationCurve

MODELS = ("invariant", "invariant + places", "order-aware", "narrow", "linear", "small invariant", "small order-aware")
"""The models of the chapter: each has the same colour and mark in all figures."""


def _style(name: str) -> dict[str, Any]:
    k = MODELS.index(name) if name in MODELS else len(MODELS)
    return {"color": CYCLE[k % len(CYCLE)], "marker": MARKERS[k % len(MARKERS)], "label": name}


def plot_memorisation(curves: Mapping[str, MemorisationCurve], ax: Axes) -> Axes:
    """Training accuracy on random labels against their number: medians, with the range over the trials as a band."""
    for name, curve in curves.items():
        style = _style(name)
        ax.plot(curve.sizes, curve.medians, **style)
        low, high = curve.accuracies.min(axis=1), curve.accuracies.max(axis=1)
        ax.fill_between(curve.sizes, low, high, color=style["color"], alpha=0.15, linewidth=0)
    ax.axhline(0.5, color="0.25", linestyle="--", linewidth=0.9)
    ax.set(xscale="log", xlabel="random labels to memorise", ylabel="training accuracy", ylim=(0.47, 1.02))
    _plain_ticks(ax, next(iter(curves.values())).sizes)
    return ax


def plot_accuracies(values: Mapping[str, Mapping[str, tuple[float, float, float]]], ax: Axes) -> Axes:
    """Mean accuracy with an interval for every model (rows) and target (marks); dashed, guessing.

    Parameters
    ----------
    values : model → target → mean, lower and upper end.
    """
    targets = list(next(iter(values.values())))
    for k, target in enumerate(targets):
        offset = (k - (len(targets) - 1) / 2) * 0.18
        rows = np.arange(len(values)) + offset
        mean, low, high = np.array([each[target] for each in values.values()]).T
        error = np.abs([mean - low, high - mean])
        ax.errorbar(mean, rows, xerr=error, fmt=MARKERS[k], color=CYCLE[k], markersize=5, linewidth=1, label=target)
    ax.axvline(0.5, color="0.25", linestyle="--", linewidth=0.9)
    ax.set_yticks(range(len(values)), list(values))
    ax.set(xlabel="test accuracy", xlim=(0.44, 1.02), ylim=(len(values) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    return ax


def plot_against_kappa(points: Mapping[str, tuple[float, float]], ax: Axes, slopes: Sequence[int] = (1, 2)) -> Axes:
    """Labels memorised against κ, a mark per model with its name; dashed, multiples of κ.

    Parameters
    ----------
    points : model → κ and labels.
    """
    span = np.array([min(k for k, _ in points.values()) / 1.5, 1.5 * max(k for k, _ in points.values())])
    for slope, style in zip(slopes, ("--", ":"), strict=False):
        ax.plot(span, slope * span, color="0.25", linestyle=style, linewidth=0.9, label=f"{slope} per κ")
    for name, (kappa, labels) in points.items():
        ax.plot(kappa, labels, linestyle="none", **_style(name))
    ax.set(xscale="log", yscale="log", xlabel="κ after training on random labels", ylabel="random labels memorised")
    return ax


def plot_shares(points: Mapping[str, tuple[float, float]], ax: Axes) -> Axes:
    """Test accuracy on the order target against the share of κ that sees the order, a mark per model."""
    for name, (share, accuracy) in points.items():
        ax.plot(share, accuracy, linestyle="none", **_style(name))
    ax.axhline(0.5, color="0.25", linestyle="--", linewidth=0.9)
    ax.set(xlabel="share of κ that sees the exchange", ylabel="test accuracy, order target", ylim=(0.45, 1.02))
    ax.set_xlim(-0.03, 0.63)
    return ax


def plot_ranks(counts: Sequence[int], ranks: Mapping[str, Sequence[int]], ax: Axes) -> Axes:
    """κ against the number of examples, two to an orbit; dashed, as many as examples, dotted, as orbits."""
    examples = 2 * np.asarray(counts)
    for name, values in ranks.items():
        ax.plot(examples, values, **_style(name))
    ax.plot(examples, examples, color="0.25", linestyle="--", linewidth=0.9, label="examples")
    ax.plot(examples, examples / 2, color="0.25", linestyle=":", linewidth=1.1, label="orbits")
    ax.set(xscale="log", yscale="log", xlabel="examples, two to an orbit", ylabel="κ")
    _plain_ticks(ax, examples)
    return ax


def _plain_ticks(ax: Axes, values: Sequence[int] | np.ndarray) -> None:
    ax.set_xticks(values, [f"{value:,}" for value in values])
    ax.xaxis.set_minor_locator(NullLocator())
