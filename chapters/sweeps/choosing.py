"""What is given for a notebook's parameters, refused before a kernel starts where it cannot be used."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from chapters.sweeps.declared import NotebookError, Parameter

WORDS = {"int": "a whole number", "float": "a number", "str": "text", "bool": "true or false", "list": "a list"}


def checked(parameters: Sequence[Parameter], given: Mapping[str, Any], where: str = "this notebook") -> dict[str, Any]:
    """The settings ``given``, each of its parameter's type and within its range; paths are made absolute.

    Raises :class:`NotebookError` for the first that is not.

    >>> from chapters.sweeps.declared import parameters_of
    >>> checked(parameters_of("channels: int = 4"), {"chanels": 3})
    Traceback (most recent call last):
    ...
    chapters.sweeps.declared.NotebookError: chanels: not a parameter of this notebook. ... Did you mean 'channels'?
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            raise NotebookError(
                f"{name}: not a parameter of {where}. Expected {', '.join(known) or 'none'}.{_hint(name, known)}"
            )
    return {name: _checked(known[name], value) for name, value in given.items()}


def from_text(parameters: Sequence[Parameter], pairs: Iterable[Sequence[str]]) -> dict[str, Any]:
    """Settings from pairs of name and text, as of a command line; a list or a mapping is written as in YAML.

    Text stays text where the parameter takes text. Raises :class:`NotebookError` for what cannot be read.
    """
    kinds = {parameter.name: parameter.kinds for parameter in parameters}
    found: dict[str, Any] = {}
    for name, text in pairs:
        if name in found:
            raise NotebookError(f"{name}: found twice, expected once.")
        found[name] = text
        if kinds.get(name) == ("str",):
            continue
        try:
            found[name] = _number(yaml.safe_load(text))
        except yaml.YAMLError:
            raise NotebookError(f"{name}: found {text!r}, which cannot be read; a list is written [1, 2].") from None
    return found


def _checked(parameter: Parameter, value: Any) -> Any:
    name, kinds = parameter.name, parameter.kinds
    if "float" in kinds and type(value) is int:
        value = float(value)
    actual = "None" if value is None else type(value).__name__
    if kinds and actual not in kinds and "Any" not in kinds:
        expected = " or ".join(WORDS.get(kind, kind) for kind in kinds)
        raise NotebookError(f"{name}: found {value!r} ({actual}), expected {expected}, such as {parameter.default!r}.")
    if actual == "float" and not math.isfinite(value):
        raise NotebookError(f"{name}: found {value!r}, expected a finite number.")
    if parameter.choices and value not in parameter.choices:
        hint = _hint(value, parameter.choices)
        raise NotebookError(f"{name}: found {value!r}, expected one of {', '.join(parameter.choices)}.{hint}")
    if actual in ("int", "float"):
        below = parameter.low is not None and value < parameter.low
        if below or (parameter.high is not None and value > parameter.high):
            raise NotebookError(f"{name}: found {value!r}, expected {parameter.range}.")
    return str(Path(value).expanduser().resolve()) if parameter.is_path and value else value


def _number(value: Any) -> Any:
    """YAML 1.1 takes ``1e-3``, without a point, for text."""
    try:
        return float(value) if isinstance(value, str) and value[:1] in "+-.0123456789" else value
    except ValueError:
        return value


def _hint(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(str(name), list(known), n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""
