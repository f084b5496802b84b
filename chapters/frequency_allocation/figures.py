"""Figures about frequencies: profiles along them, the inputs' spectrum, and what is there without training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from re import sub

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import MARKERS
from chapters.gaussian_prediction.figures import STYLES

FREQUENCY_LABEL = "frequency (cycles per input)"
CAPACITY_LABEL = "capacity per mode"


def plot_along_frequencies(
    profiles: Mapping[str, np.ndarray], ax: Axes, colours: Mapping[str, object] | None = None
) -> Axes:
    """One line per profile over the frequencies from 0 to ½, with the ceiling that no mode can exceed.

    Parameters
    ----------
    profiles : label → (n // 2 + 1,) mean capacity of the modes of each frequency. colours : label → colour.
    """
    for i, (label, values) in enumerate(profiles.items()):
        ax.plot(
            np.linspace(0, 0.5, len(values)),
            values,
            label=label,
            marker=MARKERS[i % len(MARKERS)],
            markevery=max(1, len(values) // 12),
            color=colours[label] if colours else None,
        )
    ax.axhline(1, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel=FREQUENCY_LABEL, ylabel=CAPACITY_LABEL, ylim=(-0.03, 1.08), xticks=[0, 1 / 8, 1 / 4, 3 / 8, 1 / 2])
    ax.set_xticklabels(["0", "1/8", "1/4", "3/8", "1/2"])
    return ax


def plot_against_density(
    profiles: Mapping[str, np.ndarray],
    density: np.ndarray,
    ax: Axes,
    colours: Mapping[str, object] | None = None,
) -> Axes:
    """Capacity of each frequency over the power of the inputs there, on a logarithmic axis.

    Parameters
    ----------
    profiles : label → (n // 2 + 1,). density : (n // 2 + 1,) expected power.
    """
    for i, (label, values) in enumerate(profiles.items()):
        colour = colours[label] if colours else None
        ax.plot(density, values, MARKERS[i % len(MARKERS)], markersize=3.5, color=colour, label=label)
    ax.set(xscale="log", xlabel="power of the inputs (variance per mode)", ylabel=CAPACITY_LABEL, ylim=(-0.03, 1.08))
    ax.axhline(1, color="0.4", linestyle="--", linewidth=0.8)
    return ax


def plot_untrained(trained: np.ndarray, draws: np.ndarray, ax: Axes, label: str = "untrained") -> Axes:
    """A trained model's profile over the median and the central 80 % of the same model at random parameters.

    Parameters
    ----------
    trained : (n // 2 + 1,). draws : (n_draws, n // 2 + 1).
    """
    low, middle, high = np.quantile(draws, [0.1, 0.5, 0.9], axis=0)
    grid = np.linspace(0, 0.5, len(middle))
    ax.fill_between(grid, low, high, color="0.85", linewidth=0, label=f"{label}, 80 % of draws")
    ax.plot(grid, middle, color="0.5", linestyle="--", linewidth=1.2, label=f"{label}, median")
    plot_along_frequencies({"trained": trained}, ax)
    return ax


def plot_families_along_frequencies(
    profiles: Mapping[str, Mapping[str, np.ndarray]],
    densities: Mapping[str, np.ndarray],
    axes: Sequence[Axes],
    colours: Mapping[str, object] | None = None,
) -> Sequence[Axes]:
    """One panel per process family: the profiles, and the inputs' spectrum in grey, scaled to its largest value.

    Parameters
    ----------
    profiles : family → model label → (n // 2 + 1,). densities : family → (n // 2 + 1,).
    """
    for ax, (name, lines) in zip(axes, profiles.items(), strict=True):
        density = densities[name] / densities[name].max()
        ax.fill_between(np.linspace(0, 0.5, len(density)), density, color="0.88", linewidth=0, label="power, scaled")
        plot_along_frequencies(lines, ax, colours).set(xlabel="", ylabel="")
        ax.set_title(sub("(?<=[a-z])(?=[A-Z])", " ", name), fontsize=9)
    return axes


def plot_over_windows(lines: Mapping[str, np.ndarray], sizes: Sequence[int], ax: Axes, ylabel: str) -> Axes:
    """One line per quantity over the number of inputs, a power of two each.

    Parameters
    ----------
    lines : label → (m,) values. sizes : (m,) numbers of inputs.
    """
    for i, (label, values) in enumerate(lines.items()):
        style = STYLES[(i // 2) % len(STYLES)]
        ax.plot(sizes, values, label=label, marker=MARKERS[i % len(MARKERS)], linestyle=style)
    ax.set_xscale("log", base=2)
    ax.set_xticks(list(sizes), [str(size) for size in sizes])
    ax.set(xlabel="inputs", ylabel=ylabel)
    ax.minorticks_off()
    return ax
