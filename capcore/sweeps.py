"""The results of a sweep as one table: ``load_sweep("results")``; ``capcore sweep`` makes them.

A folder of results holds one small JSON file a run, named by what decides it: settings and code. Those files are the
only truth; nothing but data is read from them.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capcore.gate import of_kind

if TYPE_CHECKING:
    import pandas as pd


def load_sweep(path: str | Path) -> pd.DataFrame:
    """One row a run, made by the code that the last sweep into this folder had, in the order of the settings.

    Columns are the parameters, the published values, the claims' values (``P1.02.gap``), ``seconds``, ``memory_mb``,
    ``error`` (empty where the run ended well), versions, and ``key``, the name of the run's file. A value called like
    a parameter gets ``_found`` behind its name. Lists and mappings are JSON text.

    Parameters
    ----------
    path : str or Path
        The folder that ``capcore sweep -o`` was given.

    Raises
    ------
    FileNotFoundError
        Where no sweep was written.
    """
    of_kind(path, "path", str | Path)
    import pandas as pd

    folder, about = Path(path), Path(path) / "sweep.json"
    if not about.is_file():
        raise FileNotFoundError(f"path: found no sweep.json in {folder}, expected a folder that capcore sweep wrote.")
    code = json.loads(about.read_text("utf8"))["code"]
    rows: dict[str, dict[str, Any]] = {}
    for part in ("failed", "runs"):  # a run that ended well in the end counts, and not its errors before
        found = map(read_row, folder.glob(f"{part}/*/*.json"))
        rows |= {row["key"]: row for row in found if row and row["code"] == code}
    return pd.DataFrame([_flat(row) for row in sorted(rows.values(), key=lambda row: canonical(row["settings"]))])


def canonical(value: Any) -> str:
    """The one JSON text of a value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(text: str) -> str:
    """Hash of a text, as written beside each row."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_row(path: Path) -> dict[str, Any] | None:
    """What one file says, or None where it is cut short or is no row."""
    try:
        content = json.loads(path.read_text("utf8"))
        row: dict[str, Any] = content["row"]
        return row if digest(canonical(row)) == content["digest"] and row["key"] == path.stem else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = {name: _text(value) for name, value in row["settings"].items()}
    own = {name: row[name] for name in ("seconds", "memory_mb", "error")}
    for found in (row["values"], row["claims"], own, row["versions"]):
        flat |= {f"{name}_found" if name in flat else name: _text(value) for name, value in found.items()}
    return flat | {"key": row["key"]}


def _text(value: Any) -> Any:
    return canonical(value) if isinstance(value, list | dict) else value
