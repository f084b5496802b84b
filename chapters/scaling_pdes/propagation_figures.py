"""Laws of capacity along positions, and how fast one law comes to another (paper 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullFormatter

from capcore.plotting import CYCLE, MARKERS

POSITION_LABEL = "position (from the output)"
STYLES = ("-", "--", "-.", ":")


def plot_laws(
    points: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    ax: Axes,
    within: tuple[float, float] | None = None,
) -> Axes:
    """Capacity along positions: laws on whole positions as markers, densities as lines.

    Parameters
    ----------
    points, lines : label → (positions, capacities). within : first and last position shown.
    """
    for i, (label, (x, values)) in enumerate(lines.items()):
        ax.plot(x, values, STYLES[i % len(STYLES)], color=CYCLE[-1] if i == 0 else CYCLE[i], label=label, zorder=2)
    for i, (label, (x, values)) in enumerate(points.items()):
        kept = _within(np.asarray(x), within)
        (drawn,) = ax.plot(np.asarray(x)[kept], np.asarray(values)[kept], linestyle="none", label=label, zorder=3 + i)
        drawn.set(marker=MARKERS[i % len(MARKERS)], markersize=7 if i else 4.5)
        if i:
            drawn.set_markerfacecolor("none")
    ax.set(xlabel=POSITION_LABEL, ylabel="capacity per position")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    if within is not None:
        ax.set_xlim(*within)
    return ax


def plot_orders(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], ax: Axes, slopes: Sequence[float] = (-1.0,)
) -> Axes:
    """Gaps against sizes on logarithmic axes, with guides (dotted) of the given slopes through the last points.

    Parameters
    ----------
    lines : label → (sizes, gaps). slopes : the one of each line, or one for all.
    """
    for i, (label, (sizes, gaps)) in enumerate(lines.items()):
        (line,) = ax.plot(sizes, gaps, marker=MARKERS[i % len(MARKERS)], linestyle="none", label=label)
        guide = gaps[-1] * (np.asarray(sizes) / sizes[-1]) ** slopes[i % len(slopes)]
        ax.plot(sizes, guide, color=line.get_color(), linestyle=":", linewidth=1.1, zorder=1)
    ax.set(xscale="log", yscale="log")
    ticks = np.unique([size for sizes, _ in lines.values() for size in sizes])
    if len(ticks) > 12:  # lines with sizes of their own
        ticks = 10.0 ** np.arange(np.ceil(np.log10(ticks[0])), np.log10(ticks[-1]))
    ticks = ticks[:: -(-len(ticks) // 5)]
    ax.set_xticks(ticks, [f"{tick:,.0f}" if tick >= 1 else f"{tick:g}" for tick in ticks])
    ax.xaxis.set_minor_formatter(NullFormatter())
    return ax


def plot_ceiling(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], ax: Axes, ceiling: float, label: str
) -> Axes:
    """Totals on logarithmic axes of base two, with a value that they cannot exceed (dashed, named ``label``).

    Parameters
    ----------
    lines : label → (sizes, totals).
    """
    for i, (name, (sizes, totals)) in enumerate(lines.items()):
        ax.plot(sizes, totals, marker=MARKERS[i % len(MARKERS)], label=name)
    ax.axhline(ceiling, color="0.25", linestyle="--", linewidth=1.2, label=label)
    for scale in (ax.set_xscale, ax.set_yscale):
        scale("log", base=2)
    for which in (ax.xaxis, ax.yaxis):
        which.set_major_formatter("{x:g}")
    ax.legend()
    return ax


def _within(x: np.ndarray, within: tuple[float, float] | None) -> np.ndarray:
    return np.ones(x.shape, dtype=bool) if within is None else (x >= within[0]) & (x <= within[1])
