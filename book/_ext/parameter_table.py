"""Sphinx extension: in place of a notebook's parameters cell, a folded table of the parameters at the foot of the page.

The table is made from the chapter's declaration (``chapters.kit.parameters``). Notebooks stay as
they are: ``custom.css`` hides the cell, since its tags are part of what finds an execution in the cache.
Code on the page has values in place of the parameters' names (``literal_parameters``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from execution_cache import is_notebook  # type: ignore[import-not-found]  # a neighbour in this folder
from sphinx.application import Sphinx

from chapters.kit.parameters import Parameter, parameters_of
from chapters.sweeps.notebooks import by_types, declaration_of

HEADS = ("parameter", "type", "default", "range", "meaning")


def table(parameters: Iterable[Parameter], name: str) -> str:
    """The folded table, as MyST, and the command that uses it.

    >>> from chapters.spectra.parameters import Parameters
    >>> print(table(parameters_of(Parameters), "x").splitlines()[4])
    | `width` | int | `256` | at least 128 | units of both hidden layers |
    """
    rows = [
        [f"`{each.name}`", each.kind, f"`{each.default!r}`", _text(each.range), _text(each.meaning)]
        for each in parameters
    ]
    lines = [f"| {' | '.join(cells)} |" for cells in (HEADS, ["---"] * len(HEADS), *rows)]
    return "\n".join(
        [
            ":::{dropdown} Parameters",
            "",
            *lines,
            "",
            f"Other values: `python -m chapters rerun {name} -p NAME VALUE`.",
            ":::",
        ]
    )


def add_table(app: Sphinx, docname: str, source: list[str]) -> None:
    """Let Sphinx read every notebook with its table, which has all that the cell says."""
    if not is_notebook(app.env, docname):
        return
    notebook = json.loads(source[0])
    declaration = declaration_of("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    for cell in notebook["cells"]:
        if "parameters" in cell["metadata"].get("tags", []):
            text = table(parameters_of(declaration or by_types("".join(cell["source"]))), docname.rpartition("/")[2])
            below = {"cell_type": "markdown", "id": "parameter-table", "metadata": {}, "source": text}
            notebook["cells"].append(below)
            break
    source[0] = json.dumps(notebook)


def _text(words: str) -> str:
    """Words of a comment, which are no Markdown."""
    for sign in "\\|*_`$[<":
        words = words.replace(sign, f"\\{sign}")
    return words


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handler."""
    app.connect("source-read", add_table, priority=700)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
