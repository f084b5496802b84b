"""Sphinx extension: the code of a page has the values of the notebook's parameters in place of their names.

A notebook begins with its parameters, which papermill replaces, and its code uses their names. The page shows that cell
as a table at its foot, so that a reader who copied the code would miss them: the page shows ``channels=2``, which is
what ran.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping
from typing import Any

from sphinx.application import Sphinx


def values_of(source: str) -> dict[str, str]:
    """Names of a parameters cell, and their values as they may stand in other code.

    >>> values_of("channels: int = 2  # of the model\\nprocess: str = 'AR1'\\nscale: float = 1 / 3")
    {'channels': '2', 'process': "'AR1'", 'scale': '(1 / 3)'}
    """
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            text = ast.unparse(node.value)
            found[node.target.id] = f"({text})" if isinstance(node.value, ast.BinOp) else text
    return found


def with_values(source: str, values: Mapping[str, str]) -> str:
    """Code with values in place of the names that it reads; attributes and keywords keep their names.

    Where a parameter holds further keywords and is empty, nothing stands in its place.

    >>> print(with_values("stack = cc.Hierarchical(channels=channels, n_layers=6)  # channels", {"channels": "2"}))
    stack = cc.Hierarchical(channels=2, n_layers=6)  # channels
    >>> with_values("cc.make_process(process, **more)", {"process": "'AR1'", "more": "{}"})
    "cc.make_process('AR1')"
    """
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    lines = source.splitlines(keepends=True)
    for before, token, after in reversed(list(zip([None, *tokens], tokens, tokens[1:], strict=False))):
        known = token.type == tokenize.NAME and token.string in values
        if known and after.string != "=" and (before is None or before.string != "."):
            row, (start, stop) = token.start[0] - 1, (token.start[1], token.end[1])
            lines[row] = f"{lines[row][:start]}{values[token.string]}{lines[row][stop:]}"
    return "".join(lines).replace(", **{}", "")


def setup(app: Sphinx) -> dict[str, Any]:
    """Have MyST-NB render the code of cells with values."""
    from myst_nb.sphinx_ import SphinxNbRenderer

    plain = SphinxNbRenderer._render_nb_cell_code_source

    def render(self: SphinxNbRenderer, token: Any) -> None:
        if "parameters" in token.meta["metadata"].get("tags", []):
            self.md_env["parameters"] = values_of(token.content)
        else:
            token._attribute_token().content = with_values(token.content, self.md_env.get("parameters", {}))
        plain(self, token)

    SphinxNbRenderer._render_nb_cell_code_source = render
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
