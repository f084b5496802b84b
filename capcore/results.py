"""Results of long experiments: committed as small JSON files, and refused once the code behind them has changed.

A file holds the settings, the versions it was made with, a hash of the code that decides the numbers, and the numbers.
A notebook that reads it stops with an error when that code is no longer the code in the package, so no page
can show a number that the present sources would not give.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import platform
import re
import tokenize
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy")


class StaleResultsError(RuntimeError):
    """Stored results that the present code did not make."""

    def _render_traceback_(self) -> list[str]:
        return [f"StaleResultsError: {self}"]


def code_hash(modules: Sequence[str]) -> str:
    """Hash of the source of ``modules`` without docstrings, comments and blank lines: what decides their numbers.

    >>> code_hash(["capcore.studies.runs"]) == code_hash(["capcore.lbfgs"])
    False
    """
    digest = hashlib.sha256()
    for module in modules:
        found = find_spec(module)
        if found is None or not found.origin:
            raise ModuleNotFoundError(f"{module}: not found, expected a module with a source file.")
        digest.update(_essence(Path(found.origin).read_text("utf8")).encode())
    return digest.hexdigest()[:16]


def _essence(source: str) -> str:
    """``source`` without docstrings, comments and blank lines."""
    lines: list[str] = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                lines[child.lineno - 1 : child.end_lineno] = [""] * (
                    (child.end_lineno or child.lineno) - child.lineno + 1
                )
    return "\n".join(line.rstrip() for line in lines if line.strip())


def save(
    path: str | Path,
    command: str,
    modules: Sequence[str],
    settings: dict[str, Any],
    values: dict[str, Any] | Callable[[], dict[str, Any]],
    packages: Sequence[str] = PACKAGES,
) -> None:
    """Write ``values`` with the settings, the hash of ``modules`` and the versions that made them.

    Parameters
    ----------
    command : what makes the file again, such as ``python -m experiments.lbfgs_stopping``.
    values : of plain types; or a function that computes them, called once the hash has been taken, so that
        an edit made meanwhile shows as a change.
    packages : whose versions are written down.
    """
    content = {
        "command": command,
        "code": {"modules": list(modules), "hash": code_hash(modules)},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
        "settings": settings,
    }
    text = json.dumps({**content, "values": values() if callable(values) else values}, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[^][{}]*\]", lambda found: re.sub(r"\s+", " ", found[0]), text)  # one line per list of numbers
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text + "\n", encoding="utf8")


def load(path: str | Path) -> dict[str, Any]:
    """What :func:`save` wrote. Raises :class:`StaleResultsError` when the code behind it has changed since."""
    content = json.loads(Path(path).read_text("utf8"))
    expected = code_hash(content["code"]["modules"])
    if content["code"]["hash"] != expected:
        raise StaleResultsError(
            f"{Path(path).name}: made by code with hash {content['code']['hash']}, the package now has {expected}. "
            f"Make it again: {content['command']}"
        )
    return content
