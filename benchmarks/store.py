"""Stored rows: one run per number of threads in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from capcore import results

NOTE = (
    "Timings of one machine: other code or another machine gives others, so no hash of the code is kept. What must not "
    "change, the agreement of both sides, is tested at small sizes and checked again in every run."
)


def save(path: str | Path, command: str, threads: int, run: dict[str, Any]) -> None:
    """Write a run under its number of threads, and keep the runs with other numbers that the file holds.

    Parameters
    ----------
    run : ``environment``, ``quick`` and ``suites``, name → rows of plain types.
    """
    path = Path(path)
    kept = json.loads(path.read_text("utf8"))["values"] if path.exists() else {}
    runs = {**kept, str(threads): {"command": command, **_rounded(run)}}
    results.save(path, command, [], {"note": NOTE}, dict(sorted(runs.items())))


def _rounded(value: Any) -> Any:
    """Floats with four significant digits: more would be noise."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    return [_rounded(entry) for entry in value] if isinstance(value, list) else value
