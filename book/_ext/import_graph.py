"""Sphinx extension: ``{import-graph}``, which modules of the package import which, read from the code at every build.

A folder is one module. Each stands below everything that it imports, so that the table reads like the pipeline.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx

PACKAGE = "capcore"
UNDERFOOT = {"checks", "plotting", "results"}
"""What checks arguments for everything else, and what shows results: no part of the pipeline."""
CORE = ("processes", "architectures", "fitting", "capacity", "propagation", "verbs")


def import_graph(root: Path) -> dict[str, set[str]]:
    """Box → the boxes that it imports, wherever in its code; imports for type checkers only are no imports."""
    graph: dict[str, set[str]] = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        box = path.relative_to(root / PACKAGE).with_suffix("").parts[0]
        if box in UNDERFOOT | {"__init__", "__main__"}:
            continue
        tree = ast.parse(path.read_text("utf8"))
        typing = [inner for node in ast.walk(tree) if _for_types(node) for inner in ast.walk(node)]
        found = {
            name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node not in typing and (node.module or "").startswith(PACKAGE)
            for name in _boxes(node)
        }
        graph.setdefault(box, set()).update(found - UNDERFOOT - {box})
    return graph


def rows(graph: dict[str, set[str]]) -> list[list[str]]:
    """Boxes by the longest way down from one that imports nothing. Raises ``ValueError`` with a circle, if any."""
    left, result = dict(graph), []
    above: set[str] = set()
    while left:
        row = sorted(box for box, imported in left.items() if imported <= above)
        if not row:
            raise ValueError(f"import graph: found a circle among {', '.join(sorted(left))}, expected none.")
        result.append(row)
        above |= set(row)
        left = {box: imported for box, imported in left.items() if box not in above}
    return result


def reading_hours(root: Path) -> float:
    """Hours that the core takes to read, words of code and of docstrings alike."""
    paths = [path for room in CORE for path in [*(root / PACKAGE / room).rglob("*.py"), root / PACKAGE / f"{room}.py"]]
    return sum(len(path.read_text("utf8").split()) for path in paths if path.is_file()) / (150 * 60)


class ImportGraph(Directive):
    """The rows, each module below those that it imports."""

    def run(self) -> list[nodes.Node]:
        """Write them, and have the page written again whenever a module changes."""
        env = self.state.document.settings.env
        root = Path(env.srcdir)
        for path in (root / PACKAGE).rglob("*.py"):
            env.note_dependency(str(path))
        graph = import_graph(root)
        lines = ["| module | imports |", "|---|---|"]
        lines += [f"| `{box}` | {', '.join(sorted(graph[box])) or '–'} |" for row in rows(graph) for box in row]
        hours = reading_hours(root)
        lines += [
            "",
            f"With its docstrings the core takes {hours:.1f} hours, at 150 words a minute as everywhere in the book.",
        ]
        self.state.nested_parse(StringList(lines, ""), self.content_offset, found := nodes.container())
        return found.children


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _boxes(node: ast.ImportFrom) -> set[str]:
    parts = (node.module or "").split(".")
    return {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("import-graph", ImportGraph)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
