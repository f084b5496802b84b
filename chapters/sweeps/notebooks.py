"""A notebook that is to be run: where it is, what can be set in it, and what is given, refused where it cannot be used.

A chapter's notebook names its declaration: ``from chapters.idea.parameters import Parameters``
(``chapters.kit.parameters``). For a notebook that names none, the lines of its parameters cell say what there is:
``width: int = 16  # units`` has a name, a type, a default and a meaning, and no range: comments are text.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, create_model

from capcore.checks.names import meant
from chapters.kit.parameters import parameters_of, validated

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
TYPES: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": bool, "list": list, "dict": dict}
STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class NotebookError(ValueError):
    """A notebook, or what was asked of it, that cannot be used. Shown as one line."""


def notebook_path(name: str) -> Path:
    """The file of a notebook: a path that exists, or a name such as ``hierarchical``.

    >>> notebook_path("idea").name
    'idea.ipynb'
    """
    if Path(name).is_file():
        return Path(name).resolve()
    known = {path.stem: path for path in sorted(FOLDER.glob("*.ipynb"))}
    stem = Path(name).name.removesuffix(".ipynb")
    if stem not in known or (Path(name).parent != Path() and not Path(name).parent.match("notebooks")):
        hint = meant(stem, known) or f" The book has: {', '.join(known)}."
        raise NotebookError(f"{name}: found no such notebook, expected a file or the name of a chapter.{hint}")
    return known[stem]


def read_notebook(path: Path) -> tuple[dict[str, Any], type[BaseModel]]:
    """A notebook, as its file has it but for sources as one text each, and the declaration of its parameters.

    Raises :class:`NotebookError` where it is no notebook or has no cell of parameters.
    """
    try:
        notebook: dict[str, Any] = json.loads(path.read_text("utf8"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
        tagged = [cell for cell in code_cells(notebook) if "parameters" in cell["metadata"].get("tags", [])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotebookError(f"{path}: cannot be read as a notebook ({error!r}).") from None
    if not tagged:
        raise NotebookError(f"{path}: found no cell with the tag 'parameters', expected one: nothing can be set in it.")
    try:
        named = declaration_of(cell["source"] for cell in code_cells(notebook))
        return notebook, named or by_types(tagged[0]["source"])
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
        if named := re.search(r"^from (chapters\.\w+\.parameters) import Parameters$", source, re.MULTILINE):
            return import_module(named[1]).Parameters
    return None


def by_types(source: str) -> type[BaseModel]:
    """A declaration of the parameters that a cell sets, by their types alone; of those without a written value none.

    >>> list(by_types("width: int = 16  # units").model_json_schema()["properties"].values())
    [{'description': 'units', 'title': 'Width', 'type': 'integer'}]
    """
    return declared(_read(source))


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
    lines = source.encode().splitlines()
    for node in ast.parse(source).body:
        target = node.target if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [None])[0]
        if not isinstance(target, ast.Name) or not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        default = ast.literal_eval(node.value)
        note = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else type(default).__name__
        meaning = lines[(node.end_lineno or 1) - 1][node.end_col_offset :].decode().strip(" #")
        yield target.id, TYPES.get(note.partition("[")[0], Any), default, meaning


def checked(declaration: type[BaseModel], given: Mapping[str, Any], where: str = "this notebook") -> dict[str, Any]:
    """The settings ``given``, which the declaration takes, each as its type has it; paths are made absolute.

    Raises :class:`NotebookError` for the first that it does not take.

    >>> from chapters.idea.parameters import Parameters
    >>> checked(Parameters, {"chanels": 3})
    Traceback (most recent call last):
    ...
    chapters.sweeps.notebooks.NotebookError: chanels: not a parameter of this notebook. ... Did you mean 'channels'?
    """
    try:
        values = validated(declaration, given, where)
    except ValueError as error:
        raise NotebookError(str(error)) from None
    for parameter in parameters_of(declaration):
        if parameter.schema.get("format") == "path" and values[parameter.name]:
            values[parameter.name] = str(Path(values[parameter.name]).expanduser().resolve())
    return {name: values[name] for name in given}


def from_text(declaration: type[BaseModel], pairs: Iterable[Sequence[str]]) -> dict[str, Any]:
    """Settings from pairs of name and text, as of a command line; a list or a mapping is written as in YAML.

    Text stays text where the parameter takes text. Raises :class:`NotebookError` for what cannot be read.
    """
    texts = {parameter.name for parameter in parameters_of(declaration) if parameter.kind == "str"}
    return {name: text if name in texts else _value(name, text) for name, text in pairs}


def _value(name: str, text: str) -> Any:
    for read in (json.loads, yaml.safe_load):  # YAML 1.1 takes 1e-3, without a point, for text
        with suppress(ValueError, yaml.YAMLError):
            return read(text)
    raise NotebookError(f"{name}: found {text!r}, which cannot be read; a list is written [1, 2].")
