"""Figures of receptive fields: how they grow with depth, and what shape they have."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

from capcore.plotting import LINES, MARKERS


def plot_powers(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    ax: Axes,
    guides: Sequence[tuple[str, float, float]] = (),
    xlabel: str = "layers",
    ylabel: str = "",
    plain: bool = False,
) -> Axes:
    """Quantities against the number of layers, both axes logarithmic.

    Parameters
    ----------
    lines : label → (numbers of layers, values). guides : (label, exponent, value at the first number of layers) of grey
        lines for comparison. plain: decimal numbers instead of powers of ten, for values over few decades.
    """
    for i, (label, (depths, values)) in enumerate(lines.items()):
        ax.plot(depths, values, linestyle=LINES[i % len(LINES)], label=label)
    all_depths = np.array(sorted({n for numbers, _ in lines.values() for n in numbers}), dtype=float)
    for label, exponent, start in guides:
        line = start * (all_depths / all_depths[0]) ** exponent
        ax.plot(all_depths, line, color="0.55", linewidth=1, linestyle=(0, (1, 1)))
        text: dict[str, Any] = {"textcoords": "offset points", "va": "center", "color": "0.35", "fontsize": 8}
        ax.annotate(label, (all_depths[-1], line[-1]), (3, 0), **text)
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    _powers_of_two(ax, all_depths)
    if plain:
        _plain_numbers(ax)
    return ax


def _plain_numbers(ax: Axes) -> None:
    """Ticks at 1, 2 and 5 times powers of ten, as decimal numbers."""
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter("{x:g}")


def _powers_of_two(ax: Axes, depths: np.ndarray) -> None:
    """Ticks at every second doubling, as plain numbers."""
    every = max(1, len(depths) // 5)
    ax.xaxis.set_major_locator(FixedLocator(depths[::every].tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:,.0f}")


def plot_intervals(
    points: Mapping[str, tuple[Sequence[float], np.ndarray, np.ndarray]], expected: Mapping[str, list], ax: Axes
) -> Axes:
    """Measured sizes with intervals (markers with bars) against layers, and what is expected (lines), logarithmic.

    Parameters
    ----------
    points : label → (numbers of layers, means, half-widths). expected : the same labels → values.
    """
    for i, (label, (depths, means, widths)) in enumerate(points.items()):
        marker = MARKERS[i % len(MARKERS)]
        bar = ax.errorbar(depths, means, widths, marker=marker, linestyle="none", label=label)
        style = LINES[i % len(LINES)]
        ax.plot(depths, expected[label], linestyle=style, color=bar.lines[0].get_color(), linewidth=1)
    all_depths = np.array(sorted({n for numbers, _, _ in points.values() for n in numbers}), dtype=float)
    ax.set(xscale="log", yscale="log", xlabel="layers", ylabel="standard deviation (positions)")
    _powers_of_two(ax, all_depths)
    _plain_numbers(ax)
    return ax


def plot_shapes(shapes: Mapping[str, tuple[np.ndarray, np.ndarray]], ax: Axes) -> Axes:
    """Densities in standard deviations on a logarithmic axis, with the standard Gaussian (grey).

    Parameters
    ----------
    shapes : label → (distances in standard deviations, densities).
    """
    furthest = 6.0
    x = np.linspace(-furthest, furthest, 241)
    ax.plot(x, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), color="0.6", linewidth=4, alpha=0.6, label="Gaussian")
    for i, (label, (where, density)) in enumerate(shapes.items()):
        inside = np.abs(where) <= furthest
        ax.plot(where[inside], density[inside], linestyle=LINES[i % len(LINES)], label=label)
    ax.set(yscale="log", xlim=(-furthest, furthest), ylim=(1e-8, 2))
    ax.set(xlabel="distance from the mean (standard deviations)", ylabel="density")
    return ax
