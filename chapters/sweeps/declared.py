"""What a notebook's parameters are, read from its parameters cell: the one place where they are described.

A line there is ``channels: int = 4  # of the network, at least 10``: name, type, default, meaning. The words of the
meaning give the range: "at least 10", "at most 3", "between -1 and 1", "0 to 1", "relu or tanh". A process is one of
the registry's families; a seed is not negative; what counts something (``chapters.sizes``) is at least one.
Papermill's reader drops lines with types such as ``"int or list"``, and knows no ranges.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import mul, truediv
from pathlib import Path
from typing import Any

from capcore.processes import REGISTRY
from chapters import sizes

NUMBER = r"(-?\d[\d,]*\.?\d*(?:e-?\d+)?)"
WORD = r'("[^"]+"|\w+)(?: \([^)]*\))?'
WORKED_OUT: dict[type, Callable[[Any, Any], Any]] = {ast.Pow: pow, ast.Mult: mul, ast.Div: truediv}
COUNTED = sizes.WIDTHS | sizes.DEPTHS | sizes.POWERS | sizes.SQUARES | sizes.COUNTS | {"kernel_size"}


class NotebookError(ValueError):
    """A notebook, or what was asked of it, that cannot be used. Shown as one line."""


@dataclass(frozen=True)
class Parameter:
    """One parameter: ``kinds`` are the names of the types that it may have, ``low`` and ``high`` ends of its range.

    >>> (found,) = parameters_of("width: int = 16  # units, at least 4")
    >>> found.kinds, found.default, found.low, found.range
    (('int',), 16, 4, 'at least 4')
    """

    name: str
    kinds: tuple[str, ...]
    default: Any
    meaning: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def range(self) -> str:
        """The range in words; empty where nothing is said of it."""
        if self.choices:
            return ", ".join(self.choices)
        if self.low is not None and self.high is not None:
            return f"{self.low:,} to {self.high:,}"
        return (
            "" if self.low is self.high else f"at least {self.low:,}" if self.high is None else f"at most {self.high:,}"
        )

    @property
    def is_path(self) -> bool:
        """Whether its text is the path of a file."""
        return "str" in self.kinds and self.meaning.startswith("path ")


def parameters_of(source: str) -> tuple[Parameter, ...]:
    """The parameters that a cell's source sets, in its order; none of those without a written value."""
    return tuple(_read(source))


def read_notebook(path: Path) -> tuple[dict[str, Any], tuple[Parameter, ...]]:
    """A notebook, as its file has it but for sources as one text each, and its parameters.

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
    return notebook, parameters_of(tagged[0]["source"])


def code_cells(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Its cells that are code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _read(source: str) -> Iterator[Parameter]:
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    for node in ast.parse(source).body:
        target = node.target if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [None])[0]
        if not isinstance(target, ast.Name) or not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        default = _value(node.value)
        note = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else type(default).__name__
        kinds = tuple(re.findall(r"\w+", note.strip("\"'").replace(" or ", " | ")))
        meaning = comments.get(node.end_lineno or 0, "")
        yield Parameter(target.id, kinds, default, meaning, *_range(target.id, kinds, default, meaning))


def _value(node: ast.expr) -> Any:
    """A written value; powers, products and quotients of numbers are worked out."""
    if isinstance(node, ast.BinOp) and type(node.op) in WORKED_OUT:
        return WORKED_OUT[type(node.op)](_value(node.left), _value(node.right))
    return ast.literal_eval(node)


def _range(name: str, kinds: tuple[str, ...], default: Any, meaning: str) -> tuple[Any, Any, tuple[str, ...]]:
    if kinds == ("str",):
        return None, None, tuple(REGISTRY) if name.endswith("process") else _choices(default, meaning)
    if not {"int", "float"} & set(kinds) or "list" in kinds:
        return None, None, ()
    low: float | None = 0 if name == "seed" else 1 if name in COUNTED else None
    high: float | None = None
    if found := re.search(rf"between {NUMBER} and {NUMBER}|{NUMBER} to {NUMBER}", meaning):
        low, high = (_number(each) for each in found.groups() if each)
    if found := re.search(rf"at least {NUMBER}", meaning):
        low = _number(found[1])
    if found := re.search(rf"at most {NUMBER}", meaning):
        high = _number(found[1])
    return low, high, ()


def _choices(default: str, meaning: str) -> tuple[str, ...]:
    """The words that a meaning lists after a colon, as in "of the network: relu or tanh"."""
    found = re.search(rf"(?::|,) ((?:{WORD}, )*{WORD} or {WORD})$", meaning)
    words = [word.strip('"') for word in re.findall(WORD, found[1]) if word != "or"] if found else []
    return tuple(words) if default in words else ()


def _number(text: str) -> float:
    text = text.replace(",", "")
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
