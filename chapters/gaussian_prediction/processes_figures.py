"""Processes and the capacity that models allocate for them, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from re import sub
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import MARKERS

STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def plot_lines(lines: Mapping[str, np.ndarray], ax: Axes, xlabel: str, ylabel: str, first: int = 0) -> Axes:
    """One line per label, told apart by colour, dash and marker; position 0 at the left.

    Parameters
    ----------
    lines : label → (n,) values. first : abscissa of their first entry.
    """
    for i, (label, values) in enumerate(lines.items()):
        ax.plot(
            first + np.arange(len(values)),
            values,
            label=label,
            linestyle=STYLES[i % len(STYLES)],
            marker=MARKERS[i % len(MARKERS)],
            markevery=(i, max(1, len(values) // 8)),
        )
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax


def plot_spectra(eigenvalues: Mapping[str, np.ndarray], axes: Sequence[Axes]) -> Sequence[Axes]:
    """The eigenvalues of one covariance per panel, on one logarithmic scale.

    Parameters
    ----------
    eigenvalues : name of the process → (n,) eigenvalues, descending.
    """
    for ax, (name, values) in zip(axes, eigenvalues.items(), strict=True):
        ax.semilogy(np.arange(1, len(values) + 1), values, ".", markersize=3)
        ax.set_title(fill(sub("(?<=[a-z])(?=[A-Z])", " ", name), 11), fontsize=9)
    axes[0].set_ylabel("eigenvalue of Σ")
    axes[len(axes) // 2].set_xlabel("eigenvalue number, largest first")  # once: narrow panels have no room for it each
    return axes


def plot_allocations(
    profiles: Sequence[Mapping[str, np.ndarray]], regular: Sequence[Mapping[str, bool]], axes: Sequence[Axes]
) -> Sequence[Axes]:
    """The capacity per input of the same models for one process per panel, most recent input at the right.

    Parameters
    ----------
    profiles : for each panel, model label → (n,) capacities.
    regular : for each panel, model label → whether it stands at a regular point; the others are drawn dotted and pale.
    """
    for ax, lines, flags in zip(axes, profiles, regular, strict=True):
        for i, (label, values) in enumerate(lines.items()):
            ax.plot(
                np.arange(len(values)),
                values,
                label=label,
                color=f"C{i}",
                marker=MARKERS[i % len(MARKERS)],
                markersize=3,
                markevery=max(1, len(values) // 8),
                linestyle="-" if flags[label] else ":",
                alpha=1.0 if flags[label] else 0.55,
            )
        ax.axhline(1.0, color="0.4", linestyle="--", linewidth=0.8)
        ax.set(xlabel="lag", ylim=(-0.03, 1.08))
        ax.invert_xaxis()
        ax.label_outer()
    axes[0].set_ylabel("capacity per input")
    return axes
