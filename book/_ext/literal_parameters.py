"""Sphinx extension: the code of a page has the values of the notebook's parameters in place of their names.

A notebook begins with its parameters, which papermill replaces, and its code uses their names. The page shows that cell
as a table at its foot, so that a reader who copied the code would miss them: the page shows ``channels=2``, which is
what ran. Lines longer than a page shows are broken as the formatter breaks them.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

PLAIN = (ast.Name, ast.Constant, ast.List, ast.Tuple, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Subscript)
SIGNS = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop)

WIDTH = 98  # characters of a line that a page of 1,400 pixels shows


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
    """Code with values in place of the names that it reads; attributes, keywords and names that it sets stay.

    What parameters alone decide becomes the whole number, word or list that it is, where this is no longer. Where a
    parameter holds further keywords and is empty, nothing stands in its place.

    >>> print(with_values("stack = cc.Hierarchical(channels=channels, n_layers=6)  # channels", {"channels": "2"}))
    stack = cc.Hierarchical(channels=2, n_layers=6)  # channels
    >>> with_values("cc.make_process(process, **more)", {"process": "'AR1'", "more": "{}"})
    "cc.make_process('AR1')"
    >>> with_values("f(widths or 4, n // 8, 1 / n, getattr(np, kind))", {"widths": "[]", "n": "64", "kind": "'exp'"})
    'f(4, 8, 1 / 64, np.exp)'
    """
    tree = ast.parse(source) if values else ast.Module([], [])
    written = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    known = {name: value for name, value in values.items() if name not in written}
    lines = source.encode().splitlines(keepends=True)
    for row, start, stop in sorted(_read(tree, known), reverse=True):
        shown = _shown(lines[row][start:stop].decode(), known)
        lines[row] = lines[row][:start] + shown.encode() + lines[row][stop:]
    return re.sub(r"getattr\(([\w.]+), '(\w+)'\)", r"\1.\2", b"".join(lines).decode()).replace(", **{}", "")


def _read(node: ast.AST, known: Mapping[str, str]) -> Iterator[tuple[int, int, int | None]]:
    """Line, start and end of the largest expressions of parameters and constants alone; none inside of f-strings."""
    inside = [each for each in ast.walk(node) if not isinstance(each, SIGNS)]
    names = {each.id for each in inside if isinstance(each, ast.Name)}
    here = isinstance(node, ast.expr) and node.lineno == node.end_lineno and 0 < len(names & known.keys()) == len(names)
    if isinstance(node, PLAIN) and here and all(isinstance(each, (*PLAIN, ast.Slice)) for each in inside):
        yield node.lineno - 1, node.col_offset, node.end_col_offset
    elif not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from _read(child, known)


def _shown(text: str, known: Mapping[str, str]) -> str:
    """The expression with values, or what it gives."""
    text = re.sub(rf"\b({'|'.join(known)})\b", lambda name: known[name[0]], text)
    found = eval(text, {"__builtins__": {}})  # of parameters and constants alone
    return repr(found) if not isinstance(found, float) and len(repr(found)) <= len(text) else text


def narrow(source: str) -> str:
    """Code without lines that would be cut.

    >>> print(narrow(f"found = [f(x, 1) for x in ({'a_long_name, ' * 6}z)]"))
    found = [
        f(x, 1)
        for x in (a_long_name, a_long_name, a_long_name, a_long_name, a_long_name, a_long_name, z)
    ]
    """
    if max(map(len, source.splitlines()), default=0) <= WIDTH:
        return source
    ruff = [str(Path(sys.executable).with_name("ruff")), "format", "--isolated", f"--line-length={WIDTH}", "-"]
    done = subprocess.run(ruff, input=source, capture_output=True, text=True, check=False)
    return "\n".join(map(_in_two, done.stdout.splitlines())) if done.returncode == 0 else source


def _in_two(line: str) -> str:
    """A line that is one long string, as two strings one below the other."""
    found = re.fullmatch(r'( +f?")(.*)("\)?,?)', line) if len(line) > WIDTH else None
    if found:
        opening, text, end = found.groups()
        spaces = [at.start() for at in re.finditer(" ", text[: WIDTH - len(opening) - 2])]
        for at in reversed([at for at in spaces if text[:at].count("{") == text[:at].count("}")]):
            return f'{opening}{text[:at]} "\n{opening}{text[at + 1 :]}{end}'
    return line


def setup(app: Sphinx) -> dict[str, Any]:
    """Have MyST-NB render the code of cells with values."""
    from myst_nb.sphinx_ import SphinxNbRenderer

    plain = SphinxNbRenderer._render_nb_cell_code_source

    def render(self: SphinxNbRenderer, token: Any) -> None:
        tags = token.meta["metadata"].get("tags", [])
        if "parameters" in tags:
            self.md_env["parameters"] = values_of(token.content)
        else:
            shown = with_values(token.content, self.md_env.get("parameters", {}))
            token._attribute_token().content = shown if {"hide-input", "remove-input"} & set(tags) else narrow(shown)
        plain(self, token)

    SphinxNbRenderer._render_nb_cell_code_source = render
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
