"""Figures of effective complexity: measures along training, sensitivity by place, tangents, and shares of variance."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from chapters.shared.complexity.activations import Activation

LABELS = {"right": ("true labels", CYCLE[0], "-"), "shuffled": ("shuffled labels", CYCLE[1], "--")}
"""Name, colour and line of networks by the labels that they learn."""


def plot_along(epochs: Sequence[int], intervals: Mapping[str, tuple[np.ndarray, np.ndarray]], ax: Axes) -> Axes:
    """Means with intervals over epochs, one line for each kind of labels; epochs evenly spaced.

    Parameters
    ----------
    intervals : "right" or "shuffled" → mean and half-width, each (n_epochs,).
    """
    at = np.arange(len(epochs))
    for kind, (mean, half) in intervals.items():
        name, colour, line = LABELS[kind]
        ax.plot(at, mean, line, color=colour, label=name)
        ax.fill_between(at, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0)
    ax.set_xticks(at, [str(epoch) for epoch in epochs])
    ax.set_ylim(0, None)
    return ax


def plot_places(ratios: Mapping[str, np.ndarray], names: Sequence[str], ax: Axes, limits: tuple[float, float]) -> Axes:
    """Ratios with their intervals, (n_places, 3) low, middle and high for each label, places downwards."""
    for i, (label, values) in enumerate(ratios.items()):
        at = np.arange(len(names)) + 0.16 * (i - (len(ratios) - 1) / 2)
        errors = [values[:, 1] - values[:, 0], values[:, 2] - values[:, 1]]
        filled = CYCLE[i // 2] if i % 2 == 0 else "none"
        ax.errorbar(
            values[:, 1], at, xerr=errors, fmt="os^v"[i % 4], color=CYCLE[i // 2], mfc=filled, ms=5, label=label
        )
    ax.axvline(1, color="0.5", linewidth=0.8, linestyle=":")
    ax.set_xscale("log")
    ax.set_yticks(np.arange(len(names)), names)
    ax.set(xlabel="sensitivity over that at training images", ylim=(len(names) - 0.5, -0.5), xlim=limits)
    ax.grid(axis="y", visible=False)
    return ax


def plot_tangents(phi: Activation, error: float, ax: Axes, reach: float = 3.0) -> Axes:
    """Tanh and an activation made of its tangents, with the knots at which they meet."""
    z = np.linspace(-reach, reach, 601)
    knots = np.array([kink for kink in phi.kinks if abs(kink) < reach])
    ax.plot(z, np.tanh(z), color=CYCLE[6], linewidth=1, label="tanh")
    ax.plot(z, phi.value(z), "--", color=CYCLE[1], label=f"tangents, error {error:g}")
    ax.plot(knots, phi.value(knots), "o", color=CYCLE[1], markersize=4, label="knots")
    ax.set(xlabel="pre-activation", ylabel="output of a unit", xlim=(-reach, reach))
    return ax


def plot_region_counts(n_inputs: np.ndarray, formula: np.ndarray, exact: np.ndarray, ax: Axes) -> Axes:
    """Logs of the number of regions that one layer makes, exact and by the slides' formula, each (n,), over inputs."""
    ax.plot(n_inputs, formula, "--", color=CYCLE[1], label="formula of the slides")
    ax.plot(n_inputs, exact, color=CYCLE[0], label="regions, exact")
    ax.set(xlabel="inputs d", ylabel="log of the number of regions", ylim=(0, None), xlim=(0, n_inputs[-1]))
    return ax


def plot_shares(shares: Mapping[str, Mapping[str, float]], names: Mapping[str, str], ax: Axes) -> Axes:
    """Shares of variance as stacked bars, one bar for each measure, parts in the same order; wide ones in numbers."""
    hatches = ("", "//", "", "..", "", "xx", "")
    left = np.zeros(len(shares))
    parts = list(next(iter(shares.values())))
    for i, part in enumerate(parts):
        widths = np.array([values[part] for values in shares.values()])
        at = np.arange(len(shares), dtype=float)
        ax.barh(at, widths, left=left, color=CYCLE[i], hatch=hatches[i], edgecolor="white", height=0.6, label=part)
        for y, start, width in zip(at, left, widths, strict=True):
            if width > 0.1:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
                ax.text(start + width / 2, y, f"{100 * width:.0f} %", ha="center", va="center", fontsize=7, bbox=box)
        left += widths
    ax.set_yticks(np.arange(len(shares)), [names[name] for name in shares])
    ax.set(xlabel="share of the variance of the logarithm", xlim=(0, 1), ylim=(len(shares) - 0.5, -0.5))
    ax.grid(visible=False)
    return ax
