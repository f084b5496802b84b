"""Figures of receptive fields: how they grow with depth, what shape they have, and how gaps to a limit shrink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from capcore.plotting import MARKERS

_DASHES = ("-", "--", "-.", ":")


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
        ax.plot(depths, values, linestyle=_DASHES[i % len(_DASHES)], label=label)
    all_depths = np.array(sorted({n for numbers, _ in lines.values() for n in numbers}), dtype=float)
    for label, exponent, start in guides:
        ax.plot(
            all_depths,
            start * (all_depths / all_depths[0]) ** exponent,
            color="0.55",
            linewidth=1,
            linestyle=(0, (1, 1)),
        )
        ax.annotate(
            label,
            (all_depths[-1], start * (all_depths[-1] / all_depths[0]) ** exponent),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            color="0.35",
            fontsize=8,
        )
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    _powers_of_two(ax, all_depths)
    if plain:
        _plain_numbers(ax)
    return ax


def _plain_numbers(ax: Axes) -> None:
    """Ticks at 1, 2 and 5 times powers of ten, as decimal numbers."""
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))


def _powers_of_two(ax: Axes, depths: np.ndarray) -> None:
    """Ticks at every second doubling, as plain numbers."""
    every = max(1, len(depths) // 5)
    ax.xaxis.set_major_locator(FixedLocator(depths[::every].tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))


def plot_intervals(
    points: Mapping[str, tuple[Sequence[float], np.ndarray, np.ndarray]],
    expected: Mapping[str, Sequence[float]],
    ax: Axes,
) -> Axes:
    """Measured sizes with intervals (markers with bars) against layers, and what is expected (lines), logarithmic.

    Parameters
    ----------
    points : label → (numbers of layers, means, half-widths). expected : the same labels → values.
    """
    for i, (label, (depths, means, widths)) in enumerate(points.items()):
        marker = MARKERS[i % len(MARKERS)]
        bar = ax.errorbar(depths, means, widths, marker=marker, linestyle="none", label=label)
        style = _DASHES[i % len(_DASHES)]
        ax.plot(depths, expected[label], linestyle=style, color=bar.lines[0].get_color(), linewidth=1)
    all_depths = np.array(sorted({n for numbers, _, _ in points.values() for n in numbers}), dtype=float)
    ax.set(xscale="log", yscale="log", xlabel="layers", ylabel="standard deviation (positions)")
    _powers_of_two(ax, all_depths)
    _plain_numbers(ax)
    return ax


def plot_shapes(shapes: Mapping[str, tuple[np.ndarray, np.ndarray]], ax: Axes, furthest: float = 6.0) -> Axes:
    """Densities in standard deviations on a logarithmic axis, with the standard Gaussian (grey).

    Parameters
    ----------
    shapes : label → (distances in standard deviations, densities). furthest : end of the horizontal axis.
    """
    x = np.linspace(-furthest, furthest, 241)
    ax.plot(x, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), color="0.6", linewidth=4, alpha=0.6, label="Gaussian")
    for i, (label, (where, density)) in enumerate(shapes.items()):
        inside = np.abs(where) <= furthest
        ax.plot(where[inside], density[inside], linestyle=_DASHES[i % len(_DASHES)], label=label)
    ax.set(yscale="log", xlim=(-furthest, furthest), ylim=(1e-8, 2))
    ax.set(xlabel="distance from the mean (standard deviations)", ylabel="density")
    return ax


def plot_octaves_of_distance(
    capacities: Mapping[str, np.ndarray], ax: Axes, cumulative: bool = False, limit: np.ndarray | None = None
) -> Axes:
    """Capacity of every octave of the distance from the output, or all up to it, over the share of octaves.

    Parameters
    ----------
    capacities : label → (N + 1,) what does not move, and the octaves 2^(m − 1) ≤ |x| < 2^m.
    limit : (…) law for many layers at evenly spaced shares from 0 to 1 (grey), where ``cumulative``.
    """
    if limit is not None:
        ax.plot(np.linspace(0, 1, len(limit)), limit, color="0.6", linewidth=4, alpha=0.6, label="limit of many layers")
    for i, (label, values) in enumerate(capacities.items()):
        shown = np.cumsum(values) if cumulative else values
        share = np.arange(len(values)) / (len(values) - 1)
        ax.plot(share, shown, linestyle=_DASHES[i % len(_DASHES)], label=label)
    ylabel = "capacity within the distance" if cumulative else "capacity of the octave"
    ax.set(xlabel="octave of the distance ÷ number of octaves", ylabel=ylabel)
    return ax


def plot_step_factors(measured: Mapping[int, float], law: tuple[np.ndarray, np.ndarray], ax: Axes) -> Axes:
    """Field over that of steps in every layer, against layers per step: measured (markers) and derived (line).

    Parameters
    ----------
    law : (numbers of layers per step, factors).
    """
    ax.plot(*law, color="0.5", label="derived")
    ax.plot(list(measured), list(measured.values()), linestyle="none", marker="o", label="summed over the layers")
    ax.axhline(1, color="0.6", linestyle=":", linewidth=1)
    ax.set(xlabel="layers per step, m", ylabel="field ÷ largest dilation, m = 1: 1", ylim=(0, None))
    return ax


def plot_plane(capacity: np.ndarray, axis: np.ndarray, density: np.ndarray, ax: Axes, label: str = "capacity") -> Axes:
    """Capacity on a plane as an image, with contours of a density at four levels, both around the output's position.

    Parameters
    ----------
    capacity : (n, n) with the output in the middle. axis : (m,) positions along each axis, for the density (m, m); its
        ends are those of the image.
    """
    middle, reach = capacity.shape[0] // 2, int(axis[-1])
    shown = slice(middle - reach, middle + reach + 1)
    edges = (-reach - 0.5, reach + 0.5) * 2
    image = ax.imshow(
        capacity[shown, shown].T, origin="lower", extent=edges, cmap="cividis", norm=PowerNorm(0.5, vmin=0)
    )
    levels = density.max() * np.array([0.03, 0.1, 0.3, 0.7])
    ax.contour(axis, axis, density.T, levels=levels, colors="white", linewidths=1)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=label)
    ax.grid(False)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.set(xlabel="first axis (positions)", ylabel="second axis (positions)")
    return ax
