"""Figures about the layers of a model: chains, single layers, directions."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from capcore.plotting import CYCLE, layer_colours
from chapters.shared.lag_figures import LAG_AXIS


def plot_chain(profiles: np.ndarray, names: Sequence[str], ax: Axes, from_top: bool = False) -> Axes:
    """What each layer adds, as areas stacked over the lags in the order of the chain, numbered where they are widest.

    Parameters
    ----------
    profiles : (L, n) array
        Conditional capacities, layer 1 first. Layers that add nothing stay in the legend.
    names : sequence of str
        Of the layers.
    ax : Axes
        To draw on; returned.
    from_top : bool
        The chain starts with the highest layer, which then lies at the bottom of the stack.
    """
    colours = layer_colours(len(names))
    n = profiles.shape[1]
    edges = np.arange(n + 1) - 0.5
    bottom = np.zeros(n)
    order = range(len(names))
    for l in reversed(order) if from_top else order:
        top = bottom + profiles[l]
        label = f"{names[l]}: +{profiles[l].sum():.0f}"
        ax.stairs(top, edges, baseline=bottom, fill=True, facecolor=colours[l], label=label)
        ax.stairs(top, edges, baseline=None, color="white", linewidth=0.8)
        padded = np.pad(profiles[l], 1)
        widest = np.minimum(np.minimum(padded[:-2], padded[1:-1]), padded[2:])  # of three neighbouring lags
        at = int(np.argmax(widest))
        if profiles[l][at] > 0.08:
            box = {"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
            ax.text(at, (bottom[at] + top[at]) / 2, str(l + 1), ha="center", va="center", fontsize=8, bbox=box)
        bottom = top
    ax.stairs(bottom, edges, baseline=None, color="0.15", linewidth=1.0)
    ax.set(xlabel=LAG_AXIS, ylabel="capacity", ylim=(0, 1.02), xlim=(edges[-1], edges[0]))
    ax.grid(visible=False)
    return ax


def plot_layer_rows(independent: np.ndarray, marginal: np.ndarray, names: list[str], axes: np.ndarray) -> np.ndarray:
    """One row per layer, the highest on top: its profile alone in light, and what it adds to all others in dark.

    Parameters
    ----------
    independent, marginal : (L, n) array
        Layer 1 first.
    axes : (L,) array of Axes
        One below the other.
    """
    edges = np.arange(independent.shape[1] + 1) - 0.5
    for l, (name, colour, ax) in enumerate(zip(names, layer_colours(len(names)), axes[::-1], strict=True)):
        area = {"facecolor": to_rgba(colour, 0.45), "edgecolor": colour, "linewidth": 1}
        ax.stairs(independent[l], edges, fill=True, **area, label="alone" if l == 0 else None)
        ax.stairs(marginal[l], edges, fill=True, color="0.15", label="added to all others" if l == 0 else None)
        ax.set(ylabel=name, ylim=(0, 1.05), xlim=(edges[-1], edges[0]), yticks=[0, 1])
        ax.yaxis.label.set(rotation=0, ha="right", va="center")
        ax.grid(visible=False)
        ax.tick_params(labelbottom=l == 0)
    axes[-1].set_xlabel(LAG_AXIS)
    return axes


def plot_lines_in_plane(angles: Mapping[str, float], ax: Axes) -> Axes:
    """Lines through the origin of the plane: label → angle with the first axis, in degrees."""
    for i, (label, angle) in enumerate(angles.items()):
        x, y = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        ax.plot([-x, x], [-y, y], ("-", "-", "--")[i % 3], color=CYCLE[i], linewidth=2)
        side = "left" if x > 0 else "right"
        ax.annotate(label, (x, y), (8 * x, 8 * y), textcoords="offset points", color=CYCLE[i], ha=side, va="center")
    ax.set(aspect="equal", xlim=(-1.3, 1.5), ylim=(-1.2, 1.25), xlabel="input 1", ylabel="input 2")
    return ax


def plot_direction_capacities(
    angles: np.ndarray, capacities: Mapping[str, np.ndarray], marks: Mapping[str, float], ax: Axes
) -> Axes:
    """Capacity along a direction of the plane against its angle (degrees), with named angles marked."""
    for i, (label, values) in enumerate(capacities.items()):
        ax.plot(angles, values, "-" if i == 0 else "--", color=CYCLE[0], label=label)
    first, second = list(capacities.values())[:2]
    ax.fill_between(angles, first, second, where=second > first, color=CYCLE[1], alpha=0.25, label="marginal is larger")
    for label, angle in marks.items():
        ax.axvline(angle, color="0.5", linestyle=":", linewidth=0.9)
        ax.annotate(label, (angle, 1.02), xycoords=("data", "axes fraction"), ha="center", fontsize=8.5, color="0.25")
    ax.set(xlabel="angle of the direction s [degrees]", ylabel="capacity", ylim=(0, 1.05), xlim=(angles[0], angles[-1]))
    ax.set_xticks(np.arange(angles[0], angles[-1] + 1, 45))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=3, frameon=False)
    return ax
