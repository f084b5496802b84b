"""Capacity over the lags, as many chapters draw it: plain lines, the most recent input at the right."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import LAG_LABEL as LAG_AXIS
from capcore.plotting import channel_colours


def line_colours(labels: Iterable[str]) -> list[tuple]:
    """From light to dark in the order given; what is named by its channels has the colours that these have elsewhere.

    >>> line_colours(["c = 2", "c = 8"])[0] == line_colours(["1 channel", "2 channels"])[1]
    True
    """
    names = list(labels)
    matches = [re.search(r"\bc = (\d+)$|^(\d+) channels?\b", name) for name in names]
    channels = [int(match[1] or match[2]) for match in matches if match]
    known = len(set(channels)) == len(names)
    return list(channel_colours(channels if known else range(len(names))).values())


def plot_over_lags(
    lines: Mapping[str, np.ndarray], ax: Axes, ceiling: float | None = 1.0, looks: Mapping[str, Any] | None = None
) -> Axes:
    """One line per label, lag 0 at the right, with a legend beside the picture.

    Parameters
    ----------
    lines : dict
        Label → (n,) values, lag 0 first.
    ax : Axes
        To draw on; returned.
    ceiling : float or None
        Height of a dashed line, if there is to be one.
    looks : dict, optional
        Label → options of its line; by default colours from light to dark, and a legend.
    """
    colours = line_colours(lines)
    for i, (label, values) in enumerate(lines.items()):
        look: dict[str, Any] = {"color": colours[i]} if looks is None else looks.get(label, {})
        ax.step(np.arange(len(values)), values, where="mid", label=label, **look)
    if ceiling is not None:
        ax.axhline(ceiling, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel=LAG_AXIS, ylabel="capacity per input")
    if looks is None:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    if not ax.xaxis_inverted():
        ax.invert_xaxis()
    return ax
