"""One legend for several axes."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend


def share_legend(figure: Figure, axes: Iterable[Axes], ncols: int = 4) -> Legend:
    """A legend below the figure with everything labelled in ``axes``, each label once."""
    found: dict[str, Artist] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return figure.legend(list(found.values()), list(found), ncols=ncols, loc="outside lower center", frameon=False)
