"""What keeps its colours on a dark page: maps, what lies on them, and everything that a colour bar explains.

Elsewhere black becomes white on a dark page and white becomes the page's colour (``book/_ext/dark_figures.py``). On a
map that would turn white letters on a dark cell into dark ones. A collection in pale colours with black letters on it
is one as well, if its ``gid`` is ``KEPT``.
"""

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.figure import Figure

KEPT = "as-drawn"  # how the name of such a part begins in an SVG


def name_what_is_kept(figure: Figure) -> None:
    """Name these parts of ``figure``, which has been laid out, so that its SVG holds their names.

    >>> import matplotlib.pyplot as plt
    >>> figure, ax = plt.subplots()
    >>> _ = ax.imshow([[0, 1], [1, 0]])
    >>> inside, outside = ax.text(0, 0, "on the map"), ax.text(0, -0.7, "above it")
    >>> name_what_is_kept(figure)
    >>> inside.get_gid(), outside.get_gid()
    ('as-drawn-0', None)
    """
    parts = [part for ax in figure.axes for part in (*_with_values(ax), *_on_maps(ax))]
    for number, part in enumerate(dict.fromkeys(parts)):
        part.set_gid(f"{KEPT}-{number}")


def _with_values(ax: Axes) -> list[Artist]:
    return [part for part in ax.collections if part.get_array() is not None or _is_map(part)]


def _is_map(part: Collection) -> bool:
    return str(part.get_gid()).startswith(KEPT)


def _on_maps(ax: Axes) -> list[Artist]:
    maps = [part.get_window_extent().padded(1.0) for part in (*ax.images, *filter(_is_map, ax.collections))]
    boxes = {part: part.get_window_extent() for part in (*ax.texts, *ax.lines, *ax.collections)} if maps else {}
    return [part for part, b in boxes.items() if any(m.contains(*b.min) and m.contains(*b.max) for m in maps)]
