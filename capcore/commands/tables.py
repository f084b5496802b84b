"""Rows of values as text, aligned for a terminal or separated by commas, without pandas."""

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
    """Format a value with four significant digits; a missing one becomes a dash.

    >>> number(3.14159), number(None), number("fc")
    ('3.142', '–', 'fc')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NONE
    return f"{value:.4g}" if isinstance(value, float) else shown(value)


def lined_up(
    rows: Sequence[Mapping[str, Any]], headings: Mapping[str, str], width: int | None = None, later: Sequence[str] = ()
) -> str:
    """Align rows as a table: first column to the left, the others to the right, empty columns left out.

    Parameters
    ----------
    rows : sequence of mapping
        Values by column.
    headings : mapping
        Column → its heading.
    width : int, optional
        Width of the terminal. If the table is wider, columns of ``later`` are dropped one by one and named below the
        table. If that does not suffice, the first column is shortened in the middle.
    later : sequence of str
        Columns in the order in which they are dropped.

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
        text.append("Wider terminals and --format csv also show: " + ", ".join(left_out) + ".")
    return "\n".join(text)


def _cut(text: str, room: int) -> str:
    half = (room - 1) // 2
    return text if len(text) <= room else f"{text[: room - 1 - half]}…{text[len(text) - half :]}"


def separated(rows: Sequence[Mapping[str, Any]]) -> str:
    """Comma-separated values with a header line. Numbers keep all digits, and missing values are empty.

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
    """Format as JSON, which has no NaN (RFC 8259)."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """Replace numbers that are not finite by None, also within mappings and lists."""
    if isinstance(value, Mapping):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
