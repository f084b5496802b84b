"""Sphinx extension: show a chapter's figure on another page, as computed in this build.

``{notebook-figure} fig-x`` with a caption as its content. Picture and alternative text are those of the figure called
``fig-x``; the caption may cite its number with ``{numref}`` and values with ``{glue:text}``. The copy has no number.
An explorer stays one. ``{figure-index}`` shows several, small and as pictures: a line each, ``figure of the source |
fig-x | claims``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from explorer import explorer  # type: ignore[import-not-found]  # a neighbour in this folder
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from chapters.claims.registry import load
from chapters.claims.verdicts import MARKS

logger = logging.getLogger(__name__)


class notebook_figure(nodes.General, nodes.Element):
    """Stands for a figure of another page until all pages are read; its children are the caption."""


class NotebookFigureDirective(SphinxDirective):
    """``{notebook-figure} NAME``, with the caption as content."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        node = notebook_figure(name=self.arguments[0])
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


class FigureIndexDirective(SphinxDirective):
    """``{figure-index}``, with a line for each figure of a source: its name there, ours, and the claims it bears on."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The figures, each with the source's number, a link to the whole figure, and verdicts."""
        self.assert_has_content()
        index = nodes.container(classes=["figure-index"])
        registry = load(Path(self.env.srcdir) / self.env.config.claims_registry)
        for offset, line in enumerate(self.content):
            where, name, claims = (part.strip() for part in line.split("|"))
            marks = ", ".join(f"{MARKS[registry[each].verdict]} {{claim}}`{each}`" for each in claims.split())
            node = notebook_figure(name=name, still=True)
            self.set_source_info(node)
            text = f"**{where}** · [ours](#{name})" + f" · {marks}" * bool(marks)
            self.state.nested_parse(
                StringList([text], self.state.document["source"]), self.content_offset + offset, node
            )
            index += node
        return [index]


class CopyFigures(SphinxPostTransform):
    """Put the pictures in place, before explorers take theirs (3), and MyST-NB chooses among formats (4)."""

    default_priority = 2

    def run(self, **kwargs: Any) -> None:
        for node in list(self.document.findall(notebook_figure)):
            original = self.find(node["name"])
            if original is None:
                logger.warning("notebook-figure: found no figure named %r on any page.", node["name"], location=node)
                node.replace_self(nodes.paragraph("", "", nodes.Text("(no figure)")))
                continue
            caption = nodes.caption("", "", *(child for part in node.children for child in part.children))
            picture = [child.deepcopy() for child in original.children if not isinstance(child, nodes.caption)]
            for live in [each for part in picture for each in part.findall(explorer)] if "still" in node else []:
                live.parent.parent.remove(live.parent)
            copy = nodes.figure("", *picture, caption, ids=[f"shown-{node['name']}"], classes=["notebook-figure"])
            node.replace_self(copy)

    def find(self, name: str) -> nodes.figure | None:
        """The figure with this name, wherever it is."""
        docname, label = self.env.get_domain("std").anonlabels.get(name, ("", ""))
        if not docname:
            return None
        figures = self.env.get_doctree(docname).findall(nodes.figure)
        return next((figure for figure in figures if label in figure["ids"]), None)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_node(notebook_figure)
    app.add_directive("notebook-figure", NotebookFigureDirective)
    app.add_directive("figure-index", FigureIndexDirective)
    app.add_post_transform(CopyFigures)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
