"""What decides a run: its settings and every definition that its code reaches; one name for both.

The fingerprint is that of ``chapters.fingerprint``, with a notebook's cells as one more definition. So a change of a
definition makes only those runs anew that reach it, and no change of a docstring or a comment makes any.
"""

from __future__ import annotations

import ast
import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from capcore.sweeps import canonical, digest
from chapters.fingerprint.names import Sources
from chapters.fingerprint.reached import ROOT, Reach
from chapters.kit import stored
from chapters.sweeps.declared import code_cells
from chapters.sweeps.store import KEY

CELLS = "_cells"


def key_of(target: str, code: str, settings: Mapping[str, Any]) -> str:
    """The name of a run, 32 hexadecimal digits."""
    return digest(canonical([target, code, dict(settings)]))[:KEY]


def code_of_notebook(notebook: Mapping[str, Any]) -> str:
    """Fingerprint of a notebook's cells, of all that they reach, and of the stored results that these name."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{CELLS}.py"
        file.write_text(_as_function(notebook), "utf8")
        return _code(Reach(f"{CELLS}:run", _WithCells(ROOT, ("capcore", "chapters", CELLS), file)))


def is_ours(module: str) -> bool:
    """Whether a module lies in this repository, so that its code can be followed."""
    return Sources(ROOT, (module.split(".")[0],)).module(module) is not None


def code_of_function(entry: str) -> str:
    """The same of ``module:function``."""
    tops = ("capcore", "chapters", entry.split(".")[0].partition(":")[0])
    return _code(Reach(entry, Sources(ROOT, tops)))


class _WithCells(Sources):
    def __init__(self, root: Path, tops: tuple[str, ...], file: Path) -> None:
        super().__init__(root, tops)
        self.file = file

    def _path(self, name: str) -> Path | None:
        return self.file if name == CELLS else super()._path(name)


def _code(found: Reach) -> str:
    texts = {found.hash}
    known = stored.paths()
    for name in sorted(set(_texts(found)) & set(known)):
        texts.add(
            name + hashlib.sha256(json.dumps(json.loads(known[name].read_text("utf8"))["values"]).encode()).hexdigest()
        )
    return digest("\n".join(sorted(texts)))[:16]


def _texts(found: Reach) -> Iterator[str]:
    """Every text in the definitions: names of stored results are among them."""
    for name, definition in {key[:2] for key in found.essences}:
        module = found.sources.module(name)
        for statement in module.definitions.get(definition, ()) if module else ():
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def _as_function(notebook: Mapping[str, Any]) -> str:
    """The code of all cells as the body of one function; what is no Python stays as text."""
    body: list[ast.stmt] = []
    for cell in code_cells(notebook):
        try:
            body += map(_counted, ast.parse(cell["source"]).body)
        except SyntaxError:  # a magic command
            body.append(_counted(ast.Expr(ast.Constant(cell["source"]))))
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.FunctionDef("run", empty, body or [ast.Pass()], [])
    return ast.unparse(ast.fix_missing_locations(ast.Module([function], [])))


def _counted(node: ast.stmt) -> ast.stmt:
    """A constant that a cell shows, which would be taken for a docstring, as one that is assigned."""
    shown = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return ast.Assign([ast.Name("_", ast.Store())], node.value) if shown else node  # type: ignore[attr-defined]
