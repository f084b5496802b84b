"""What is swept: a notebook, the experiment of a stored result, or a function; what it takes, and its code.

A run is named by its settings and by a digest of the code: the notebook's cells or the function's file, and every file
of ``capcore`` and ``chapters``, stored results included. So no result outlives a change of what made it.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from inspect import Parameter as Argument
from inspect import signature
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from chapters.kit import stored
from chapters.kit.parameters import parameters_of
from chapters.kit.running import Experiment, RunError
from chapters.sweeps.job import Job, canonical
from chapters.sweeps.notebooks import TYPES, NotebookError, checked, code_cells, declared, notebook_path, read_notebook
from chapters.sweeps.store import KEY, digest

ROOT = Path(__file__).resolve().parents[2]


def jobs_of(name: str, settings: Iterable[Mapping[str, Any]], **limits: float | None) -> list[Job]:
    """A job for each of the settings, each once, of the target called so.

    name : a notebook's file or chapter, a stored result, or ``module:function``, which is given ``settings``, its
    module's ``SETTINGS`` with what is swept in their place; or its arguments, which need defaults.

    Raises ``NotebookError`` for the first of the settings that cannot be used.
    """
    if name in stored.paths():
        try:
            name = "{0.__module__}:{0.__qualname__}".format(Experiment.of(stored.path_of(name)).function)
        except RunError as error:
            raise NotebookError(str(error)) from None
    target, declaration = _function(name) if ":" in name and not name.endswith(".ipynb") else _notebook(name)
    defaults = {parameter.name: parameter.default for parameter in parameters_of(declaration)}
    jobs: dict[str, Job] = {}
    for setting in settings:
        given = checked(declaration, setting, target.target)
        full = {**defaults, **given}
        key = digest(canonical([target.target, target.code, full]))[:KEY]
        jobs[key] = target.model_copy(update={"key": key, "settings": full, "given": given, **limits})
    return list(jobs.values())


def code_of(*texts: str) -> str:
    """Digest of texts, and of every file of the package and the chapters."""
    total = hashlib.sha256("\0".join(texts).encode())
    for path in sorted(path for top in ("capcore", "chapters") for path in (ROOT / top).rglob("*.*")):
        if path.is_file() and path.suffix != ".pyc":
            total.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return total.hexdigest()[:16]


def _notebook(name: str) -> tuple[Job, type[BaseModel]]:
    path = notebook_path(name)
    notebook, declaration = read_notebook(path)
    for cell in code_cells(notebook):
        cell["outputs"], cell["execution_count"] = [], None
    code = code_of(*(cell["source"] for cell in code_cells(notebook)))
    source, folder = json.dumps(notebook), str(path.parent)
    return Job(target=path.stem, code=code, source=source, folder=folder), declaration


def _function(entry: str) -> tuple[Job, type[BaseModel]]:
    module, _, name = entry.partition(":")
    file = f"{ROOT.joinpath(*module.split('.'))}.py"
    if not all(map(str.isidentifier, module.split("."))) or not os.path.isfile(file):  # which imports nothing
        raise NotebookError(f"{entry}: found no module of this repository, expected one; a notebook calls others.")
    try:
        function = getattr(import_module(module), name)
        arguments = signature(function).parameters
    except Exception as error:  # whatever an import may raise
        raise NotebookError(f"{entry}: cannot be imported ({error!r}), expected the name of a function.") from None
    known = {argument.name: argument.default for argument in arguments.values()}
    if "settings" in arguments:
        known = getattr(import_module(module), "SETTINGS", {})
    elif Argument.empty in known.values():
        raise NotebookError(f"{entry}: found arguments without defaults, expected a default for each, or settings.")
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in known.items()}  # as in a grid
    kinds = {key: type(value) if type(value).__name__ in (*TYPES, "NoneType") else Any for key, value in plain.items()}
    declaration = declared((key, kinds[key], value, "") for key, value in plain.items())
    return Job(target=entry, code=code_of(Path(file).read_text("utf8"))), declaration
