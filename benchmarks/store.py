"""Stored rows: one file holds every suite for several numbers of threads, each with what it was taken with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chapters.kit import stored as results

COMMAND = "python -m benchmarks --save chapters/performance/results/benchmarks.json"
NOTE = (
    "Timings of one machine: other code or another machine gives others, so none is made again to be compared. What "
    "must not change, the agreement of both sides, is tested at small sizes and checked again in every run."
)


def save(path: str | Path, threads: int, name: str, suite: dict[str, Any]) -> None:
    """Write one suite under its number of threads, in place of its former rows; all others in the file stay.

    Parameters
    ----------
    suite : ``command``, ``quick``, ``environment`` and ``rows``, of plain types.
    """
    path = Path(path)
    runs = json.loads(path.read_text("utf8"))["values"] if path.exists() else {}
    runs.setdefault(str(threads), {})[name] = _rounded(suite)
    results.save(path, COMMAND, None, {"note": NOTE}, dict(sorted(runs.items())))


def _rounded(value: Any) -> Any:
    """Floats with four significant digits: more would be noise."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    return [_rounded(entry) for entry in value] if isinstance(value, list) else value
