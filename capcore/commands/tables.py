"""Rows of values separated by commas, and values as JSON, without pandas. Aligned rows: :mod:`capcore.spectra.text`."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from capcore.spectra.text import lined_up as lined_up
from capcore.spectra.text import number as number


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
