"""``python -m chapters rerun``: a notebook with other parameters, through papermill, and what becomes of the claims."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capcore.checkpoints.tensors import shown
from chapters.kit.parameters import parameters_of
from chapters.kit.publish import GLUE_PREFIX
from chapters.sweeps import choosing, outcome
from chapters.sweeps.declared import NotebookError, read_notebook
from chapters.sweeps.places import CHAPTERS, notebook_path

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from pydantic import BaseModel

EPILOG = """\
examples:
  python -m chapters rerun hierarchical --help-notebook
  python -m chapters rerun hierarchical -p process AR1 -p channel_list "[1, 2, 4]" -o hierarchical_AR1.ipynb --html

NOTEBOOK is a file, or the name of a chapter. Run it in the book's folder, or in a copy: a wheel has no chapters.
Of a notebook of your own the types in its parameters cell are checked, and no ranges.
"""


def main(argv: Sequence[str], prog: str = "python -m chapters rerun") -> int:
    """Exit status of ``python -m chapters rerun``: 0, 1 where a cell failed, 2 where something given cannot be used."""
    arguments = _parser(prog).parse_args(argv)
    try:
        path = notebook_path(arguments.notebook)
        notebook, declaration = read_notebook(path)
        if arguments.help_notebook:
            print(description(path.stem, declaration))
            return 0
        settings = choosing.checked(declaration, choosing.from_text(declaration, arguments.parameters))
        target = Path(arguments.output or f"{path.stem}_rerun.ipynb").absolute()
        if target.exists() and target.samefile(path):
            raise NotebookError(f"{arguments.output}: found the notebook itself, expected another file for the copy.")
        target.parent.mkdir(parents=True, exist_ok=True)
        executed = execute(path, target, settings, progress_bar=sys.stderr.isatty())
    except (NotebookError, ModuleNotFoundError) as error:
        print(f"{prog}: {shown(error)}", file=sys.stderr)
        return 2
    print(f"{target}: written.")
    if arguments.html:
        print(f"{write_html(executed, target)}: written.")
    if failure := outcome.error_of(executed):
        print(f"{prog}: a cell failed, {shown(failure)}", file=sys.stderr)
        return 1
    print("\n" + (outcome.comparison(notebook, executed) or "This notebook records no claims."))
    return 0


def execute(path: Path, target: Path, settings: Mapping[str, Any], **options: Any) -> NotebookNode:
    """The executed copy, which is also written to ``target``; where a cell fails it holds the error.

    It runs in its own folder, and finds the chapters wherever they are. ``options`` go to papermill.
    """
    import nbformat
    import papermill

    with_chapters = [str(CHAPTERS.parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, with_chapters)))
    options = {"kernel_name": "python3", "language": "python", "cwd": path.parent, "progress_bar": False, **options}
    with suppress(papermill.PapermillExecutionError):  # which is in the copy, too
        papermill.execute_notebook(path, target, parameters=dict(settings), **options)
    return nbformat.read(target, as_version=4)


def write_html(notebook: NotebookNode, target: Path) -> Path:
    """Render an executed notebook beside itself; the path of the page."""
    from nbconvert import HTMLExporter

    notebook = deepcopy(notebook)
    for cell in notebook.cells:  # values that no page shows
        if "outputs" in cell:
            cell.outputs = [
                each for each in cell.outputs if not any(GLUE_PREFIX in kind for kind in each.get("data", {}))
            ]
    page = target.with_suffix(".html")
    exporter = HTMLExporter(exclude_input_prompt=True, exclude_output_prompt=True)
    page.write_text(exporter.from_notebook_node(notebook)[0], "utf8")
    return page


def description(name: str, declaration: type[BaseModel]) -> str:
    """All parameters with type, default, range and meaning, as text."""
    lines = [f"Parameters of {name}:", ""]
    for each in parameters_of(declaration):
        lines += [f"  {each.name}: {each.kind} = {each.default!r}"]
        lines += [f"      {each.meaning or 'not described'}"] + [f"      range: {each.range}"] * bool(each.range)
    return "\n".join(lines)


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Run a notebook with other parameters; compare the claims' values with those of the book.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("notebook", metavar="NOTEBOOK", help="a file, or the name of a chapter")
    text = "a parameter; a list is written as in YAML, in quotes"
    parser.add_argument(
        "-p", dest="parameters", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), help=text
    )
    parser.add_argument("-o", dest="output", metavar="FILE", help="the executed copy (default: NOTEBOOK_rerun.ipynb)")
    parser.add_argument("--html", action="store_true", help="also render it as a page beside the copy")
    parser.add_argument(
        "--help-notebook", action="store_true", help="list its parameters: type, default, range, meaning"
    )
    return parser
