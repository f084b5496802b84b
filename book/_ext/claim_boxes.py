"""Sphinx extension: evidence for a claim is one folded line at the end of its section.

A notebook holds a box that reads well in JupyterLab. In the book it would interrupt the argument, so that here the box
is drawn again from what the output's metadata record, one element that opens, and moved behind the text of its section.
"""

from __future__ import annotations

from collections.abc import Iterator
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
            found = [raw for raw in section.findall(nodes.raw) if 'class="capcore-claim' in raw.astext()]
            own = [raw for raw in found if next(_above(raw, nodes.section)) is section]
            if not own:
                continue
            box = nodes.container(classes=["cell_output", "claims-of-section"])
            for raw in own:
                bundle = next(each for each in _above(raw, nodes.container) if each.get("nb_element") == "mime_bundle")
                cell = next(each for each in _above(bundle, nodes.container) if "cell" in each["classes"])
                output = bundle.parent
                output.remove(bundle)
                box += bundle
                if not output.children:
                    cell.parent.remove(cell)
            below = section.first_child_matching_class(nodes.section)
            section.insert(len(section) if below is None else below, box)


def _above(node: nodes.Node, kind: type[nodes.Element]) -> Iterator[nodes.Element]:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kind):
            yield node


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
