"""Sphinx extension: figures that the reader operates, from what ``kit.explorer`` leaves in the outputs of a cell.

In HTML the picture becomes the content of ``<div class="cap-explorer" data-kind="…">``, beside a script element with
the data as JSON. ``book/_static/explorer/shell.js`` reads them and draws; the scripts are added to such pages only.
All other builders, and a browser without JavaScript, keep the picture. The data reach no search index.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core import render
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform

from chapters.kit.explorer import MIME
from chapters.kit.stored import path_of

FOLDER = "explorer"
LIBRARIES = ("d3.min.js", "plot.min.js", "shell.js")


class explorer(nodes.General, nodes.Element):
    """A kind of explorer, its data as JSON, and the controls shown if not all; later with the picture as its child."""


class ExplorerRenderer:
    """What MyST-NB asks for the nodes of an output."""

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """An :class:`explorer` for our own type, None for others."""
        if data.mime_type != MIME:
            return None
        content = data.content if isinstance(data.content, dict) else json.loads(data.string)
        if "stored" in content:
            content["data"] = json.loads(path_of(content["stored"]).read_text("utf8"))["values"]
        controls = " ".join(content.get("controls", ()))
        return [explorer(kind=content["kind"], payload=for_script(content["data"]), controls=controls)]


def for_script(data: Any) -> str:
    r"""JSON that can stand in a script element.

    >>> for_script({"a": ["</script>", 1.5]})
    '{"a":["\\u003c/script>",1.5]}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


class PlaceExplorers(SphinxPostTransform):
    """Put pictures into their explorers, after figures were copied (2), before MyST-NB chooses among formats (4)."""

    default_priority = 3

    def run(self, **kwargs: Any) -> None:
        seen: Counter[str] = Counter()
        for found in list(self.document.findall(explorer)):
            mime = found.parent
            bundle = mime.parent
            bundle.remove(mime)
            if self.app.builder.format != "html":
                continue
            seen[found["kind"]] += 1
            count = seen[found["kind"]]
            for part in bundle.children:
                if str(part.get("mime_type", "")).startswith("image/"):
                    live = explorer(**{key: found[key] for key in ("kind", "payload", "controls")}, number=count)
                    live += part.children
                    part.children = []
                    part += live


def visit(self: Any, node: explorer) -> None:
    """Open the element and write the data."""
    name = node["kind"] + (f"-{node['number']}" if node["number"] > 1 else "")
    controls = f' data-controls="{node["controls"]}"' if node["controls"] else ""
    self.body.append(
        f'<div class="cap-explorer" data-kind="{node["kind"]}" data-name="{name}"{controls}>'
        f'<script type="application/json">{node["payload"]}</script>'
    )


def depart(self: Any, node: explorer) -> None:
    """Close the element."""
    self.body.append("</div>\n")


def add_files(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document) -> None:
    """Have a page with explorers load the style, the libraries, the shell, and a script for each kind."""
    kinds = sorted({node["kind"] for node in doctree.findall(explorer)}) if doctree else []
    if not kinds:
        return
    for kind in kinds:
        if not any((Path(app.srcdir) / path / FOLDER / f"{kind}.js").is_file() for path in app.config.html_static_path):
            raise ExtensionError(f"explorer: found no {kind}.js in {FOLDER}/ of the static files. Page: {pagename}.")
    app.add_css_file(f"{FOLDER}/explorer.css")
    for name in (*LIBRARIES, *(f"{kind}.js" for kind in kinds)):
        app.add_js_file(f"{FOLDER}/{name}", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register node, transform and handler, and a renderer; its entry point would have to be a package's."""
    plain = render.load_mime_renders
    render.load_mime_renders = lambda: [*plain(), ExplorerRenderer]
    app.add_node(explorer, html=(visit, depart))
    app.add_post_transform(PlaceExplorers)
    app.connect("html-page-context", add_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
