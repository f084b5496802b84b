"""A hierarchical model drawn from the model object: its layers, taps and dilations (paper 1, Figure 3)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from capcore.architectures import Hierarchical
from capcore.plotting import CYCLE

FAINT = "0.82"


def plot_architecture(
    arch: Hierarchical, ax: Axes, highlight: int = 0, n_positions: int | None = None, labels: bool = True
) -> Axes:
    """The network unrolled over time, with every input that one output sees.

    Parameters
    ----------
    arch : any hierarchical model: channels, kernel sizes and dilations are read off it.
    highlight : lag of the output whose receptive field is drawn in colour; 0 is the most recent.
    n_positions : columns drawn, by default the receptive field (and ``highlight`` more).
    labels : name the layers at the right.

    Time runs to the right. A node is a position in a layer (with all of its channels), an edge a tap.
    """
    width = arch.n_inputs + highlight if n_positions is None else n_positions
    reached = _reached(arch, highlight)
    size = float(np.clip(250 / width, 1.5, 9))
    faint: list[list[tuple[int, int]]] = []
    strong: list[list[tuple[int, int]]] = []
    for l, (taps, dilation) in enumerate(zip(arch.kernel_sizes, arch.dilations, strict=True), 1):
        for lag in range(width):
            sources = [source for source in (lag + tap * dilation for tap in range(taps)) if source < width]
            edges = [[(-source, l - 1), (-lag, l)] for source in sources]
            (strong if lag in reached[l] else faint).extend(edges)
    ax.add_collection(LineCollection(faint, colors=FAINT, linewidths=min(0.8, size / 8), zorder=1))
    ax.add_collection(LineCollection(strong, colors=CYCLE[0], linewidths=max(0.8, size / 5), zorder=2))
    for l in range(arch.n_layers + 1):
        for lags, colour in ((set(range(width)) - reached[l], FAINT), (reached[l], _node_colour(l, arch.n_layers))):
            positions = [-lag for lag in sorted(lags)]
            ax.plot(positions, [l] * len(positions), "o", ms=size, mfc=colour, mec="0.35", mew=size / 14, zorder=3)
        if labels:
            ax.text(0.8 + 0.3 * width / 16, l, _label(arch, l), va="center", fontsize=8)
    ax.set(xlim=(-width + 0.3 - width / 60, 0.6), ylim=(-0.4, arch.n_layers + 0.4), xticks=[], yticks=[])
    ax.set_xlabel("time (most recent at the right)")
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax


def _reached(arch: Hierarchical, highlight: int) -> list[set[int]]:
    """For each layer, input first, the lags that the highlighted output depends on."""
    reached = [{highlight}]
    for taps, dilation in zip(arch.kernel_sizes[::-1], arch.dilations[::-1], strict=True):
        reached.insert(0, {lag + tap * dilation for lag in reached[0] for tap in range(taps)})
    return reached


def _node_colour(layer: int, n_layers: int) -> str:
    return {0: CYCLE[0], n_layers: CYCLE[1]}.get(layer, "white")


def _label(arch: Hierarchical, layer: int) -> str:
    if layer == 0:
        return "input" if arch.input_dim == 1 else f"input, {arch.input_dim} components"
    name = "output" if layer == arch.n_layers else f"hidden, {_count(arch.channels[layer - 1], 'channel')}"
    return f"{name}\n{arch.kernel_sizes[layer - 1]} taps, dilation {arch.dilations[layer - 1]}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("s" if number > 1 else "")
