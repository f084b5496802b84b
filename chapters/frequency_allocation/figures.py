"""Figures about frequencies: profiles along them, what is there without training, and single waves."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, LAG_LABEL
from chapters.shared.lag_figures import line_colours


def plot_along_frequencies(profiles: Mapping[str, np.ndarray], ax: Axes) -> Axes:
    """One line per profile, from light to dark, over the frequencies from 0 to ½; dashed: what no mode can exceed.

    Parameters
    ----------
    profiles : label → (n // 2 + 1,) mean capacity of the modes of each frequency.
    """
    colours = line_colours(profiles)
    for i, (label, values) in enumerate(profiles.items()):
        ax.plot(np.linspace(0, 0.5, len(values)), values, label=label, color=colours[i])
    ax.axhline(1, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel="frequency (cycles per input)", ylabel="capacity per mode", ylim=(-0.03, 1.08))
    ax.set_xticks([0, 1 / 8, 1 / 4, 3 / 8, 1 / 2], ["0", "1/8", "1/4", "3/8", "1/2"])
    return ax


def plot_untrained(trained: np.ndarray, draws: np.ndarray, plain: np.ndarray, ax: Axes) -> Axes:
    """A trained model's profile over the central 80% of the same model at random parameters.

    Parameters
    ----------
    trained : (n // 2 + 1,). draws, plain : (n_draws, n // 2 + 1) at random parameters, with and without Σ.
    """
    low, high = np.quantile(draws, [0.1, 0.9], axis=0)
    grid = np.linspace(0, 0.5, len(trained))
    ax.fill_between(grid, low, high, color="0.85", linewidth=0, label="untrained, 80 % of draws")
    plot_along_frequencies({}, ax)
    ax.plot(grid, np.median(plain, axis=0), color="0.5", linestyle="--", linewidth=1.2, label="untrained, without Σ")
    ax.plot(grid, trained, color=CYCLE[0], label="trained")
    return ax


def plot_waves(waves: Mapping[str, tuple[np.ndarray, np.ndarray]], ax: Axes) -> Axes:
    """Waves over the lags, one below the other, each with its projection onto 𝒦 (filled); the most recent at the right.

    Parameters
    ----------
    waves : name → wave of amplitude 1 and its projection, each (n,).
    """
    for i, (name, (wave, shadow)) in enumerate(waves.items()):
        height, lags = -3.0 * i, np.arange(len(wave))
        ax.fill_between(lags, height, height + shadow, color=CYCLE[0], alpha=0.6, linewidth=0)
        ax.plot(lags, height + wave, color="0.3", linewidth=0.8)
        ax.text(lags[-1], height + 1.15, name, va="bottom")
    ax.set(xlabel=LAG_LABEL, yticks=[], ylim=(-3.0 * len(waves) + 1.6, 2.0))
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    ax.invert_xaxis()
    return ax
