"""Sphinx extension: an erratum is a link in the line of a narrow page or on paper, a note in the margin of a wide one.

``{erratum}`E2.25` `` is what ``notebook_text`` makes of a link in parentheses. The note says where the slip is, what is
printed and how to read it, as ``book/errata.md`` has it; ``custom.css`` shows the one or the other. There and on the
page of the errata itself, ``κ^{ℓ−1}`` and ``λ_max`` are shown raised and lowered, as on the page of the claims.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from chapters.claims.notation import pieces

PAGE = "book/errata"
KINDS = {"text": nodes.inline, "sup": nodes.superscript, "sub": nodes.subscript}


def errata(markdown: str) -> dict[str, str]:
    """Label → where an erratum is; of those in tables also what is printed and how to read it.

    >>> errata("| [E2.25]{#e2-25} | Eq. 2 | one | another, as in {cite:t}`hu2003` | why |")
    {'e2-25': 'Eq. 2. Printed: one. Read: another.'}
    >>> errata("(e2-02)=\\n### E2.02 · Paper 2, §3.1, Eq. 3")
    {'e2-02': '§3.1, Eq. 3.'}
    """
    found: dict[str, str] = {}
    labels: list[str] = []
    for line in markdown.splitlines():
        if label := re.fullmatch(r"\((e\d-\d+)\)=", line):
            labels.append(label[1])
        elif line.startswith("### E"):
            found |= dict.fromkeys(labels, line.split(" · ")[1].split(", ", 1)[1] + ".")
            labels = []
        elif named := re.findall(r"\{#(e\d-\d+)\}", line):
            cells = re.split(r"(?<!\\) *\| *", line)[2:5]
            where, printed, read = (re.sub(r"(, as in)? \{cite:t\}`[^`]*`", "", each) for each in cells)
            found |= dict.fromkeys(named, f"{where.rstrip('.')}. Printed: {printed}. Read: {read}.".replace("\\|", "|"))
    return found


def typeset(text: str) -> list[nodes.Node]:
    """The line, with raised and lowered parts."""
    return [KINDS[kind](text=part) for kind, part in pieces(text)]


class ErratumRole(SphinxRole):
    """``{erratum}`E2.25` ``: a link to the entry, and its note."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Both, in one element; a number without an entry is a link that leads nowhere, of which Sphinx warns."""
        path, label = Path(self.env.srcdir) / f"{PAGE}.md", self.text.lower().replace(".", "-")
        self.env.note_dependency(str(path))
        target = {"refdomain": "std", "reftype": "ref", "reftarget": label, "refdoc": self.env.docname}
        link = addnodes.pending_xref("", nodes.inline(text=self.text), refexplicit=True, refwarn=True, **target)
        note = errata(path.read_text("utf8")).get(label, "") if path.is_file() else ""
        title = nodes.inline(text="Erratum ", classes=["wide"])
        before, after = (nodes.inline(text=sign, classes=["narrow"]) for sign in (" (", ")"))
        beside = nodes.inline("", "", *typeset(f" · {note}"), classes=["wide"])
        return [nodes.inline("", "", before, title, link, after, beside, classes=["erratum", "margin"])], []


def typeset_page(app: Sphinx, doctree: nodes.document) -> None:
    """Formulas on the page of the errata."""
    for text in list(doctree.findall(nodes.Text)) if app.env.docname == PAGE else []:
        if not isinstance(text.parent, nodes.literal | nodes.title):
            text.parent.replace(text, typeset(text.astext()))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the role."""
    app.add_role("erratum", ErratumRole())
    app.connect("doctree-read", typeset_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
