"""How a figure leaves a notebook: as one output with the pictures that its readers need.

``picture(figure)`` gives the output's data and metadata. A notebook holds a PNG with twice the pixels of the page, in
a palette of colours, which GitHub and JupyterLab show. While the book is built (``CAPCORE_FIGURES=book``) there is
also an SVG, and in the metadata a second one for phones (``kit.phone``), which the book's extension ``pictures``
puts side by side for the browser to choose from. A figure whose SVG would be heavier than :data:`HEAVIEST` has its
densest parts as pixels in it. The same figure always gives the same bytes.
Elsewhere black becomes white on a dark page and white becomes the page's colour (``book/_ext/dark_figures.py``). Maps,
what lies on them, and everything that a colour bar explains keep their colours: white letters on a dark cell would turn
into dark ones. A collection in pale colours with black letters on it is a map as well, if its ``gid`` is ``KEPT``.
``make notebooks`` writes their :func:`digest` into the cell's metadata, so that a picture put in another's place shows.
"""

import os
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO, StringIO
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

KEPT = "as-drawn"  # how the name of such a part begins in an SVG
DPI = 192  # twice the 96 pixels to the inch of a page
HEAVIEST = 300_000  # bytes of an SVG
DENSE = 1000  # corners and marks of one part of a figure that an SVG holds as lines
MARGIN = 0.02  # inches of white around a figure


def picture(figure: Figure) -> tuple[dict[str, str], dict[str, Any]]:
    """Data and metadata of a notebook's output that shows ``figure``; afterwards the figure is no longer the same.

    Pictures are left out where the environment says ``CAPCORE_FIGURES=off``.
    """
    wanted = os.environ.get("CAPCORE_FIGURES", "on")
    data: dict[str, str] = {"text/plain": repr(figure)}
    metadata: dict[str, Any] = {}
    if wanted == "off":
        return data, metadata
    with laid_out(figure) as box:
        data["image/png"], metadata["image/png"] = png(figure, box)
        if wanted == "book":
            data["image/svg+xml"] = svg(figure)
    if wanted == "book":
        from chapters.kit.phone import narrow

        with laid_out(narrow(figure)):
            metadata["capcore"] = {"narrow": svg(figure)}
    return data, metadata


def digest(cell: Mapping[str, Any]) -> str:
    """Of the pictures that a notebook's cell holds and of its figure's name; empty where it has none.

    >>> cell = {"metadata": {"mystnb": {"figure": {"name": "fig-x"}}}, "outputs": [{"data": {"image/png": "iVBOR"}}]}
    >>> digest(cell), digest({"metadata": {}, "outputs": []})
    ('b7b74de8205f7167', '')
    """
    held = [each["data"]["image/png"].strip() for each in cell["outputs"] if "image/png" in each.get("data", {})]
    name = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name", "")
    return sha256("\n".join([name, *held]).encode()).hexdigest()[:16] if held else ""


@contextmanager
def laid_out(figure: Figure) -> Iterator[Bbox]:
    """Place everything in ``figure`` once for all pictures of it; gives the part of it that is not empty."""
    engine = figure.get_layout_engine()
    if engine is None:
        figure.draw_without_rendering()
    else:
        engine.execute(figure)
        figure.set_layout_engine("none")
    yield figure.get_tightbbox().padded(MARGIN)
    if engine is not None:
        figure.set_layout_engine(engine)


def png(figure: Figure, box: Bbox) -> tuple[str, dict[str, int]]:
    """The picture in base 64, and the size at which a page should show it."""
    from PIL import Image

    drawn = BytesIO()
    before = figure.dpi
    figure.set_dpi(DPI)
    box = Bbox.union([box, figure.get_tightbbox()])  # letters may be wider than at the figure's own resolution
    figure.set_dpi(before)
    figure.savefig(drawn, format="png", dpi=DPI, bbox_inches=box)
    image = Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    packed = BytesIO()
    image.save(packed, "png", optimize=True)
    return b64encode(packed.getvalue()).decode(), {"width": image.width // 2, "height": image.height // 2}


def svg(figure: Figure) -> str:
    """The figure as lines, with its densest parts as pixels where it would otherwise be too heavy.

    Letters that are lines are wider than those that are fitted to pixels, so that it has a box of its own.
    """
    name_what_is_kept(figure)
    drawn = _svg(figure)
    if len(drawn) <= HEAVIEST:
        return drawn
    for ax in figure.axes:
        for artist in ax.get_children():
            if _corners(artist) > DENSE:
                artist.set_rasterized(True)
    return _svg(figure)


def _svg(figure: Figure) -> str:
    drawn = StringIO()
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(drawn, format="svg", dpi=DPI, bbox_inches="tight", pad_inches=MARGIN, metadata=metadata)
    text = re.sub(r'(?<= d=")[^"]*', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), drawn.getvalue())
    return re.sub(r"(?<=data:image/png;base64,)[^\"]+", lambda pixels: _packed(pixels[0]), text)


def _packed(pixels: str) -> str:
    """A PNG in base 64 in 256 colours, transparent ones among them."""
    from PIL import Image

    image, packed = Image.open(BytesIO(b64decode(pixels))), BytesIO()
    image.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(packed, "png", optimize=True)
    return b64encode(packed.getvalue()).decode()


def _corners(artist: Any) -> int:
    """About how many points it takes to draw."""
    if hasattr(artist, "get_offsets"):
        return len(artist.get_offsets()) * 4 + sum(len(path.vertices) for path in artist.get_paths())
    path = getattr(artist, "get_path", None)
    marks = 4 if getattr(artist, "get_marker", lambda: "None")() not in ("None", "", None) else 1
    return marks * len(path().vertices) if path is not None else 0


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
