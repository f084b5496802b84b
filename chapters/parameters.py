"""Whether a notebook runs with the book's parameters or with others, which its claim boxes must know."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

CHANGED: list[str] = []
"""Names of this run's parameters that differ from those that the notebook's own cell sets; filled by ``start``."""


def defaults(cells: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """Values in the first of ``cells`` (sources) that sets all ``names``; none where no cell does.

    >>> defaults(["import os", "n: int = 2  # of what", "n = 3"], ["n"])
    {'n': 2}
    """
    for source in cells:
        try:
            nodes = ast.parse(source).body
        except SyntaxError:  # a magic command
            continue
        found = {
            target.id: node.value
            for node in nodes
            if isinstance(node, ast.AnnAssign | ast.Assign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        if names and set(names) <= set(found):
            return dict(_literals(found, names))
    return {}


def _literals(found: Mapping[str, ast.expr | None], names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Those that are written out; of a value such as ``1 / 3`` nothing can be said."""
    for name in names:
        with suppress(ValueError, TypeError):
            yield name, ast.literal_eval(found[name])  # type: ignore[arg-type]


def note_changes(namespace: Mapping[str, Any], names: Sequence[str]) -> None:
    """Fill :data:`CHANGED` from a notebook's namespace, whose ``In`` holds what its cells said."""
    own = defaults(namespace.get("In", []), names)
    CHANGED[:] = [name for name, value in own.items() if namespace.get(name) != value]
