"""The results of a sweep as one table: ``load_sweep("results")``; the book's command ``sweep`` makes them.

A folder of results holds one small JSON file a run, named by what decides it: settings and code. Those files are the
only truth; nothing but data is read from them. A file is ``{"digest": …, "row": …}``, and a row of schema 2 keeps
apart what a reader names and what the sweep notes::

    {"schema": 2,
     "settings": {"n_layers": 4, …},                  every parameter, defaults included
     "values": {"total": 12.5, …},                    what the run published, or the function returned
     "claims": {"P1.02.gap": 0.1, …},                 what it recorded for claims
     "run": {"key": …, "target": …, "code": …,        what was run; the key is the file's name
             "error": "", "seconds": 1.5, "memory_mb": 120.0,
             "versions": {"python": "3.12.1", …}}}    the error is empty where the run ended well

Rows of schema 1, which has the entries of ``run`` beside the others, are read as well: they say the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capcore.checks.arguments import of_kind

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 2
LARGEST_ROW = 100_000_000  # bytes
OWN = ("seconds", "memory_mb", "error", "key")
"""Columns of the table that always say what the sweep noted."""
_RUN = {"key": str, "target": str, "code": str, "error": str, "versions": dict}


def load_sweep(path: str | Path) -> pd.DataFrame:
    """One row a run, made by the code that the last sweep into this folder had, in the order of the settings.

    Columns are the parameters, the published values, the claims' values (``P1.02.gap``), ``seconds``, ``memory_mb``,
    ``error`` (empty where the run ended well), versions, and ``key``, the name of the run's file. These four columns
    are never anything else: a parameter called like one of them gets ``_set`` behind its name. A value called like a
    column before it gets ``_found``, a version ``_version``. Lists and mappings are JSON text.

    Parameters
    ----------
    path : str or Path
        The folder that the sweep was given as ``-o``.

    Raises
    ------
    FileNotFoundError
        If no sweep was written.
    ValueError
        If ``sweep.json`` there cannot be read.

    Warns
    -----
    UserWarning
        With the names of files that cannot be read. Their runs are not in the table.
    """
    of_kind(path, "path", str | Path)
    rows, unreadable = read_rows(Path(path))
    if unreadable:
        named = [f"{name} ({reason})" for name, reason in list(unreadable.items())[:5]]
        more = f" and {len(unreadable) - len(named)} more" if len(unreadable) > len(named) else ""
        warnings.warn(
            f"path: found {len(unreadable)} of {len(rows) + len(unreadable)} results that cannot be read: "
            f"{', '.join(named)}{more}. Their runs are missing in the table; sweep again to have them.",
            stacklevel=2,
        )
    return table_of(rows)


def read_rows(folder: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The rows that :func:`load_sweep` shows, and the files that cannot be read, each with the reason."""
    about = folder / "sweep.json"
    if not about.exists():
        raise FileNotFoundError(f"path: found no sweep.json in {folder}, expected a folder that a sweep wrote.")
    try:
        code = _data(about)["code"]
    except _UNREADABLE as error:
        raise ValueError(f"path: {about} cannot be read ({_reason(error)}). Sweep again to have it written.") from None
    rows: dict[str, dict[str, Any]] = {}
    unreadable: dict[str, str] = {}
    for part in ("failed", "runs"):  # a run that ended well in the end counts, and not its errors before
        folders = _listed(folder / part, folder, unreadable)
        for path in (path for each in folders for path in _listed(each, folder, unreadable) if path.suffix == ".json"):
            try:
                row = _row(path)
            except _UNREADABLE as error:
                unreadable[str(path.relative_to(folder))] = _reason(error)
                continue
            if row["run"]["code"] == code:
                rows[row["run"]["key"]] = row
    return sorted(rows.values(), key=lambda row: canonical(row["settings"])), unreadable


def table_of(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The table of :func:`load_sweep` from rows."""
    import pandas as pd

    return pd.DataFrame([_flat(row) for row in rows])


def canonical(value: Any) -> str:
    """The one JSON text of a value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(text: str) -> str:
    """Hash of a text, as written beside each row."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_row(path: Path) -> dict[str, Any] | None:
    """What one file says, or None where it is cut short, is no row, or is no plain file."""
    try:
        return _row(path)
    except _UNREADABLE:
        return None


def read_regular(path: Path, most: int) -> bytes:
    """What a plain file holds. Raises ``ValueError`` for a device or a pipe, which may never end, and for a larger one.

    most : bytes.
    """
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:  # opening a pipe would wait
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("no plain file")
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"more than {most:,} bytes")
    return content


def columns_of(settings: Mapping[str, Any]) -> dict[str, str]:
    """Parameter → its column in the table.

    >>> columns_of({"n": 1, "error": 0.1})
    {'n': 'n', 'error': 'error_set'}
    """
    found = {name: name for name in settings if name not in OWN}
    return found | {name: _free(name, "_set", (*OWN, *settings)) for name in settings if name in OWN}


_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def _reason(error: BaseException) -> str:
    """Why a file cannot be read, in a few words."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if type(error) is ValueError:
        return str(error)
    return "too deep" if isinstance(error, RecursionError) else "cut short, or not a result"


def _listed(folder: Path, root: Path, unreadable: dict[str, str]) -> list[Path]:
    """What is in a folder; one that cannot be listed is noted."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as error:
        unreadable[str(folder.relative_to(root))] = _reason(error)
        return []


def _data(path: Path) -> Any:
    return json.loads(read_regular(path, LARGEST_ROW).decode())


def _row(path: Path) -> dict[str, Any]:
    """The row in a file, as one of today's schema; raises one of ``_UNREADABLE`` where there is none."""
    content = _data(path)
    row = content["row"]
    if digest(canonical(row)) != content["digest"]:
        raise ValueError("changed after it was written")
    schema = row.get("schema", 1)
    if schema == 1:
        run = {name: row[name] for name in (*_RUN, "seconds", "memory_mb")}
        row = {"schema": SCHEMA, **{name: row[name] for name in ("settings", "values", "claims")}, "run": run}
    elif schema != SCHEMA:
        raise ValueError(f"of schema {schema!r}, expected at most {SCHEMA}: written by a later version")
    run = row["run"]
    wrong = [name for name in ("settings", "values", "claims") if not isinstance(row[name], dict)]
    wrong += [name for name, kind in _RUN.items() if not isinstance(run[name], kind)]
    wrong += [name for name in ("seconds", "memory_mb") if not isinstance(run[name], float | int | None)]
    if wrong:
        raise ValueError(f"{', '.join(wrong)}: not of the expected type")
    if run["key"] != path.stem:
        raise ValueError("under the name of another run")
    return dict(row)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    run, columns = row["run"], columns_of(row["settings"])
    flat = {columns[name]: _text(value) for name, value in row["settings"].items()}
    for found, suffix in ((row["values"], "_found"), (row["claims"], "_found"), (run["versions"], "_version")):
        if found is run["versions"]:
            flat |= {name: run[name] for name in OWN if name != "key"}
        for name, value in found.items():
            flat[_free(name, suffix, (*OWN, *flat))] = _text(value)
    return flat | {"key": run["key"]}


def _free(name: str, suffix: str, taken: Collection[str]) -> str:
    """The name, with so many suffixes that no column has it."""
    while name in taken:
        name += suffix
    return name


def _text(value: Any) -> Any:
    return canonical(value) if isinstance(value, list | dict) else value
