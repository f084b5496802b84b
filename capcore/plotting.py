"""What every figure shares: the style, one legend for several axes, and capacity profiles over the inputs.

A function takes results and an axis, draws, and returns the axis. The look is in ``capcore.mplstyle``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

import numpy as np

try:
    import matplotlib.pyplot as plt
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
except ModuleNotFoundError as error:
    if (error.name or "").split(".")[0] != "matplotlib":
        raise
    said = (
        "capcore.plotting: found no matplotlib, expected it for the figures. Install it: pip install 'capcore[book]'."
    )
    raise ModuleNotFoundError(said, name="matplotlib") from None

# Okabe and Ito's colours, readable with the common colour-vision deficiencies.
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def use_style() -> None:
    """Apply ``capcore.mplstyle`` to all figures that follow."""
    plt.style.use(str(files("capcore") / "capcore.mplstyle"))


def channel_colours(values: Sequence[int]) -> dict[int, tuple]:
    """A colour for each value of an ordered quantity (channels, depth), from light to dark.

    >>> list(channel_colours([1, 2]))
    [1, 2]
    """
    import seaborn as sns  # here, because it takes longer to import than a figure to draw, and few figures need it

    return dict(zip(values, sns.color_palette("crest", len(values)), strict=True))


def share_legend(figure: Figure, axes: Iterable[Axes], ncols: int = 4) -> Legend:
    """A legend below the figure with everything labelled in ``axes``, each label once."""
    found: dict[str, Artist] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return figure.legend(list(found.values()), list(found), ncols=ncols, loc="outside lower center", frameon=False)


MARKERS = "os^Dv<>P"
LINES = ("-", "--", "-.", ":")
LAG_LABEL = "lag   ← past · now →"


def plot_profiles(
    profiles: Mapping[str, np.ndarray],
    ax: Axes,
    xlabel: str = LAG_LABEL,
    ylabel: str = "capacity",
    ceiling: float | None = 1.0,
    colours: Mapping[str, object] | None = None,
    recent_right: bool = True,
) -> Axes:
    """One stepped line per profile over the inputs, with the ceiling that no input can exceed.

    Parameters
    ----------
    profiles : dict
        Label → (n,) values, lag 0 first.
    ax : Axes
        To draw on; returned.
    xlabel, ylabel : str
        Labels of the axes.
    ceiling : float or None
        Height of the dashed line, if there is to be one.
    colours : dict, optional
        Label → colour; by default the style's cycle.
    recent_right : bool
        As in the paper, the most recent input stands at the right.
    """
    for i, (label, values) in enumerate(profiles.items()):
        look = {"color": colours[label]} if colours else {"linestyle": LINES[i % len(LINES)]}
        ax.step(np.arange(len(values)), values, where="mid", label=label, **look)
    if ceiling is not None:
        ax.axhline(ceiling, color="0.4", linestyle="--", linewidth=0.8)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if recent_right and not ax.xaxis_inverted():
        ax.invert_xaxis()
    if len(profiles) > 1:
        ax.legend()
    return ax
