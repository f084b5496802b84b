"""Networks compared: curves along the layers, and means under choices."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS


def plot_layer_values(networks: Mapping[str, Mapping[str, float]], layers: Mapping[str, str], ax: Axes) -> Axes:
    """Values of several networks along the layers; a network without a value there has a cross at the bottom.

    networks : label → layer → value. layers : layer → short name, in the order of the horizontal axis.
    """
    for i, (label, values) in enumerate(networks.items()):
        heights = [values.get(name, np.nan) for name in layers]  # a gap where there is none
        ax.plot(heights, marker=MARKERS[i], ms=4, label=label, color=CYCLE[i], linestyle=("-", "--", ":")[i % 3])
        missing = [k for k, name in enumerate(layers) if name not in values]
        height = 0.03 + 0.045 * i
        ax.plot(missing, [height] * len(missing), "x", color=CYCLE[i], ms=5, transform=ax.get_xaxis_transform())
    ax.set_xticks(range(len(layers)), list(layers.values()), rotation=90)
    ax.set_xlim(-0.6, len(layers) - 0.4)
    return ax


def plot_choices(networks: Mapping[str, Mapping[str, float]], ax: Axes) -> Axes:
    """Means of several networks, one row per choice from the top, joined by a line: label → choice → mean."""
    choices: Sequence[str] = list(next(iter(networks.values())))
    rows = np.arange(len(choices))[::-1]
    table = np.array([[values[choice] for choice in choices] for values in networks.values()])
    ax.hlines(rows, table.min(axis=0), table.max(axis=0), color="0.8", linewidth=2, zorder=0)
    for i, (label, heights) in enumerate(zip(networks, table, strict=True)):
        ax.plot(heights, rows, MARKERS[i], color=CYCLE[i], ms=6, label=label)
    ax.set_yticks(rows, choices)
    ax.set(xlabel="mean α", ylim=(-0.6, len(choices) - 0.4))
    ax.grid(axis="y", visible=False)
    return ax
