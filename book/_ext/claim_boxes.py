"""Sphinx extension: evidence for a claim stands in the margin of a wide page, and is one folded line on a narrow one.

A notebook holds a box that reads well in JupyterLab. In the book it would interrupt the argument, so that here the box
is drawn again from what the output's metadata record: one element that opens. ``claims.css`` places it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer
from sphinx.application import Sphinx

from chapters.claims.evidence import Evidence
from chapters.claims.registry import load


def setup(app: Sphinx) -> dict[str, Any]:
    """Have MyST-NB render such outputs."""
    plain = NbElementRenderer.render_text_html

    def render(self: NbElementRenderer, data: MimeData) -> list[nodes.Element]:
        found = data.output_metadata.get("capcore", {})
        if "claim" in found:
            claim = load(Path(app.srcdir) / app.config.claims_registry)[found["claim"]]
            data = replace(data, content=Evidence(claim, found["values"]).folded_html())
        made: list[nodes.Element] = plain(self, data)
        return made

    NbElementRenderer.render_text_html = render
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
