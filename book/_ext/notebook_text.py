"""Sphinx extension: what reads as text in JupyterLab and on GitHub is a caption and a citation in the book.

``chapters.kit.publish.caption`` prints Markdown, shown below the picture. Here that output is taken out and put where
MyST-NB looks for a caption, so that the figure has a number, an anchor and one caption. A link to an entry of the
bibliography, ``[Donier (2019a)](../book/bibliography.md#donier2019allocation)``, becomes a citation of it: with the
year alone in brackets where the link's text has it in parentheses, otherwise as a whole. A link to a claim,
``[P1.02](../book/claims.md)``, leads to its row and shows its verdict. A link to an erratum in parentheses,
``([E2.25](../book/errata.md#e2-25))``, becomes a note in the margin (``margin_notes``).
"""

from __future__ import annotations

import json
import re
from typing import Any

from execution_cache import is_notebook  # type: ignore[import-not-found]  # a neighbour in this folder
from myst_nb.sphinx_ import SphinxNbRenderer
from nbformat import NotebookNode
from sphinx.application import Sphinx

CLAIM = re.compile(r"\[([A-Z]\d\.\d+\w?)\]\((?:\.\./book/)?claims\.md\)")
ERRATUM = re.compile(r"\s*\(\[(E\d\.\d+)\]\((?:\.\./book/)?errata\.md#e\d-\d+\)\)")
CITATION = re.compile(r"(\()?\[([^\[\]]+)\]\((?:\.\./book/)?bibliography\.md#([\w-]+)\)(?(1)\))")


def take_captions(metadata: dict[str, Any], outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs without a caption, which is added to the cell's ``metadata``; with citations in what they say.

    >>> metadata = {"mystnb": {"figure": {"name": "fig-x"}}}
    >>> output = NotebookNode(metadata={"capcore": {"caption": True}}, data={"text/markdown": "**Falls.**"})
    >>> take_captions(metadata, [output]), metadata["mystnb"]["figure"]["caption"]
    ([], '**Falls.**')
    """
    rest = []
    for output in outputs:
        if "text/markdown" in output.get("data", {}):
            output["data"]["text/markdown"] = cite(output["data"]["text/markdown"])
        if output.get("metadata", {}).get("capcore", {}).get("caption"):
            metadata.setdefault("mystnb", {}).setdefault("figure", {})["caption"] = output["data"]["text/markdown"]
        else:
            rest.append(output)
    return rest


def cite(text: str) -> str:
    """Markdown with roles in place of links to the bibliography, to claims and to errata.

    >>> cite("As [Hu (2003)](../book/bibliography.md#hu2003) shows; see [P1.02](../book/claims.md).")
    'As {cite:t}`hu2003` shows; see {claim}`P1.02`.'
    >>> cite("Ranks ([Hu, 2003](../book/bibliography.md#hu2003)), or [(Hu, 2003)](../book/bibliography.md#hu2003)")
    'Ranks {cite:p}`hu2003`, or {cite:p}`hu2003`'
    >>> cite("Eq. 2 ([E2.25](../book/errata.md#e2-25)).")
    'Eq. 2{erratum}`E2.25`.'
    """
    text = ERRATUM.sub(r"{erratum}`\1`", CLAIM.sub(r"{claim}`\1`", text))
    return CITATION.sub(_citation, text)


def _citation(link: re.Match[str]) -> str:
    """The role of one link; brackets of the style take the place of parentheses."""
    named = re.search(r"\(\d{4}\w?\)$", link[2])
    found = f"{{cite:{'t' if named else 'p'}}}`{link[3]}`"
    return f"({found})" if named and link[1] else found


def read_citations(app: Sphinx, docname: str, source: list[str]) -> None:
    """Let Sphinx read every page with citations; the code of a notebook stays as it is."""
    if not is_notebook(app.env, docname):
        source[0] = cite(source[0])
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = cite("".join(cell["source"]))
    source[0] = json.dumps(notebook)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handler, and have MyST-NB render outputs without captions."""
    plain = SphinxNbRenderer._render_nb_cell_code_outputs

    def render(self: SphinxNbRenderer, token: Any, outputs: list[NotebookNode]) -> None:
        plain(self, token, take_captions(token.meta["metadata"], outputs))

    SphinxNbRenderer._render_nb_cell_code_outputs = render
    app.connect("source-read", read_citations, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
