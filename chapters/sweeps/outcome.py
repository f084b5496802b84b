"""What an executed notebook found, read from its outputs as data: the values it published, its claims', its error."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from capcore.results.text_table import text_table
from chapters.claims.criteria import ClaimsError, Criterion, digits, plain
from chapters.claims.evidence import METADATA_KEY
from chapters.kit.publish import GLUE_PREFIX


def published(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """Name → value of everything that was published, claims' values apart."""
    values = {}
    for output in outputs(notebook):
        name = output.get("metadata", {}).get("scrapbook", {}).get("name", "")
        text = output.get("data", {}).get(f"{GLUE_PREFIX}text/plain")
        if name and text is not None and "." not in name:
            values[name] = _literal(text)
    return values


def claimed(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """``claim.check`` → value of everything that was recorded; what is no value of a check is left out."""
    return {key: value for key, value, _ in _recorded(notebook)}


def error_of(notebook: Mapping[str, Any]) -> str:
    """The error that stopped the notebook in one line; empty if none did."""
    for output in outputs(notebook):
        if output.get("output_type") == "error":
            return f"{output.get('ename')}: {output.get('evalue')}"
    return ""


def comparison(book: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """A table of the claims' values: in the notebook as it is stored, and in the executed copy.

    Empty where the copy records none.
    """
    stored = {key: value for key, value, _ in _recorded(book)}
    rows = [
        (key, digits(test.stable(stored[key])) if key in stored else "–", digits(test.stable(value)), str(test))
        for key, value, test in _recorded(here)
    ]
    return text_table(rows, ["check", "book", "here", "criterion"], "<") if rows else ""


def outputs(notebook: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The outputs of all cells, in order."""
    for cell in notebook["cells"]:
        yield from cell.get("outputs", [])


def _recorded(notebook: Mapping[str, Any]) -> Iterator[tuple[str, Any, Criterion]]:
    for output in outputs(notebook):
        evidence = output.get("metadata", {}).get(METADATA_KEY)
        if not isinstance(evidence, dict) or "claim" not in evidence:
            continue
        for name, value in dict(evidence.get("values", {})).items():
            try:
                test = Criterion.read(evidence.get("tests", {}).get(name))
                recorded = plain(value)
                test.holds(recorded)
            except ClaimsError:
                continue
            yield f"{evidence['claim']}.{name}", recorded, test


def _literal(text: str) -> Any:
    """A number or text from how a cell shows it."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, bool | int | float | str) else text
