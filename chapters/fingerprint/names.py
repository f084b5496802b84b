"""What a name in a source file stands for: parsed modules, and names followed to the module that defines them.

Nothing is imported and nothing is executed. Names are followed through imports of every form (relative ones, ones
inside functions, aliases of modules) and through packages that hand on what their modules define, in ``__init__.py`` or
in the stub file that a lazy package reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

Imports = dict[str, list[tuple[str, str | None]]]
"""Local name → what it may stand for: a module and a name in it, or a module itself."""
EFFECTS = "<effects>"
"""The name under which the statements of a module that bind nothing are kept: they act when it is imported."""
UNCOUNTED = ("PACKAGES", "__all__")
"""Constants that describe a result or a module and decide no number."""
SHOWN = ("_repr_html_", "plot", "save", "to_dataframe", "to_xarray")
"""Methods that hand a result on, to a page, a file or a table: no run that is stored calls them, as a test sees."""
ATTRIBUTE = "once_called"
"""The decorator of a method that became an attribute: what it computes is as before."""
MACHINERY = (
    *("chapters.kit.stored", "chapters.kit.running", "chapters.fingerprint", "chapters.sweeps"),
    *("capcore.checks.arguments", "capcore.checks.memory"),
)
WRITTEN = {
    "capcore.checks.memory": "capcore.memory",
    "chapters.kit.running": "chapters.running",
    "chapters.kit.stored": "chapters.stored",
}
"""Machinery that has moved → the name that it was first written under: a move decides no number."""


class Target(NamedTuple):
    """What a name stands for: a ``definition``, a ``module`` of ours, or something ``outside``, by its dotted name."""

    kind: str
    module: str
    name: str = ""


@dataclass
class Module:
    """One parsed file.

    Attributes
    ----------
    definitions : dict
        Name → the statements that bind it, in order; whole ``if`` and ``try`` blocks that bind it inside.
    imports : dict
        Of the module's own names.
    """

    name: str
    path: Path
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: Imports = field(default_factory=dict)

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.path.stem == "__init__" else self.name.rpartition(".")[0]


class Sources:
    """The packages ``tops`` below ``root``, parsed as far as they are asked for."""

    def __init__(self, root: str | Path, tops: Iterable[str]) -> None:
        self.root, self.tops = Path(root), frozenset(tops)
        self._modules: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        """The module called ``name``, or None if it is not one of ours."""
        if name not in self._modules:
            path = self._path(name)
            self._modules[name] = _parsed(name, path, path.stat().st_mtime_ns, path.stat().st_size) if path else None
        return self._modules[name]

    def targets(self, module: Module, name: str, imports: Iterable[tuple[str, str | None]] = ()) -> list[Target]:
        """What ``name`` stands for at the top level of ``module``, or what these ``imports`` stand for."""
        found = [target for base, attribute in imports for target in self._imported(base, attribute)]
        return found or self._in_module(module.name, name)

    def attribute(self, target: Target, name: str) -> list[Target]:
        """What ``name`` of a module stands for."""
        return self._in_module(target.module, name)

    def _path(self, name: str) -> Path | None:
        if name.split(".")[0] not in self.tops or name.startswith(MACHINERY):
            return None
        stem = self.root.joinpath(*name.split("."))
        places = (stem.with_suffix(".py"), stem / "__init__.pyi", stem / "__init__.py")
        return next((path for path in places if path.is_file()), None)

    def _imported(self, base: str, attribute: str | None) -> list[Target]:
        if self.module(base) is None:
            inner = f"{base}.{attribute}" if attribute else base
            found = attribute and self.module(inner)  # of a folder that holds modules and is none itself
            return [Target("module" if found else "outside", inner)]
        return self._in_module(base, attribute) if attribute else [Target("module", base)]

    def _in_module(self, name: str, attribute: str, seen: frozenset[tuple[str, str]] = frozenset()) -> list[Target]:
        module = self.module(name)
        if module is None or (name, attribute) in seen:
            return []
        seen, found = seen | {(name, attribute)}, []
        if attribute in module.definitions:
            found.append(Target("definition", name, attribute))
        for base, inner in module.imports.get(attribute, ()):
            if inner and self.module(base):
                found += self._in_module(base, inner, seen)
            else:
                found += self._imported(base, inner)
        if not found and module.package == name and self.module(f"{name}.{attribute}"):
            found.append(Target("module", f"{name}.{attribute}"))
        return list(dict.fromkeys(found))


@cache
def _parsed(name: str, path: Path, _modified: int, _size: int) -> Module:
    module = Module(name, path)
    for node in ast.parse(path.read_text("utf8")).body:
        if not _is_docstring(node) and not _is_main(node):
            for bound in _bound_by(node, module):
                module.definitions.setdefault(bound, []).append(node)
    return module


def _bound_by(node: ast.stmt, module: Module) -> Iterator[str]:
    """Names that a statement at the top level binds or changes; imports are noted in ``module``."""
    found = set()
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    imports = False
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import | ast.ImportFrom):
            imports = True
            for name, where in imported_names(inner, module):
                module.imports.setdefault(name, []).append(where)
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(inner.name)
        elif isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            found.add(inner.id)
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):  # table["key"] = value changes what table stands for
        targets = node.targets if not isinstance(node, ast.AugAssign) else [node.target]
        for target in targets:
            while isinstance(target, ast.Attribute | ast.Subscript):
                target = target.value
            found |= {target.id} if isinstance(target, ast.Name) else set()
    yield from found or (() if imports else (EFFECTS,))


def imported_names(node: ast.Import | ast.ImportFrom, module: Module) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Names that an import statement in ``module`` binds, and what each stands for."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            full = alias.name if alias.asname else alias.name.split(".")[0]
            yield alias.asname or full, (full, None)
        else:
            parts = module.package.split(".")[: len(module.package.split(".")) - node.level + 1] if node.level else []
            yield alias.asname or alias.name, (".".join([*parts, *([node.module] if node.module else [])]), alias.name)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"
