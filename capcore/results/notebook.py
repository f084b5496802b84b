"""What a notebook shows of a result: a small table, and bars as an inline picture that needs no library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

import numpy as np

from capcore.results.representation import record_repr

LISTED = 6
"""Names of a mapping that are listed."""


def as_table(self: Any) -> str:
    """A record as an HTML table of its attributes; arrays are named by their shape and range.

    >>> from capcore.spectra.norms import spectrum_norms
    >>> "<caption>Norms</caption>" in as_table(spectrum_norms(np.array([2.0, 1.0])))
    True
    """
    names = [field.name for field in fields(self) if field.name[0] != "_"]
    return table(type(self).__name__, {name: _told(getattr(self, name)) for name in names})


class Record:
    """Parent of dataclasses (with ``repr=False``) that are shown in short: as a line, and in notebooks as a table."""

    __repr__ = record_repr
    _repr_html_ = as_table


def table(title: str, rows: Mapping[str, str]) -> str:
    """Names and texts as an HTML table."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f"<table><caption>{escape(title)}</caption>{cells}</table>"


def line(cells: Iterable[str], tag: str = "td") -> str:
    """A row of an HTML table; ``tag`` is "th" for heads."""
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def bars(values: np.ndarray, label: str = "capacity of every octave of lag, most recent first") -> str:
    """Bars (n,) as an inline picture in the colour of the text."""
    height, step = 40, 8
    top = max(float(values.max(initial=0.0)), 1e-300)
    shapes = "".join(
        f"<rect x='{i * step}' y='{height * (1 - v / top):.1f}' width='{step - 2}' height='{height * v / top:.1f}'/>"
        for i, v in enumerate(np.maximum(values, 0.0))
    )
    return (
        f"<svg role='img' aria-label='{escape(label)}' width='{step * len(values)}' height='{height}' "
        f"fill='currentColor'><title>{escape(label)}</title>{shapes}</svg>"
    )


def _told(value: Any) -> str:
    """A value in a few words.

    >>> _told(np.array([0.5, 2.0])), _told({"a": 1}), _told(None), _told(True), _told(1234567)
    ('(2,), from 0.5 to 2', 'a', '–', 'yes', '1,234,567')
    """
    if value is None:
        return "–"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        numbers = value.dtype.kind in "fiu" and value.size
        return f"{value.shape}" + (f", from {value.min():.4g} to {value.max():.4g}" if numbers else "")
    if isinstance(value, Mapping):
        names = [str(name) for name in value]
        return ", ".join(names[:LISTED]) + (f" … ({len(names)} in all)" if len(names) > LISTED else "")
    if isinstance(value, list | tuple):
        plain = all(isinstance(item, int | float | str) for item in value) and len(value) <= LISTED
        return ", ".join(map(_told, value)) if plain else f"{len(value):,} entries"
    return type(value).__name__ if is_dataclass(value) or len(str(value)) > 200 else str(value)
