"""A definition written without what decides no number, and the names that it reaches.

Left out are docstrings, comments, layout, imports, annotations, ``pass``, refusals (``is_refusal``), the gate
(``is_gate``), methods that hand a result on (``SHOWN``), and in which chapter's folder a stored result lies. A name
that stands for a definition is written as that definition's own name, wherever it is defined and whatever alias of it
is used; a name from outside is written in full, so that one function imported in place of another is a change. Fields
that are empty are left out too, and pieces of f-strings are joined, so that all supported Pythons write the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from chapters.fingerprint.names import ATTRIBUTE, SHOWN, UNCOUNTED, WRITTEN, Imports, Sources, Target
from chapters.fingerprint.refusals import catches, is_gate, is_refusal, last
from chapters.fingerprint.scopes import local_names, targets

Key = tuple[str, str, bool]
"""Module and name of a definition, and whether somebody catches what it raises."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
UNWRITTEN = ("ctx", "annotation", "returns", "type_comment", "kind")
FIELD_KINDS = ("ClassVar", "InitVar", "KW_ONLY")


class Essence:
    """One definition: what is written of it, and what it reaches.

    Parameters
    ----------
    sources : Sources
        Where definitions are looked up.
    key : Key
        Of the definition. Its refusals are written, and their names followed, only if somebody catches them.

    Attributes
    ----------
    parts : list of str or Key
        Text, and keys of definitions in the places where their names stand.
    files : set of Path
        Data files, named by a string in the definition, beside its module or below the root of the sources.
    defines : set of str
        Names of a class's methods.
    called : set of str
        Names of methods that are called where somebody catches what they raise.
    """

    def __init__(self, sources: Sources, key: Key) -> None:
        module = sources.module(key[0])
        if module is None or key[1] not in module.definitions:
            raise ModuleNotFoundError(
                f"{key[0]}:{key[1]}: not found, expected a definition in a module of the package."
            )
        self.parts: list[str | Key] = []
        self.reached: set[Key] = set()
        self.files: set[Path] = set()
        self.called: set[str] = set()
        classes = [node for node in module.definitions[key[1]] if isinstance(node, ast.ClassDef)]
        methods = {inner.name for node in classes for inner in node.body if isinstance(inner, ast.FunctionDef)}
        self.defines = methods - {*SHOWN}
        self._sources, self._module, self._caught = sources, module, key[2]
        self._scopes: list[Imports] = []
        self._in_class = False
        self._write(list(filter(self._counts, module.definitions[key[1]])))

    def text(self, label: dict[Key, str] | None = None) -> str:
        """Everything that is written; with ``label``, that of each definition beside its name."""
        own = (part if isinstance(part, str) else f"@{part[1]}{label[part] if label else ''}" for part in self.parts)
        return "".join(own)

    def _counts(self, node: ast.stmt) -> bool:
        """Whether a statement can decide a number."""
        if isinstance(node, ast.Pass | ast.Import | ast.ImportFrom):
            return False
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return False
        if self._in_class and set(_bound(node)) & {*SHOWN}:
            return False
        if isinstance(node, ast.If) and last(node.test) == "TYPE_CHECKING" and not node.orelse:
            return False
        if isinstance(node, ast.AnnAssign) and node.value is None and not self._in_class:
            return False
        return not is_gate(node) and (self._caught or not is_refusal(node))

    def _write(self, node: Any) -> None:
        if isinstance(node, ast.AnnAssign) and node.value and not self._in_class:
            node = ast.Assign([node.target], node.value)
        if isinstance(node, list):
            self.parts.append("[")
            for each in node:
                self._write(each)
                self.parts.append(",")
            self.parts.append("]")
        elif not isinstance(node, ast.AST):
            self.parts.append(repr(node))
        elif isinstance(node, ast.Constant):
            self.parts.append(repr(node.value))
            self._note_file(node.value)
        elif not (isinstance(node, ast.Name | ast.Attribute) and self._reference(node)):
            self.parts.append(type(node).__name__ + "(")
            self._write_fields(node)
            self.parts.append(")")

    def _write_fields(self, node: ast.AST) -> None:
        fields, scope, inner = _fields(node), None, self._in_class
        if isinstance(node, FUNCTIONS):  # defaults and decorators belong to the scope around
            decorators = [each for each in fields.pop("decorator_list", []) if last(each) != ATTRIBUTE]
            self._write(decorators or None)
            self._write(fields.pop("args", None))
            scope, inner = local_names(node, self._module), False
        elif isinstance(node, COMPREHENSIONS):
            self._write(node.generators[0].iter)
            scope = {name: [] for part in node.generators for name in targets(part.target)}
        elif isinstance(node, ast.ClassDef):
            inner = True
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and self._caught:
            self.called.add(node.func.attr)
        elif isinstance(node, ast.JoinedStr):
            fields["values"] = list(_joined(node.values))
        elif isinstance(node, ast.AnnAssign) and self._in_class:
            self.parts.append("".join(kind for kind in FIELD_KINDS if kind in ast.unparse(node.annotation)))
        if scope is not None:
            self._scopes.append(scope)
        self._in_class, outer = inner, self._in_class
        for name, value in fields.items():
            caught, self._caught = self._caught, self._caught or (name == "body" and catches(node))
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                value = list(filter(self._counts, value))
            if value != []:
                self.parts.append(f"{name}=")
                self._write(value)
            self._caught = caught
        self._in_class = outer
        if scope is not None:
            self._scopes.pop()

    def _reference(self, node: ast.expr) -> bool:
        """Write a dotted name that stands for something; False if it is a local one, or no dotted name."""
        chain = []
        while isinstance(node, ast.Attribute):
            chain.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in UNCOUNTED:
            return False
        imports = next((scope[node.id] for scope in reversed(self._scopes) if node.id in scope), None)
        if imports == []:
            return False
        ends = [(target, chain[::-1]) for target in self._sources.targets(self._module, node.id, imports or ())]
        while any(target.kind == "module" and rest for target, rest in ends):
            ends = [
                end
                for target, rest in ends
                for end in (
                    [(found, rest[1:]) for found in self._sources.attribute(target, rest[0])]
                    if target.kind == "module" and rest
                    else [(target, rest)]
                )
            ]
        for target, rest in ends:
            self._write_target(target)
            self.parts.append("".join(f".{name}" for name in rest))
        return bool(ends)

    def _write_target(self, target: Target) -> None:
        if target.kind == "definition" and target.name not in UNCOUNTED:
            key = (target.module, target.name, self._caught)
            self.reached.add(key)
            self.parts.append(key)
        elif target.kind == "outside":
            home, _, name = target.module.rpartition(".")
            self.parts.append(f"@{WRITTEN.get(home, home)}.{name}" if home else f"@{name}")
        else:  # a module handed on as a whole: anything in it may be used
            module = self._sources.module(target.module)
            self.parts.append("@module")
            self.reached |= {(target.module, name, self._caught) for name in (module.definitions if module else ())}

    def _note_file(self, value: object) -> None:
        if isinstance(value, str) and 2 < len(value) < 200 and Path(value).suffix not in ("", ".py"):
            for folder in (self._module.path.parent, self._sources.root):
                path = folder / value
                if value.isprintable() and path.is_file():
                    self.files.add(path)


def _bound(node: ast.stmt) -> list[str]:
    """Names that a method, or an assignment within a class, binds."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    return [each.id for each in node.targets if isinstance(each, ast.Name)] if isinstance(node, ast.Assign) else []


def _fields(node: ast.AST) -> dict[str, Any]:
    """Fields that are written and not empty."""
    found = {name: getattr(node, name, None) for name in _written(type(node).__name__)}
    return {name: value for name, value in found.items() if value is not None and value != []}


@cache
def _written(kind: str) -> tuple[str, ...]:
    return tuple(name for name in getattr(ast, kind)._fields if name not in UNWRITTEN)


def _joined(values: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """Pieces of an f-string, neighbouring text as one."""
    text = ""
    for value in values:
        if isinstance(value, ast.Constant):
            text += str(value.value)
            continue
        if text:
            yield ast.Constant(text)
        text = ""
        yield value
    if text:
        yield ast.Constant(text)
