"""Sphinx extension: no line of a page begins with the full stop behind a formula, a per cent sign, or half of a name.

A browser may break a line on either side of a formula, and after a hyphen. In HTML, a formula and the punctuation that
touches it become one ``<span class="unbroken">``, and so does each of :data:`NAMES`; ``custom.css`` keeps these on one
line. Code is left alone.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

NAMES = re.compile(r"(L-BFGS-B)")
BEFORE = re.compile(r"[(\[“]+$")
PER_CENT = re.compile(r"(?<=\d) (?=%)")
AFTER = re.compile(r"^[.,;:!?)\]”’]+")


def keep_formulas(doctree: nodes.document) -> None:
    """Put each formula into a span with the punctuation around it, if there is any."""
    for formula in list(doctree.findall(nodes.math)):
        parent = formula.parent
        place = parent.index(formula)
        before, left = _split(parent, place - 1, BEFORE)
        after, right = _split(parent, place + 1, AFTER)
        if left or right:
            span = nodes.inline("", nodes.Text(left), formula.deepcopy(), nodes.Text(right), classes=["unbroken"])
            first, last = place - bool(left), place + 1 + bool(right)
            parent[first:last] = [nodes.Text(before)] * bool(left) + [span] + [nodes.Text(after)] * bool(right)


def _split(parent: nodes.Element, place: int, wanted: re.Pattern[str]) -> tuple[str, str]:
    """The neighbour's text without the punctuation that touches the formula, and this punctuation."""
    if not 0 <= place < len(parent) or not isinstance(parent[place], nodes.Text):
        return "", ""
    text = parent[place].astext()
    found = wanted.search(text)
    return (text[: found.start()] + text[found.end() :], found[0]) if found else ("", "")


def keep_names(doctree: nodes.document) -> None:
    """Put names that contain hyphens into spans, and a space that does not break before a per cent sign."""
    for text in list(doctree.findall(nodes.Text)):
        if PER_CENT.search(text) and not isinstance(text.parent, nodes.FixedTextElement | nodes.raw):
            fixed = nodes.Text(PER_CENT.sub("\N{NO-BREAK SPACE}", text))
            text.parent.replace(text, fixed)
            text = fixed
        if isinstance(text.parent, nodes.literal | nodes.FixedTextElement | nodes.raw) or not NAMES.search(text):
            continue
        pieces = [(nodes.Text(piece), NAMES.fullmatch(piece)) for piece in NAMES.split(text) if piece]
        text.parent.replace(
            text, [nodes.inline("", piece, classes=["unbroken"]) if name else piece for piece, name in pieces]
        )


def keep_together(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Do both for a page."""
    if app.builder.format == "html":
        keep_formulas(doctree)
        keep_names(doctree)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handler."""
    app.connect("doctree-resolved", keep_together)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
