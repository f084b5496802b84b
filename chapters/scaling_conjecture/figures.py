"""Figures of residual networks x ← x + L^-a f(x): sizes and gradients against depth, losses against the exponent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from capcore.plotting import CYCLE, MARKERS
from chapters.scaling_conjecture.study import Curve

FRACTIONS = {0.0: "0", 0.25: "¼", 0.5: "½", 0.75: "¾", 1.0: "1"}


def plot_against_depth(
    depths: Sequence[int],
    exponents: Sequence[float],
    values: np.ndarray,
    ax: Axes,
    law: np.ndarray | None = None,
    limits: tuple[float, float] | None = None,
) -> Axes:
    """A line per exponent, both axes logarithmic.

    Parameters
    ----------
    values, law : (exponents, depths); the law is dashed. limits : of the vertical axis; lines leave it.
    """
    for i, (a, line) in enumerate(zip(exponents, values, strict=True)):
        ax.plot(depths, line, color=CYCLE[i % len(CYCLE)], marker=MARKERS[i % len(MARKERS)], label=exponent_label(a))
        if law is not None:
            ax.plot(depths, law[i], color="0.25", linestyle="--", linewidth=0.9)
    ax.set(xscale="log", yscale="log", xlabel="layers L")
    if limits is not None:
        ax.set_ylim(*limits)
    _plain_depths(depths, ax)
    return ax


def plot_limits(depths: Sequence[int], lines: Mapping[str, np.ndarray], ax: Axes, limit: float | None = None) -> Axes:
    """One line per label against the depth, both axes logarithmic, and a limit that one of them should have (dashed).

    Parameters
    ----------
    lines : label → (depths,).
    """
    for i, (label, values) in enumerate(lines.items()):
        ax.plot(depths, values, color=CYCLE[i % len(CYCLE)], marker=MARKERS[i % len(MARKERS)], label=label)
    if limit is not None:
        ax.axhline(limit, color="0.25", linestyle="--", linewidth=0.9)
    ax.set(xscale="log", yscale="log", xlabel="layers L")
    _plain_depths(depths, ax)
    return ax


def plot_correlation(
    angles: np.ndarray,
    exponents: Sequence[float],
    bands: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    ax: Axes,
    law: Sequence[np.ndarray] | None = None,
) -> Axes:
    """Correlation of gradients against the distance of the inputs, a line per exponent.

    Parameters
    ----------
    angles : (m,) radians. bands : mean, lower and upper limit for every exponent, (m,) each.
    law : (m,) for every exponent, dashed.
    """
    for i, (a, (mean, low, high)) in enumerate(zip(exponents, bands, strict=True)):
        colour = CYCLE[i % len(CYCLE)]
        every = max(1, len(angles) // 8)
        ax.plot(angles, mean, color=colour, marker=MARKERS[i % len(MARKERS)], markevery=every, label=exponent_label(a))
        ax.fill_between(angles, low, high, color=colour, alpha=0.2, linewidth=0)
        if law is not None:
            ax.plot(angles, law[i], color="0.25", linestyle="--", linewidth=0.9)
    ax.axhline(0, color="0.4", linewidth=0.7)
    ax.set(xlabel="angle between inputs (radians)", ylabel="correlation of gradients")
    return ax


def plot_collapse(
    times: np.ndarray, exponents: Sequence[float], values: Mapping[str, np.ndarray], ax: Axes, law: np.ndarray
) -> Axes:
    """Correlations at one distance against T = L s²/(1 + s²), all depths and exponents, with the law (dashed).

    Parameters
    ----------
    times : (exponents, depths). values : kind of block → the like. law : (2, m), times and correlations.
    """
    for i, (label, each) in enumerate(values.items()):
        ax.plot(
            times.ravel(), each.ravel(), linestyle="none", marker=MARKERS[i], color=CYCLE[i], label=label, alpha=0.8
        )
    ax.plot(*law, color="0.25", linestyle="--", linewidth=0.9, label="law, two-layer")
    ax.set(xscale="log", xlabel="T = L s²/(1 + s²)", ylim=(-0.05, 1.05), ylabel="correlation of gradients")
    return ax


def plot_losses(
    curves: Mapping[str, Curve], ax: Axes, trivial: float, ylabel: str, floor: float = 0.0, first: int = 0
) -> Axes:
    """Best loss against the exponent, a line per curve with intervals over seeds, and the loss of guessing (dashed).

    Losses that are infinite are drawn at the top as crosses.

    Parameters
    ----------
    floor : lowest value of the axis, losses below it being drawn on it; none if zero. first : of the colours.
    """
    top = 4 * trivial
    for i, (label, each) in enumerate(curves.items(), start=first):
        colour, ends = CYCLE[i % len(CYCLE)], np.isfinite(each.median)
        shown = np.clip(np.where(ends, each.median, np.nan), floor or None, None)
        marker = MARKERS[i % len(MARKERS)]
        ax.plot(each.exponents, shown, color=colour, marker=marker, label=label)
        low, high = np.clip(each.low, floor or None, top), np.clip(each.high, floor or None, top)
        ax.vlines(each.exponents, low, high, color=colour, linewidth=1)
        if not ends.all():
            ax.plot(each.exponents[~ends], np.full((~ends).sum(), 0.85 * top), "x", color=colour, clip_on=False)
    ax.axhline(trivial, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(yscale="log", xlabel="exponent a of L⁻ᵃ", ylabel=ylabel)
    ax.set_ylim(floor / 1.4 if floor else None, top)
    ticks = next(iter(curves.values())).exponents
    ax.set_xticks(ticks, [FRACTIONS.get(float(a), f"{a:g}") for a in ticks])
    return ax


def exponent_label(a: float) -> str:
    """As in a legend.

    >>> exponent_label(0.25), exponent_label(0.4)
    ('a = ¼', 'a = 0.4')
    """
    return f"a = {FRACTIONS.get(float(a), f'{a:g}')}"


def _plain_depths(depths: Sequence[int], ax: Axes) -> None:
    shown = list(depths)[:: max(1, -(-len(depths) // 4))]
    ax.set_xticks(shown, [str(depth) for depth in shown])
    ax.xaxis.set_minor_locator(NullLocator())
