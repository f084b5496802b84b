"""Rows of values as text: lined up for a terminal of some width, or separated by commas. Needs no pandas."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from capcore.checkpoints.tensors import shown

NONE = "–"


def number(value: Any) -> str:
    """A value to four digits; a dash for what is missing.

    >>> number(3.14159), number(None), number("fc")
    ('3.142', '–', 'fc')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NONE
    return f"{value:.4g}" if isinstance(value, float) else shown(value)


def lined_up(
    rows: Sequence[Mapping[str, Any]], headings: Mapping[str, str], width: int | None = None, later: Sequence[str] = ()
) -> str:
    """A table with a heading a column, of which the first is at the left; columns without any value are left out.

    Parameters
    ----------
    rows : sequence of mapping
        Values by column.
    headings : mapping
        Column → its heading.
    width : int, optional
        Of the terminal. Where the table is wider, ``later`` are left out one by one, and named below it; then the
        first column is cut in its middle.
    later : sequence of str
        Columns in the order in which they are left out.

    Examples
    --------
    >>> print(lined_up([{"name": "fc", "n": 12}], {"name": "layer", "n": "n"}))
    layer   n
    fc     12
    """
    columns = {key: [number(row.get(key)) for row in rows] for key in headings}
    first = next(iter(columns))
    columns = {key: cells for key, cells in columns.items() if key == first or {*cells} - {NONE, ""}}
    sizes = {key: max(map(len, [headings[key], *cells])) for key, cells in columns.items()}
    left_out = []
    for key in later:
        if width is None or sum(sizes.values()) + 2 * len(sizes) - 2 <= width:
            break
        if sizes.pop(key, None):
            left_out.append(headings[key])
    limit = width or sum(sizes.values()) + 2 * len(sizes)
    room = max(16, limit - sum(sizes[key] + 2 for key in sizes if key != first))
    sizes[first] = min(sizes[first], room)
    lines = [[headings[key] for key in sizes], *zip(*(columns[key] for key in sizes), strict=True)]
    text = [
        "  ".join(
            _cut(cell, sizes[key]).ljust(sizes[key]) if key == first else cell.rjust(sizes[key])
            for key, cell in zip(sizes, line, strict=True)
        ).rstrip()
        for line in lines
    ]
    if left_out:
        text.append("Wider terminals and --format csv also have: " + ", ".join(left_out) + ".")
    return "\n".join(text)


def _cut(text: str, room: int) -> str:
    half = (room - 1) // 2
    return text if len(text) <= room else f"{text[: room - 1 - half]}…{text[len(text) - half :]}"


def separated(rows: Sequence[Mapping[str, Any]]) -> str:
    """Comma-separated values with a line of names; nothing for what is missing, and all digits.

    >>> separated([{"name": "fc", "alpha": 0.1, "p": None}])
    'name,alpha,p\\nfc,0.1,\\n'
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_value(row.get(name)) for name in names])
    return text.getvalue()


def _value(value: Any) -> Any:
    return "" if isinstance(value, float) and math.isnan(value) else value


def as_json(value: Mapping[str, Any]) -> str:
    """JSON (RFC 8259: without NaN)."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """The same with None for numbers that are not finite."""
    if isinstance(value, Mapping):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
