"""Sphinx extension: pages that load what they show.

The theme draws its icons twice, with the font in its style sheet and with a script of 1.5 MB that no page can do
without waiting for; the font is enough. Small pictures in the index of figures are fetched as they come into sight.
Signatures are written without an element around each of their words.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.DOTALL)
WORD = re.compile(r'<span class="pre">([^<]*)</span>')
ICONS = Path("_static", "scripts", "fontawesome.js")


def fetch_late(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Mark the pictures of an index of figures."""
    if 'class="figure-index' in context.get("body", ""):
        context["body"] = context["body"].replace("<img src=", '<img loading="lazy" src=')


def write_signatures_plainly(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Take the elements away that style sheets do not use."""
    if "body" in context:
        context["body"] = SIGNATURE.sub(lambda signature: WORD.sub(r"\1", signature[0]), context["body"])


def leave_icons_to_the_font(app: Sphinx, error: Exception | None) -> None:
    """Empty the theme's script."""
    script = Path(app.outdir) / ICONS
    if error is None and script.is_file():
        script.write_text("// Icons are those of the style sheet's font.\n", "utf8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handlers."""
    app.connect("html-page-context", fetch_late, priority=950)
    app.connect("html-page-context", write_signatures_plainly, priority=950)
    app.connect("build-finished", leave_icons_to_the_font)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
