"""The stored runs of residual networks x ← x + L^-a f(x), read and drawn: sizes, gradients, and what was learnt."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from capcore.plotting import CYCLE, MARKERS
from chapters.kit.phone import when_narrow
from chapters.scaling_conjecture.signals import Untrained, layer_time, shattering_law
from chapters.shared.intervals import geometric_interval, student_interval
from chapters.shared.scale_exponents import fraction, look

Arms = Mapping[str, Mapping[str, Any]]
"""Exponent → arm, as ``train_arm`` returns it."""


class Curve(NamedTuple):
    """Best losses against the exponent.

    Attributes
    ----------
    exponents, median : (m,); infinite where more than half of the seeds diverged at every learning rate.
    low, high : (m,) Student's t interval of 95 per cent for the mean of the logarithm over seeds; ``nan`` where a
        seed diverged.
    """

    exponents: np.ndarray
    median: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def learns(self, threshold: float) -> list[float]:
        """Exponents whose median loss is at most ``threshold``."""
        return self.exponents[self.median <= threshold].tolist()


def curve(arms: Arms) -> Curve:
    """The losses of some arms that differ in their exponent.

    >>> points = curve({"0.5": {"best": [0.1, 0.1, 0.1]}, "1.0": {"best": [1.0, 2.0, None]}})
    >>> points.median.tolist(), points.learns(0.5)
    ([0.1, 2.0], [0.5])
    """
    losses = [loss_of(arm) for arm in arms.values()]
    limits = np.array([interval(finals) for finals in losses])
    medians = np.array([np.median(finals) for finals in losses])
    return Curve(np.array([float(a) for a in arms]), medians, limits[:, 0], limits[:, 1])


def loss_of(arm: Mapping[str, Any]) -> np.ndarray:
    """(s,) loss of every seed at the arm's best learning rate, infinite where it diverged."""
    return np.array([np.inf if x is None else x for x in arm["best"]], dtype=float)


def interval(losses: np.ndarray) -> tuple[float, float]:
    """Student's t interval for the mean of the logarithm over seeds; ``nan`` where one of them diverged.

    >>> low, high = interval(np.array([0.5, 1.0, 2.0]))
    >>> round(low, 2), round(high, 2)
    (0.18, 5.59)
    """
    if len(losses) < 2 or not np.isfinite(losses).all():
        return np.nan, np.nan
    _, low, high = geometric_interval(losses)
    return float(low), float(high)


def floored_ratio(loss: float, other: float, floor: float) -> float:
    """``loss`` over ``other``, both counted as ``floor`` where they are lower; infinite where only ``loss`` diverged.

    >>> floored_ratio(0.02, 0.05, 0.1), floored_ratio(0.4, 0.05, 0.1)
    (1.0, 4.0)
    """
    return float(max(loss, floor) / max(other, floor))


def windows(values: Mapping[str, Mapping[str, Mapping[str, Arms]]], thresholds: Mapping[str, float]) -> pd.DataFrame:
    """Which exponents learn, for every task and kind of block (rows) and depth (columns), as text.

    ``values`` are those of the stored experiment, ``thresholds`` the loss of each task that counts as learnt.
    """
    rows = {
        (task, kind): {f"L = {depth}": _listed(curve(arms).learns(limit)) for depth, arms in depths.items()}
        for task, limit in thresholds.items()
        for kind, depths in values[task].items()
    }
    table = pd.DataFrame.from_dict(rows, orient="index").fillna("")
    table.index.names = ["task", "block"]
    return table


def _listed(exponents: Sequence[float]) -> str:
    return ", ".join(fraction(a) for a in exponents) or "none"


def plot_window(exponents: np.ndarray, agreement: np.ndarray, carried: np.ndarray, ax: Axes) -> Axes:
    """What is lost on either side of one half: agreement of gradients, and the share of a signal that arrives.

    Parameters
    ----------
    agreement, carried : of every exponent, one where nothing is lost.
    """
    ax.axvline(0.5, color="0.6", linestyle="--", linewidth=0.9, zorder=1)
    for values, colour, marker in ((agreement, CYCLE[0], "o"), (carried, CYCLE[1], "s")):
        ax.plot(exponents, values, color=colour, marker=marker)
    at = int(np.searchsorted(exponents, 0.25))
    last = (float(exponents[-1]), float(carried[-1]))
    behind: dict[str, Any] = {"textcoords": "offset points", "backgroundcolor": "white", "zorder": 1.5}
    ax.annotate("agreement of gradients", (exponents[at], agreement[at]), (8, -12), color=CYCLE[0], **behind)
    ax.annotate("signal that arrives", last, (-10, 4), color=CYCLE[1], textcoords="offset points", ha="right")
    sides = (0.47, "← larger scales", "right"), (0.5, "1/√L", "center"), (0.53, "smaller scales →", "left")
    _, middle, _ = (
        ax.text(x, 1.09, text, ha=side, fontsize="small", color="0.3", backgroundcolor="white")
        for x, text, side in sides
    )
    when_narrow(ax.figure, lambda: middle.set_y(1.19))
    ax.set(xlim=(-0.08, 1.08), ylim=(-0.05, 1.25), xlabel="exponent a of the scale L⁻ᵃ", ylabel="share that is left")
    ax.set_xticks(exponents, [fraction(a) for a in exponents])
    return ax


