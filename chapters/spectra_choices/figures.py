"""Metrics of networks against their errors, and correlations under all combinations of choices."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from capcore.plotting import CYCLE, MARKERS


def plot_errors(table: pd.DataFrame, column: str, ax: Axes, xlabel: str) -> Axes:
    """Test error over a column, one marker for each family.

    table : with ``family``, ``error`` and the column.
    """
    for i, (family, part) in enumerate(table.groupby("family", sort=False)):
        x, y = part[column].to_numpy(float), part["error"].to_numpy(float)
        ax.plot(x, y, MARKERS[i], color=CYCLE[i], ms=6, label=str(family))
    ax.set(xlabel=xlabel, ylabel="top-1 test error (%)")
    ax.margins(x=0.12, y=0.08)
    return ax


def plot_correlations(groups: Mapping[str, np.ndarray], axes: Sequence[Axes]) -> None:
    """How many combinations of choices give each rank correlation: a histogram below another, negative ones paler.

    groups : label → correlations (m,). axes : one for each group.
    """
    centres = np.arange(-10, 11) / 10
    for i, (ax, (label, one)) in enumerate(zip(axes, groups.items(), strict=True)):
        heights = np.histogram(one, np.arange(-1.05, 1.1, 0.1))[0]
        ax.bar(centres, heights, 0.09, color=[(CYCLE[i], 0.5 if centre < 0 else 1.0) for centre in centres])
        ax.axvline(0, color="0.3", linewidth=0.9)
        ax.set(ylabel="combinations", xlim=(-1.1, 1.1))
        ax.grid(visible=False)
        ax.set_title(label, loc="left", fontsize="medium")
    axes[-1].set_xlabel("rank correlation with the test error; positive is what the paper expects")
