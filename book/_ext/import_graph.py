"""Sphinx extension: ``{import-graph}``, which modules of the package import which, drawn from the code at every build.

A folder is one box. Boxes stand in rows, each below everything that it imports, so that the picture reads from top to
bottom like the pipeline. An arrow that follows from others is left out.
"""

from __future__ import annotations

import ast
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

PACKAGE = "capcore"
UNDERFOOT = {"checks", "plotting", "results"}
"""What checks arguments for everything else, and what shows results: no part of the pipeline."""
WIDTH, BOX, ROW = 860, 26, 74
LINE, GAP = 38, 8
"""Between the lines of a row that needs several, and the least between two of its boxes."""


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


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The graph without arrows that follow from others."""
    reach: dict[str, set[str]] = {}
    for row in rows(graph):
        for box in row:
            reach[box] = graph[box].union(*(reach[each] for each in graph[box]))
    return {box: {a for a in ends if not any(a in reach[b] for b in ends)} for box, ends in graph.items()}


def width_of(box: str) -> float:
    """Of a box that holds its name."""
    return 8.0 * len(box) + 14


def fitting(row: list[str]) -> list[list[str]]:
    """A row in as few lines as hold it, about equally many boxes in each.

    >>> [len(line) for line in fitting(["available"] * 23)]
    [8, 8, 7]
    """
    for count in range(1, len(row) + 1):
        size = -(-len(row) // count)
        lines = [row[i : i + size] for i in range(0, len(row), size)]
        if all(sum(width_of(box) + GAP for box in line) + GAP <= WIDTH for line in lines):
            break
    return lines


def picture(graph: dict[str, set[str]]) -> str:
    """The graph as SVG, in the colours of the page."""
    places: dict[str, tuple[float, float, float]] = {}
    arrows, y = reduced(graph), 16.0
    for row in rows(graph):
        ends = {box: [places[each][0] for each in arrows[box]] for box in row}
        order = sorted(row, key=lambda box: sum(ends[box]) / len(ends[box]) if ends[box] else WIDTH / 2)
        for line in fitting(order):
            gap = (WIDTH - sum(map(width_of, line))) / (len(line) + 1)
            x = gap
            for box in line:
                places[box] = (x + width_of(box) / 2, y, width_of(box))
                x += width_of(box) + gap
            y += LINE
        y += ROW - LINE
    lines = [
        f'<path d="M{x:.0f} {y:.0f} C{x:.0f} {y - ROW / 2:.0f} {u:.0f} {v + BOX + ROW / 2:.0f} {u:.0f} {v + BOX:.0f}"/>'
        for box, ends in sorted(arrows.items())
        for (x, y, _), (u, v, _) in ((places[box], places[each]) for each in sorted(ends))
    ]
    boxes = [
        f'<rect x="{x - width / 2:.0f}" y="{y:.0f}" width="{width:.0f}" height="{BOX}" rx="4"/>'
        f'<text x="{x:.0f}" y="{y + 17:.0f}">{escape(box)}</text>'
        for box, (x, y, width) in places.items()
    ]
    height = max(y for _, y, _ in places.values()) + BOX + 8
    said = "; ".join(f"{box} imports {', '.join(sorted(ends))}" for box, ends in sorted(arrows.items()) if ends)
    return (
        f'<svg class="import-graph" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="Imports: {escape(said)}">'
        f"<title>Each module of {PACKAGE} stands below those that it imports</title>"
        f"<g>{''.join(lines)}</g>{''.join(boxes)}</svg>"
    )


class ImportGraph(Directive):
    """The picture, in HTML."""

    def run(self) -> list[nodes.Node]:
        """Draw it, and have the page drawn again whenever a module changes."""
        env = self.state.document.settings.env
        root = Path(env.srcdir)
        for path in (root / PACKAGE).rglob("*.py"):
            env.note_dependency(str(path))
        return [nodes.raw("", f'<div class="import-graph-frame">{picture(import_graph(root))}</div>', format="html")]


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _boxes(node: ast.ImportFrom) -> set[str]:
    parts = (node.module or "").split(".")
    return {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("import-graph", ImportGraph)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
