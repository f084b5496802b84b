"""Sphinx extension: evidence for a claim is one folded line at the end of its section.

A notebook holds a box that reads well in JupyterLab. In the book it would interrupt the argument, so that here the box
is drawn again from what the output's metadata record, one element that opens, and moved behind the text of its section.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from chapters.claims.evidence import Evidence
from chapters.claims.registry import load


class ToTheEnd(SphinxTransform):
    """Move the evidence of each section to its end, before the sections below it."""

    default_priority = 790

    def apply(self, **_: Any) -> None:
        for section in list(self.document.findall(nodes.section)):
            text = [child for child in section.children if not isinstance(child, nodes.section)]
            outputs = [each for child in text for each in child.findall(nodes.container) if "nb_element" in each]
            box = nodes.container(classes=["cell_output", "claims-of-section"])
            for output in outputs:
                if output["nb_element"] == "mime_bundle" and 'class="capcore-claim' in output.astext():
                    cell = output.parent.parent
                    output.parent.remove(output)
                    box += output
                    if not cell.children[-1].children:
                        cell.parent.remove(cell)
            if box.children:
                section.insert(len(text), box)


def setup(app: Sphinx) -> dict[str, Any]:
    """Have MyST-NB render such outputs, and move them."""
    plain = NbElementRenderer.render_text_html

    def render(self: NbElementRenderer, data: MimeData) -> list[nodes.Element]:
        found = data.output_metadata.get("capcore", {})
        if "claim" in found:
            claim = load(Path(app.srcdir) / app.config.claims_registry)[found["claim"]]
            data = replace(data, content=Evidence(claim, found["values"]).folded_html())
        made: list[nodes.Element] = plain(self, data)
        return made

    NbElementRenderer.render_text_html = render
    app.add_transform(ToTheEnd)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
