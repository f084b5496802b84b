"""What is swept: a notebook, or a function of settings, such as the experiment behind a stored result."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import Parameter as Argument
from inspect import signature
from typing import Any

from pydantic import BaseModel

from chapters.kit import stored
from chapters.kit.parameters import parameters_of
from chapters.kit.running import Experiment, RunError
from chapters.sweeps import identity
from chapters.sweeps.choosing import checked
from chapters.sweeps.declared import TYPES, NotebookError, code_cells, declared, read_notebook
from chapters.sweeps.job import Job
from chapters.sweeps.places import notebook_path

KNOWN = ("capcore", "chapters", "matplotlib", "numpy", "pandas", "scipy", "seaborn", "sklearn")
"""Packages that may be imported ahead of a run: it makes no difference but in time."""
SCIENCE = ("scipy.optimize", "scipy.stats", "capcore.verbs", "capcore.plotting")
"""What a chapter imports where it first uses it."""


@dataclass(frozen=True)
class Target:
    """A notebook or a function, read once: ``name``, what it can be given, and the fingerprint of its code."""

    name: str
    declaration: type[BaseModel]
    code: str
    source: str = ""
    folder: str = ""
    preload: tuple[str, ...] = field(default=())

    def jobs(self, settings: Iterable[Mapping[str, Any]], **limits: Any) -> list[Job]:
        """A job for each of the settings, each once. Raises ``NotebookError`` for the first that cannot be used."""
        defaults = {each.name: each.default for each in parameters_of(self.declaration)}
        found: dict[str, Job] = {}
        for each in settings:
            given = checked(self.declaration, each, self.name)
            full = {**defaults, **given}
            key = identity.key_of(self.name, self.code, full)
            own: dict[str, Any] = {
                "source": self.source,
                "given": given,
                "folder": self.folder,
                "preload": self.preload,
            }
            found.setdefault(key, Job(key, self.name, self.code, full, **own, **limits))
        return list(found.values())


def target_of(name: str) -> Target:
    """The target called so: a notebook's file or chapter, a stored result, or ``module:function``.

    A function is given ``settings``, its module's ``SETTINGS`` with what is swept in their place; or its arguments,
    which need defaults.
    """
    if name in stored.paths():
        try:
            name = "{0.__module__}:{0.__qualname__}".format(Experiment.of(stored.path_of(name)).function)
        except RunError as error:
            raise NotebookError(str(error)) from None
    return _function(name) if ":" in name and not name.endswith(".ipynb") else _notebook(name)


def _notebook(name: str) -> Target:
    path = notebook_path(name)
    notebook, declaration = read_notebook(path)
    imported: list[str] = []
    for cell in code_cells(notebook):
        cell["outputs"], cell["execution_count"] = [], None
        imported += _imports(cell["source"])
    modules = [module for module in imported if module.split(".")[0] in KNOWN]
    if any(module.startswith(("capcore", "chapters")) for module in modules):
        modules += SCIENCE
    code = identity.code_of_notebook(notebook)
    return Target(path.stem, declaration, code, json.dumps(notebook), str(path.parent), tuple(dict.fromkeys(modules)))


def _function(entry: str) -> Target:
    module, _, name = entry.partition(":")
    if not all(map(str.isidentifier, module.split("."))) or not identity.is_ours(module):  # which imports nothing
        raise NotebookError(
            f"{entry}: found no module of this repository, expected module:function, such as "
            "chapters.five_families.experiment:one_model. A function from elsewhere can be called in a notebook's file."
        )
    try:
        function = getattr(import_module(module), name)
        arguments = signature(function).parameters
    except Exception as error:  # whatever an import may raise
        raise NotebookError(
            f"{entry}: cannot be imported as a function ({type(error).__name__}: {error}), expected the name of one."
        ) from None
    known = {each.name: each.default for each in arguments.values() if each.default is not Argument.empty}
    if "settings" in arguments:
        known = dict(getattr(import_module(module), "SETTINGS", {}))
    elif set(known) != set(arguments):
        raise NotebookError(f"{entry}: found arguments without defaults, expected a default for each, or settings.")
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in known.items()}  # as in a grid
    kinds = {key: type(value) if type(value).__name__ in (*TYPES, "NoneType") else Any for key, value in plain.items()}
    declaration = declared((key, kinds[key], value, "") for key, value in plain.items())
    return Target(entry, declaration, identity.code_of_function(entry), preload=(module,))


def _imports(source: str) -> list[str]:
    """Modules that a cell may import, as far as its text says; some are names in modules."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return []
    found = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found
