"""Run a notebook with other parameters, through papermill; compare the claims' values with those of the book.

examples:
  python -m chapters rerun hierarchical --help-notebook
  python -m chapters rerun hierarchical -p process AR1 -p channel_list "[1, 2, 4]" -o hierarchical_AR1.ipynb

NOTEBOOK is a file, or the name of a chapter. Run it in the book's folder, or in a copy: a wheel has no chapters.
Of a notebook of your own the types in its parameters cell are checked, and no ranges.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from pydantic import BaseModel

from capcore.checkpoints.tensors import shown
from chapters.kit.parameters import parameters_of
from chapters.sweeps import notebooks, outcome
from chapters.sweeps.forking import with_chapters
from chapters.sweeps.notebooks import NotebookError, notebook_path, read_notebook


def main(argv: Sequence[str], prog: str = "python -m chapters rerun") -> int:
    """Exit status of ``python -m chapters rerun``: 0, 1 where a cell failed, 2 where something given cannot be used."""
    arguments = _parser(prog).parse_args(argv)
    try:
        path = notebook_path(arguments.notebook)
        notebook, declaration = read_notebook(path)
        if arguments.help_notebook:
            print(description(path.stem, declaration))
            return 0
        settings = notebooks.checked(declaration, notebooks.from_text(declaration, arguments.parameters))
        target = Path(arguments.output or f"{path.stem}_rerun.ipynb").absolute()
        if target.exists() and target.samefile(path):
            raise NotebookError(f"{arguments.output}: found the notebook itself, expected another file for the copy.")
        target.parent.mkdir(parents=True, exist_ok=True)
        executed = execute(path, target, settings, progress_bar=sys.stderr.isatty())
    except (NotebookError, ModuleNotFoundError) as error:
        print(f"{prog}: {shown(error)}", file=sys.stderr)
        return 2
    print(f"{target}: written.")
    if failure := outcome.error_of(executed):
        print(f"{prog}: a cell failed, {shown(failure)}", file=sys.stderr)
        return 1
    print("\n" + (outcome.comparison(notebook, executed) or "This notebook records no claims."))
    return 0


def execute(path: Path, target: Path, settings: Mapping[str, Any], **options: Any) -> nbformat.NotebookNode:
    """The executed copy, which is also written to ``target``; where a cell fails it holds the error.

    It runs in its own folder, and finds the chapters wherever they are. ``options`` go to papermill. Nobody but its
    kernel listens to it, which a socket of the network could not promise.
    """
    import papermill
    from traitlets.config import Config

    os.environ["PYTHONPATH"] = with_chapters()
    options = {"kernel_name": "python3", "language": "python", "cwd": path.parent, "progress_bar": False, **options}
    with TemporaryDirectory() as folder, suppress(papermill.PapermillExecutionError):  # which is in the copy, too
        sockets = {"transport": "ipc" if os.name == "posix" else "tcp", "connection_file": f"{folder}/kernel.json"}
        options["config"] = Config(ConnectionFileMixin=sockets)
        papermill.execute_notebook(path, target, parameters=dict(settings), **options)
    return nbformat.read(target, as_version=4)


def description(name: str, declaration: type[BaseModel]) -> str:
    """All parameters with type, default, range and meaning, as text."""
    lines = [f"Parameters of {name}:", ""]
    for parameter in parameters_of(declaration):
        lines += [f"  {parameter.name}: {parameter.kind} = {parameter.default!r}", f"      {parameter.meaning}"]
        if parameter.range:
            lines.append(f"      range: {parameter.range}")
    return "\n".join(lines)


def _parser(prog: str) -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=prog, description=__doc__, formatter_class=form)
    add = parser.add_argument
    add("notebook", metavar="NOTEBOOK", help="a file, or the name of a chapter")
    pair: Any = {"nargs": 2, "action": "append", "default": [], "metavar": ("NAME", "VALUE")}
    add("-p", dest="parameters", help="a parameter; a list is written as in YAML, in quotes", **pair)
    add("-o", dest="output", metavar="FILE", help="the executed copy (default: NOTEBOOK_rerun.ipynb)")
    add("--help-notebook", action="store_true", help="list its parameters: type, default, range, meaning")
    return parser
