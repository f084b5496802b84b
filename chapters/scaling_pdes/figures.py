"""Figures on capacity that spreads through layers."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator, NullFormatter

from capcore.plotting import CYCLE, LINES, MARKERS
from chapters.scaling_pdes.paths import Edge, Network, Node, paths_by_operator

Lines = Mapping[str, tuple[Sequence[float], Sequence[float]]]
"""Label → values along x, and along y."""
FAINT = "0.85"
PATHS, OWN, LEAKS = CYCLE[2], CYCLE[0], CYCLE[3]


def plot_capacity_paths(network: Network, target: Node, ax: Axes, own: int | None = None, times: bool = False) -> Axes:
    """Every node and non-zero weight of the network, with all paths from the output to ``target`` in green.

    The output layer is a square; where it reads several levels it has one for each, as the paper partitions it. Side
    inputs are diamonds; dashed lines lead to those that draw on the paths.

    Parameters
    ----------
    target : (level, position). own : position among the output layer's own inputs to which its edge is drawn in blue.
    times : write the reverse layer time t = (L − ℓ)/(L − 1) of each level at the right.
    """
    place = _Places(network)
    on_path = paths_by_operator(network, target)
    reached = {node for edge in on_path for node in edge}
    top: Node = (network.depth, 0)
    blue = {edge for edge in network.edges() if own is not None and edge == (top, (network.depth - 1, own))}
    _draw(ax, place, network.edges() - on_path - blue, FAINT, 0.7, "other")
    _draw(ax, place, on_path - blue, PATHS, 1.6, "paths")
    _draw(ax, place, blue, OWN, 2.0, "own")
    blocks = [place.block(level) for level in place.read]
    ax.plot(*zip(*blocks, strict=True), color="0.35", linewidth=0.8, zorder=1)
    ax.plot(*zip(*blocks, strict=True), "s", color="white", mec="0.2", ms=6.5, zorder=4)
    for level, size in enumerate(place.sizes[:-1]):
        for x in range(size):
            node = (level, x)
            end = node == target or (own is not None and node == (network.depth - 1, own))
            colour = (PATHS if node == target else OWN) if end else "white"
            edge = PATHS if node in reached else OWN if end else "0.55"
            ax.plot(*place.node(node), "o", mfc=colour, mec=edge, mew=1.2, ms=7.5 if end else 5.5, zorder=3)
    for node in sorted({*network.side_nodes()} & reached - {target}):
        _draw_side_input(ax, place, node)
    for level in range(network.depth):
        if times:
            t = 1 - level / (network.depth - 1)
            ax.text(place.right, level, f"t = {t:.2g}", va="center", fontsize=8)
    ax.set(xlim=(-0.8, place.right + (1.6 if times else 0.2)), ylim=(-0.5, network.depth + 0.6), xticks=[])
    ax.set_yticks(range(network.depth), [f"inputs of layer {level + 1}" for level in range(network.depth)])
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax


class _Places:
    """Where nodes are drawn: positions along x, levels along y, the output layer's blocks above or beside them."""

    def __init__(self, network: Network) -> None:
        self.sizes = [shape[0] for shape in network.shapes()]
        self.widest = max(self.sizes)
        self.depth = network.depth
        self.read = sorted({network.depth - 1, *network.layers[-1].skips})
        self.right = self.widest + (0.9 if len(self.read) > 1 else 0.1)

    def node(self, node: Node) -> tuple[float, float]:
        level, x = node
        return x + (self.widest - self.sizes[level]) / 2, float(level)

    def block(self, level: int) -> tuple[float, float]:
        """The part of the output layer that reads ``level``."""
        return ((self.widest - 1) / 2, level + 1.0) if len(self.read) == 1 else (self.widest + 0.3, level + 0.6)

    def start(self, edge: Edge) -> tuple[float, float]:
        upper, lower = edge
        return self.block(lower[0]) if upper[0] == self.depth else self.node(upper)


