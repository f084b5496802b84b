"""Check the form of notebooks: ``python scripts/check_notebooks.py notebooks/*.ipynb``.

nbval compares only cells that carry an execution count, so a notebook without outputs would pass in silence: here it is
refused. Further: a cell of parameters with an explanation each, no stored errors, and for each figure a caption, a
name, an alternative text and the picture that ``make notebooks`` drew, by its digest. The tests of the built site
compare it with the one that the book's build has drawn.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from chapters.kit.pictures import digest

IMAGES = {"image/png", "image/svg+xml", "image/jpeg"}
MACHINE_METADATA = {"execution", "papermill", "ExecuteTime"}
MACHINE_PATH = re.compile(r"site-packages/|\"/(?:home|root|tmp|Users)/|[\s(]/(?:home|root|tmp|Users)/")
LONGEST_CELL = 15  # lines of code


def problems(notebook: Any) -> Iterator[str]:
    """One line per problem: what was found, what was expected, and what to do."""
    code = [(i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    yield from _parameters_problems([cell for _, cell in code])
    for i, cell in code:
        yield from (f"cell {i}: {problem}" for problem in _cell_problems(cell))
    counts = [cell.execution_count for _, cell in code if cell.source.strip()]
    if None not in counts and counts != list(range(1, len(counts) + 1)):
        yield f"found execution counts {counts}, expected 1, 2, 3, …: run make notebooks."
    names = [_mystnb(cell).get("figure", {}).get("name") for _, cell in code]
    repeated = {name for name in names if name and names.count(name) > 1}
    if repeated:
        yield f"found the figure name(s) {sorted(repeated)} more than once, expected unique names."


def _mystnb(cell: Any) -> dict[str, Any]:
    return cell.metadata.get("mystnb", {})


def _parameters_problems(code: list[Any]) -> Iterator[str]:
    tagged = [cell for cell in code if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        yield f"found {len(tagged)} cells tagged parameters, expected one."
        return
    before = "\n".join(cell.source for cell in code[: code.index(tagged[0])])
    if not all(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.parse(before).body):
        yield "found code before the cell of parameters, expected imports at most: papermill would not reach it."
    for line in tagged[0].source.splitlines():
        if "=" in line and not line.lstrip().startswith("#") and "  # " not in line:
            yield f"found the parameter {line.split('=')[0].strip()!r} without a trailing comment that explains it."


def _cell_problems(cell: Any) -> Iterator[str]:
    if not cell.source.strip():
        yield "found no code, expected some: delete the cell."
    elif cell.execution_count is None:
        yield "found no execution count, expected stored outputs: run make notebooks."
    if any(output.output_type == "error" for output in cell.outputs):
        yield "found a stored error, expected a notebook that runs: run make notebooks."
    if MACHINE_PATH.search(json.dumps(cell.outputs)):
        yield "found a path of this machine in the outputs, expected none: other machines would disagree."
    if any(output.get("name") == "stderr" for output in cell.outputs):
        yield "found output on stderr (a warning?), expected none."
    lines = cell.source.count("\n") + 1
    if lines > LONGEST_CELL:
        yield f"found {lines} lines, expected at most {LONGEST_CELL}: move the work into its chapter's folder."
    if "sys.path" in cell.source:
        yield "found sys.path, expected the installed package."
    stray = MACHINE_METADATA & set(cell.metadata)
    if stray:
        yield f"found the metadata {sorted(stray)}, expected none that depend on the run: run make notebooks."
    pictured = any(IMAGES & set(output.get("data", {})) for output in cell.outputs)
    if "figure" in _mystnb(cell) and cell.execution_count is not None and not pictured:
        yield "found mystnb.figure and no picture in the stored outputs, expected one: run make notebooks."
    if cell.metadata.get("capcore", {}).get("picture", "") != digest(cell):
        yield "found another picture than the one that make notebooks drew there: run make notebooks."
    if pictured:
        printed = any(output.get("metadata", {}).get("capcore", {}).get("caption") for output in cell.outputs)
        if not printed and not _mystnb(cell).get("figure", {}).get("caption"):
            yield "found a figure without a caption, expected one below it: end the cell with caption(…)."
        for kind, key in (("figure", "name"), ("image", "alt")):
            if not _mystnb(cell).get(kind, {}).get(key):
                yield f"found a figure without mystnb.{kind}.{key} in the cell's metadata, expected a text."


def main(arguments: list[str]) -> int:
    """Print the problems of the named notebooks; exit status 1 when there are any."""
    found = 0
    for name in arguments:
        for problem in problems(nbformat.read(Path(name), as_version=4)):
            found += 1
            print(f"{name}: {problem}")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
