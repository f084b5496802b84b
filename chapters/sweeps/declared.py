"""What a notebook's parameters may be: what its chapter declares, or what its own cell of parameters says by types.

A chapter's notebook names its declaration: ``from chapters.idea.parameters import Parameters``
(``chapters.kit.parameters``). For a notebook that names none, the lines of its parameters cell say what there is:
``width: int = 16  # units`` has a name, a type, a default and a meaning, and no range: comments are text.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from operator import mul, truediv
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

WORKED_OUT: dict[type, Callable[[Any, Any], Any]] = {ast.Pow: pow, ast.Mult: mul, ast.Div: truediv}
TYPES: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": bool, "list": list, "dict": dict, "None": None}
STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class NotebookError(ValueError):
    """A notebook, or what was asked of it, that cannot be used. Shown as one line."""


def read_notebook(path: Path) -> tuple[dict[str, Any], type[BaseModel]]:
    """A notebook, as its file has it but for sources as one text each, and the declaration of its parameters.

    Raises :class:`NotebookError` where it is no notebook or has no cell of parameters.
    """
    try:
        notebook: dict[str, Any] = json.loads(path.read_text("utf8"))
        if notebook["nbformat"] != 4:
            raise ValueError("of another version than 4")
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
        tagged = [each for each in code_cells(notebook) if "parameters" in each["metadata"].get("tags", [])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotebookError(f"{path}: cannot be read as a notebook ({error!r}).") from None
    if not tagged:
        raise NotebookError(f"{path}: found no cell with the tag 'parameters', expected one: nothing can be set in it.")
    try:
        return notebook, declaration_of(cell["source"] for cell in code_cells(notebook)) or by_types(
            tagged[0]["source"]
        )
    except (ValueError, TypeError, ArithmeticError, SyntaxError, ImportError) as error:
        raise NotebookError(f"{path}: found parameters that cannot be read: {error}.") from None


def code_cells(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Its cells that are code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def declaration_of(sources: Iterator[str]) -> type[BaseModel] | None:
    """The declaration that cells import from a chapter; None where there is none.

    >>> declaration_of(iter(["from chapters.idea.parameters import Parameters"]))
    <class 'chapters.idea.parameters.Parameters'>
    """
    for source in sources:
        if found := re.search(r"^from (chapters\.\w+\.parameters) import Parameters$", source, re.MULTILINE):
            declaration: type[BaseModel] = import_module(found[1]).Parameters
            return declaration
    return None


def by_types(source: str) -> type[BaseModel]:
    """A declaration of the parameters that a cell sets, by their types alone; of those without a written value none.

    >>> list(by_types("width: int = 16  # units").model_json_schema()["properties"].values())
    [{'description': 'units', 'title': 'Width', 'type': 'integer'}]
    """
    return declared((name, kind, default, meaning) for name, kind, default, meaning in _read(source))


def declared(parameters: Iterator[tuple[str, Any, Any, str]]) -> type[BaseModel]:
    """A declaration of parameters: names, types (see :data:`TYPES`), defaults, meanings.

    Names of pydantic's own may be among them, such as ``schema``.
    """
    fields: dict[str, Any] = {
        f"p{number}": (kind, Field(default_factory=lambda value=default: value, alias=name, description=meaning))
        for number, (name, kind, default, meaning) in enumerate(parameters)
    }
    return create_model("Parameters", __config__=STRICT, **fields)


def _read(source: str) -> Iterator[tuple[str, Any, Any, str]]:
    nodes = ast.parse(source).body
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    for node in nodes:
        target = node.target if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [None])[0]
        if not isinstance(target, ast.Name) or not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        default = _value(node.value)
        note = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else type(default).__name__
        yield target.id, _type(note), default, comments.get(node.end_lineno or 0, "")


def _value(node: ast.expr) -> Any:
    """A written value; powers, products and quotients of numbers are worked out."""
    if isinstance(node, ast.BinOp) and type(node.op) in WORKED_OUT:
        return WORKED_OUT[type(node.op)](_value(node.left), _value(node.right))
    return ast.literal_eval(node)


def _type(note: str) -> Any:
    """The type that an annotation writes, as in ``int | list`` and ``"int or list"``; what it does not know is any."""
    names = [name.split("[")[0] for name in re.split(r" or | ?\| ?", note.strip("\"'"))]
    if not set(names) <= set(TYPES):
        return Any
    first, *others = (TYPES[name] for name in names)
    for other in others:
        first = first | other
    return first
