"""Sphinx extension: the first use of a glossary's term on a page carries its definition as a hover text.

The terms are those of ``book/glossary.md``, a list of definitions. Nothing has to be marked in the text. Headings,
links, code, formulas, captions, tables and notes in the margin are left alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PAGE = "book/glossary"
WITHOUT = ("book/api", "book/changelog", "book/bibliography", "book/architecture", PAGE)
SKIPPED = (
    nodes.title,
    nodes.reference,
    nodes.literal,
    nodes.math,
    nodes.caption,
    nodes.table,
    nodes.abbreviation,
    nodes.FixedTextElement,
)


def definitions(markdown: str) -> dict[str, str]:
    """Term → definition, longest terms first.

    >>> definitions("# Glossary\\n\\nlag\\n: Distance from the last input.\\n")
    {'lag': 'Distance from the last input.'}
    """
    found = re.findall(r"^(\S.*)\n: (.+)$", markdown, flags=re.M)
    return dict(sorted(found, key=lambda pair: -len(pair[0])))


def pattern(terms: list[str]) -> re.Pattern[str]:
    """Any of the terms as a whole word, with a plural's ending, a capital at its start or none."""
    either = [f"[{term[0].upper()}{term[0].lower()}]{re.escape(term[1:])}" for term in terms]
    return re.compile(rf"(?<![\w-])({'|'.join(either)})(s|es)?(?![\w-])")


def explain(doctree: nodes.document, terms: dict[str, str]) -> None:
    """Mark the first use of each term in the page's paragraphs."""
    names = {term.lower(): term for term in terms}
    wanted = pattern(list(terms))
    for text in list(doctree.findall(nodes.Text)):
        if not names or any(isinstance(parent, SKIPPED) or "erratum" in parent["classes"] for parent in _parents(text)):
            continue
        pieces: list[nodes.Node] = []
        end = 0
        for match in wanted.finditer(text):
            if term := names.pop(match[1].lower(), ""):
                pieces += [nodes.Text(text[end : match.start()])]
                pieces += [nodes.abbreviation(match[0], match[0], explanation=terms[term], classes=["glossary-term"])]
                end = match.end()
        if pieces:
            text.parent.replace(text, [*pieces, nodes.Text(text[end:])])


def _parents(node: nodes.Node) -> Any:
    while node.parent is not None:
        node = node.parent
        yield node


def explain_page(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Mark the terms of one page."""
    if app.builder.format == "html" and not docname.startswith(WITHOUT):
        path = Path(app.srcdir) / f"{PAGE}.md"
        explain(doctree, definitions(path.read_text("utf8")) if path.is_file() else {})


def note_glossary(app: Sphinx, docname: str, source: list[str]) -> None:
    """Have pages read again when the glossary changes."""
    path = Path(app.srcdir) / f"{PAGE}.md"
    if path.is_file() and not docname.startswith(WITHOUT):
        app.env.note_dependency(str(path))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handlers."""
    app.connect("source-read", note_glossary)
    app.connect("doctree-resolved", explain_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