def _draw(ax: Axes, place: _Places, edges: Iterable[Edge], colour: str, width: float, name: str) -> None:
    lines = [[place.start(edge), place.node(edge[1])] for edge in sorted(edges)]
    ax.add_collection(LineCollection(lines, colors=colour, linewidths=width, zorder=1 + 0.5 * width, gid=name))


def _draw_side_input(ax: Axes, place: _Places, node: Node) -> None:
    x, y = place.block(node[0] - 1) if node[0] == place.depth else place.node(node)
    end = (x - 0.21, y + 0.42)  # between the weights, which go straight up and to the neighbours
    ax.plot(*zip((x, y), end, strict=True), color=LEAKS, linestyle="--", linewidth=1.2, zorder=2, gid="leak")
    ax.plot(*end, "D", color=LEAKS, ms=4, zorder=4)


POSITION_LABEL = "position (from the output)"


def plot_laws(points: Lines, lines: Lines, ax: Axes, within: tuple[float, float] | None = None) -> Axes:
    """Capacity along positions: laws on whole positions as markers, densities as lines.

    Parameters
    ----------
    points, lines : label → (positions, capacities). within : first and last position shown.
    """
    for i, (label, (x, values)) in enumerate(lines.items()):
        ax.plot(x, values, LINES[i % len(LINES)], color=CYCLE[-1] if i == 0 else CYCLE[i], label=label, zorder=2)
    for i, (label, (x, values)) in enumerate(points.items()):
        low, high = within or (-np.inf, np.inf)
        at = (low <= np.asarray(x)) & (np.asarray(x) <= high)
        (drawn,) = ax.plot(np.asarray(x)[at], np.asarray(values)[at], linestyle="none", label=label, zorder=3 + i)
        drawn.set(marker=MARKERS[i % len(MARKERS)], markersize=7 if i else 4.5)
        if i:
            drawn.set_markerfacecolor("none")
    ax.set(xlabel=POSITION_LABEL, ylabel="capacity per position")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    if within is not None:
        ax.set_xlim(*within)
    return ax


def plot_walks(diffusion: float, n_walks: int, ax: Axes) -> Axes:
    """Units of capacity on their way from the output, t = 0 and above, to the input: jumps to either neighbour.

    Jumps come at random times, at rate D to either side, drawn from a fixed seed. Walks are set apart a little.
    """
    rng = np.random.default_rng(0)
    for i, n_jumps in enumerate(rng.poisson(2 * diffusion, n_walks)):
        times = np.concatenate([[0], np.sort(rng.random(n_jumps)), [1]])
        places = np.concatenate([[0], np.cumsum(rng.choice([-1, 1], n_jumps))])
        apart = 0.6 * ((i + 0.5) / n_walks - 0.5)
        ax.plot(np.repeat(places, 2) + apart, np.repeat(times, 2)[1:-1], color=CYCLE[i % len(CYCLE)], linewidth=1.2)
    ax.set(xlabel=POSITION_LABEL, ylabel="t, from output to input", ylim=(1.02, -0.02))
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    return ax


def plot_orders(lines: Lines, ax: Axes, slopes: Sequence[float] = (-1.0,)) -> Axes:
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


def plot_ceiling(lines: Lines, ax: Axes, ceiling: float, label: str) -> Axes:
    """Totals on logarithmic axes of base two, with a value that they cannot exceed (dashed, named ``label``).

    Parameters
    ----------
    lines : label → (sizes, totals).
    """
    for i, (name, (sizes, totals)) in enumerate(lines.items()):
        ax.plot(sizes, totals, LINES[i % len(LINES)], label=name)
    ax.axhline(ceiling, color="0.25", linestyle="--", linewidth=1.2, label=label)
    for scale, axis in ((ax.set_xscale, ax.xaxis), (ax.set_yscale, ax.yaxis)):
        scale("log", base=2)
        axis.set_major_formatter("{x:g}")
    return ax
