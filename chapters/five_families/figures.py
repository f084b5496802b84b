"""The figure of the sweep: in which share of the models each statement holds."""

from textwrap import wrap

import pandas as pd
from matplotlib.axes import Axes

from capcore.plotting import MARKERS, channel_colours
from chapters.kit.phone import when_narrow
from chapters.shared.process_names import NAMES


def plot_shares(shared: pd.DataFrame, title: str, processes: list[str], channels: list[int], ax: Axes) -> Axes:
    """Share and interval by process, a marker for each number of channels; see ``study.shares``."""
    colours = channel_colours(channels)
    for shift, (width, marker) in enumerate(zip(channels, MARKERS, strict=False)):
        rows = shared[shared["channels"] == width]
        heights = [processes.index(name) + 0.22 * (shift - 1) for name in rows["process"]]
        errors = [rows["share"] - rows["low"], rows["high"] - rows["share"]]
        ax.errorbar(
            rows["share"], heights, xerr=errors, fmt=marker, color=colours[width], markersize=4, linewidth=1,
            label=f"{width} channel{'s' * (width > 1)}",
        )  # fmt: skip
    when_narrow(ax.figure, lambda: ax.tick_params(labelbottom=True))
    ax.set_title("\n".join(wrap(title, 17)), fontsize=9)
    ax.set(xlabel="share of models", xlim=(-0.05, 1.05), xticks=[0, 0.5, 1], ylim=(len(processes) - 0.5, -0.5))
    ax.set_yticks(range(len(processes)), [NAMES.get(name, name) for name in processes])
    return ax