def plot_sizes(free: Untrained, ax: Axes) -> Axes:
    """Squared size of gradients after two-layer blocks, a marker per depth, and the exact expectation (lines)."""
    depths = np.geomspace(free.depths[0], free.depths[-1], 80)
    for a, sizes in zip(free.exponents, free.sizes["two-layer"]["backward"], strict=True):
        law = (1 + depths ** (-2 * a)) ** depths
        ax.plot(depths, law, color=look(a)["color"])
        ax.plot(free.depths, sizes, linestyle="none", label=f"a = {fraction(a)}", **look(a))
    ax.set(xscale="log", yscale="log", xlabel="layers L", ylabel="squared size of a gradient")
    return _plain_depths(free.depths, ax)


def plot_limits(free: Untrained, ax: Axes) -> Axes:
    """Squared size of the state: weights that need 1/L, at ½ and at 1, beside independent blocks at ½."""
    half, one = (free.exponents.tolist().index(a) for a in (0.5, 1.0))
    rows = (
        ("independent two-layer", {0.5: free.sizes["two-layer"]["forward"][half]}, "-"),
        ("shared weights", {a: free.shared[a]["forward"][0] for a in (0.5, 1.0)}, "--"),
        ("single ReLUs", dict(zip((0.5, 1.0), free.sizes["relu"]["forward"][[half, one]], strict=True)), ":"),
    )
    for name, sizes, dashes in rows:
        for a, norms in sizes.items():
            ax.plot(free.depths, norms, color=look(a)["color"], linestyle=dashes, label=f"{name}, a = {fraction(a)}")
    ax.set(xscale="log", yscale="log", xlabel="layers L", ylabel="squared size of the state")
    return _plain_depths(free.depths, ax)


def plot_correlation(free: Untrained, ax: Axes) -> Axes:
    """Correlation of gradients against the angle between inputs, a line per exponent with the law (dashed)."""
    for a, runs in zip(free.exponents, free.arc, strict=True):
        colour = look(a)["color"]
        mean, half = student_interval(runs)
        ax.plot(free.angles, mean, color=colour, label=f"a = {fraction(a)}")
        ax.fill_between(free.angles, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0)
        law = shattering_law(layer_time(int(free.depths[-1]), a), free.angles)
        ax.plot(free.angles, law, color=colour, linestyle="--", linewidth=0.9)
    ax.axhline(0, color="0.4", linewidth=0.7)
    ax.set(xlabel="angle between inputs (radians)", ylabel="correlation of gradients")
    return ax


def plot_collapse(free: Untrained, angle: float, ax: Axes) -> Axes:
    """Correlations at one angle against T = L s²/(1 + s²), all depths and exponents, with the law (dashed)."""
    for i, (kind, values) in enumerate(free.half_radian.items()):
        marks: dict[str, Any] = {"linestyle": "none", "marker": MARKERS[i], "color": CYCLE[i], "alpha": 0.7}
        ax.plot(free.times.ravel(), values.ravel(), label=kind, **marks)
    times = np.geomspace(free.times.min(), free.times.max(), 200)
    ax.plot(times, shattering_law(times, angle), color="0.25", linestyle="--", linewidth=0.9, label="law, two-layer")
    label = f"correlation, {angle:.1g} radians apart"
    ax.set(xscale="log", xlabel="T = L s²/(1 + s²)", ylabel=label, ylim=(-0.05, 1.05))
    return ax


def plot_losses(curves: Mapping[str, Curve], ax: Axes, trivial: float, floor: float = 0.0, first: int = 0) -> Axes:
    """Best loss against the exponent, a line per curve with intervals over seeds, and the loss of guessing (dashed).

    Losses that are infinite are drawn at the top as crosses.

    Parameters
    ----------
    floor : lowest value of the axis, losses below it being drawn on it; none if zero. first : of the colours.
    """
    top = 4 * trivial
    for i, (label, losses) in enumerate(curves.items(), start=first):
        colour, ends = CYCLE[i % len(CYCLE)], np.isfinite(losses.median)
        shown = np.clip(np.where(ends, losses.median, np.nan), floor or None, None)
        marker = MARKERS[i % len(MARKERS)]
        ax.plot(losses.exponents, shown, color=colour, marker=marker, label=label)
        low, high = np.clip(losses.low, floor or None, top), np.clip(losses.high, floor or None, top)
        ax.vlines(losses.exponents, low, high, color=colour, linewidth=1)
        if not ends.all():
            ax.plot(losses.exponents[~ends], np.full((~ends).sum(), 0.85 * top), "x", color=colour, clip_on=False)
    ax.axhline(trivial, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(yscale="log", xlabel="exponent a of L⁻ᵃ")
    ax.set_ylim(floor / 1.4 if floor else None, top)
    ticks = next(iter(curves.values())).exponents
    ax.set_xticks(ticks, [fraction(a) for a in ticks])
    return ax


def name_curves(ax: Axes, places: Mapping[str, tuple[int, tuple[float, float]]]) -> None:
    """Write the names of lines beside them: label → which of its points, and how far from it, in points."""
    for line in ax.lines:
        if (name := str(line.get_label())) in places:
            point, offset = places[name]
            place = np.asarray(line.get_xydata())[point]
            ax.annotate(name, place, offset, textcoords="offset points", color=line.get_color())


def _plain_depths(depths: Sequence[int] | np.ndarray, ax: Axes) -> Axes:
    """Few depths as whole numbers, and the range of both figures of sizes."""
    shown = list(depths)[:: max(1, -(-len(depths) // 4))]
    ax.set_xticks(shown, [str(depth) for depth in shown])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_ylim(0.6, 1e5)
    return ax
