"""Count the package: files, lines of code and the longest file of each room: ``python scripts/sizes.py``."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "capcore"
LAYOUT = {getattr(tokenize, name) for name in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")}
ROOMS = ("checkpoints", "commands")
"""Folders that are no mathematics."""


def lines_of_code(text: str) -> int:
    """Lines that hold code: neither blank, nor a comment alone, nor of a docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for each in tokens if each.type not in LAYOUT for line in range(each.start[0], each.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def report(package: Path = PACKAGE) -> str:
    """A line for each folder, then for mathematics, all folders but ``ROOMS``, and for all."""
    found: dict[str, list[tuple[int, int, str]]] = {}
    for path in sorted(package.rglob("*.py")):
        text, name = path.read_text("utf8"), path.relative_to(package).as_posix()
        folder = name.split("/")[0] if "/" in name else "."
        found.setdefault(folder, []).append((text.count("\n"), lines_of_code(text), name))
    everything = [each for files in found.values() for each in files]
    mathematics = [each for folder, files in found.items() if folder not in ROOMS for each in files]
    rows = [*sorted(found.items()), ("mathematics", mathematics), ("all", everything)]
    lines = [f"{'folder':14}{'files':>6}{'code':>8}  longest file"]
    for folder, files in rows:
        n_lines, _, name = max(files)
        lines.append(f"{folder:14}{len(files):6}{sum(code for _, code, _ in files):8,}  {name}, {n_lines} lines")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf8")  # type: ignore[union-attr]
    print(report())
