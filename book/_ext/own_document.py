"""Sphinx extension: every node of a page belongs to the document of that page.

What MyST parses from an ``{eval-rst}`` block stays tied to a document of its own, and through that one's settings to
Sphinx's whole environment. Every page of the reference then stores a copy of it: 300 MB to write, and to read again at
each build, in which Sphinx numbers the figures anew.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def adopt(app: Sphinx, doctree: nodes.document) -> None:
    """Tie all nodes to the document that they stand in, before it is stored."""
    for node in doctree.findall():
        node.document = doctree


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handler."""
    app.connect("doctree-read", adopt, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
