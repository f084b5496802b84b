"""Sphinx extension: each figure in two widths, of which the browser takes the one that fits.

``chapters.kit.pictures`` puts an SVG for the page into the output of a cell and one for phones into its metadata. Here
both become files with colours for a dark page (``dark_figures``) and one ``<picture>``, with the cell's alternative
text and with their sizes, so that nothing on the page moves when they arrive. Figures shown again on other pages
(``notebook_figure``) are such pictures, too.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import quote

from dark_figures import themed  # type: ignore[import-not-found]  # a neighbour in this folder
from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer
from sphinx.application import Sphinx

PHONE = "(max-width: 600px)"  # as in custom.css
SIZE = re.compile(r'<svg[^>]* (width|height)="([\d.]+)pt"[^>]* (?:width|height)="([\d.]+)pt"', re.DOTALL)


class picture(nodes.General, nodes.Element):
    """Two images, for phones and for wider windows."""


class sized_image(nodes.image):
    """An image with its ``size``, which Sphinx does not make a link to itself."""


def size(svg: str) -> tuple[int, int]:
    """Width and height in pixels.

    >>> size('<svg height="75pt" version="1.1" width="300pt" viewBox="0 0 300 75">')
    (400, 100)
    """
    found = SIZE.search(svg)
    if found is None:
        raise ValueError(
            f"found no width and height in points in {svg[:200]!r}, expected those that Matplotlib writes."
        )
    first, second = (round(float(points) * 4 / 3) for points in found.groups()[1:])
    return (first, second) if found[1] == "width" else (second, first)


def in_two_widths(render: Any, self: NbElementRenderer, data: MimeData) -> list[nodes.Element]:
    """What MyST-NB makes of an image; a picture where the output has a second one for phones."""
    narrow = data.output_metadata.get("capcore", {}).get("narrow")
    if narrow is None or data.mime_type != "image/svg+xml":
        plain: list[nodes.Element] = render(self, data)
        return plain
    images = []
    for svg in (narrow, data.string):
        image = sized_image(**render(self, replace(data, content=themed(svg)))[0].attributes)
        image["size"] = size(svg)
        images.append(image)
    return [picture("", *images)]


def visit_picture(self: Any, node: picture) -> None:
    """Write both images: the source for phones first, then the one for everybody else."""
    (narrow, wide), written = node.children, []
    for image in (narrow, wide):
        name = self.builder.images.get(image["uri"])
        where = posixpath.join(self.builder.imgpath, quote(name)) if name else image["uri"]
        width, height = image["size"]
        written.append((escape(where), f'width="{width}" height="{height}"'))
    (narrow_file, narrow_size), (wide_file, wide_size) = written
    self.body.append(
        f'<picture><source media="{PHONE}" srcset="{narrow_file}" {narrow_size}>'
        f'<img src="{wide_file}" {wide_size} alt="{escape(wide.get("alt", ""))}"></picture>\n'
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Have MyST-NB make pictures, and Sphinx write them."""
    plain = NbElementRenderer.render_image

    def render_image(self: NbElementRenderer, data: MimeData) -> list[nodes.Element]:
        return in_two_widths(plain, self, data)

    NbElementRenderer.render_image = render_image
    app.add_node(picture, html=(visit_picture, None))
    app.add_node(sized_image)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
