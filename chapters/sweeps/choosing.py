"""What is given for a notebook's parameters, refused before a kernel starts where it cannot be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from chapters.kit.parameters import parameters_of, validated
from chapters.sweeps.declared import NotebookError


def checked(declaration: type[BaseModel], given: Mapping[str, Any], where: str = "this notebook") -> dict[str, Any]:
    """The settings ``given``, which the declaration takes, each as its type has it; paths are made absolute.

    Raises :class:`NotebookError` for the first that it does not take.

    >>> from chapters.idea.parameters import Parameters
    >>> checked(Parameters, {"chanels": 3})
    Traceback (most recent call last):
    ...
    chapters.sweeps.declared.NotebookError: chanels: not a parameter of this notebook. ... Did you mean 'channels'?
    """
    try:
        values = validated(declaration, given, where)
    except ValueError as error:
        raise NotebookError(str(error)) from None
    paths = {each.name for each in parameters_of(declaration) if each.is_path and values[each.name]}
    return {name: str(Path(values[name]).expanduser().resolve()) if name in paths else values[name] for name in given}


def from_text(declaration: type[BaseModel], pairs: Iterable[Sequence[str]]) -> dict[str, Any]:
    """Settings from pairs of name and text, as of a command line; a list or a mapping is written as in YAML.

    Text stays text where the parameter takes text. Raises :class:`NotebookError` for what cannot be read.
    """
    texts = {parameter.name for parameter in parameters_of(declaration) if parameter.kind == "str"}
    found: dict[str, Any] = {}
    for name, text in pairs:
        if name in found:
            raise NotebookError(f"{name}: found twice, expected once.")
        found[name] = text
        if name in texts:
            continue
        try:
            found[name] = _number(yaml.safe_load(text))
        except yaml.YAMLError:
            raise NotebookError(f"{name}: found {text!r}, which cannot be read; a list is written [1, 2].") from None
    return found


def _number(value: Any) -> Any:
    """YAML 1.1 takes ``1e-3``, without a point, for text."""
    try:
        return float(value) if isinstance(value, str) and value[:1] in "+-.0123456789" else value
    except ValueError:
        return value
