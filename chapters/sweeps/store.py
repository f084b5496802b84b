"""A folder of results: a small JSON file a run, written as a whole or not at all, and the table of those of a grid.

``runs/ab/abcd….json`` is a run that ended well, ``failed/ab/abcd….json`` the last error of one that did not, with its
executed notebook beside it. Nothing else is remembered, and nothing but data is read. A file is
``{"digest": …, "row": …}``, with the row as in :class:`chapters.sweeps.job.Row`. What stands in its place and is no
result is replaced; a row of another version, whole but with other fields, is refused.
"""

import fcntl
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from capcore.checkpoints.tensors import shown
from chapters.sweeps.job import Job, Row, canonical
from chapters.sweeps.notebooks import NotebookError

KEY = 32  # hexadecimal digits of a run's name
OWN = ("seconds", "memory_mb", "error", "versions", "key")
"""Columns of the table that always say what the sweep noted."""


class Known(Row, extra="forbid"):
    """A row that has no other fields."""


class Store:
    """Results below ``folder``, which is made."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)

    def row(self, key: str, part: str = "runs") -> Row | None:
        """The row of a run that ended well, or of one that failed; None if there is none, or none that is whole.

        Raises ``NotebookError`` for one that is whole, but has fields or types that this version does not know.
        """
        path, values = self._path(part, key), {}
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            content = json.loads(path.read_text("utf8"))
            if digest(canonical(content["row"])) == content["digest"] and content["row"]["key"] == key:
                values = content["row"]
        try:
            return Row(**Known(**values).model_dump()) if values else None
        except ValidationError as error:
            field = error.errors()[0]["loc"][0]
            message = f"{path}: found a row with another {field!r}, expected one of this version. Use another folder."
            raise NotebookError(message) from None

    def keep(self, row: Row, notebook: str = "") -> None:
        """Write a run's row, and before it its notebook; an error's row where it has one."""
        part = "failed" if row.error else "runs"
        if notebook:
            write(self._path(part, row.key, ".ipynb"), notebook)
        text = canonical(row.model_dump())
        write(self._path(part, row.key), f'{{"digest":"{digest(text)}","row":{text}}}\n')
        if not row.error:
            for suffix in (".json", ".ipynb"):
                self._path("failed", row.key, suffix).unlink(missing_ok=True)

    def table(self, jobs: Iterable[Job]) -> pd.DataFrame:
        """One row a run, by settings: parameters, values, claims' values, and ``OWN``.

        ``error`` is empty where the run ended well; lists and mappings are JSON text. A parameter called like one of
        ``OWN`` gets ``_set`` behind its name, a value called like a column before it ``_found``.
        """
        rows = filter(None, [self.row(job.key) or self.row(job.key, "failed") for job in jobs])
        return pd.DataFrame([_flat(row) for row in sorted(rows, key=lambda row: canonical(row.settings))])

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other sweep writes here; the system lets go of the lock however this process ends."""
        with open(self.folder / ".lock", "a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"{shown(self.folder)}: another sweep writes here; waiting for its end.", file=sys.stderr)
                fcntl.flock(file, fcntl.LOCK_EX)
            for draft in self.folder.rglob(".draft-*"):  # of a sweep that was killed
                draft.unlink(missing_ok=True)
            yield

    def _path(self, part: str, key: str, suffix: str = ".json") -> Path:
        return self.folder / part / key[:2] / f"{key}{suffix}"


def digest(text: str) -> str:
    """Hash of a text, as written beside each row."""
    return hashlib.sha256(text.encode()).hexdigest()


def _flat(row: Row) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for suffix, part in (("_set", row.settings), ("_found", row.values | row.claims)):
        for name, value in part.items():
            while name in flat or name in OWN:
                name += suffix
            flat[name] = _text(value)
    return flat | {name: _text(getattr(row, name)) for name in OWN}


def _text(value: Any) -> Any:
    return canonical(value) if isinstance(value, list | dict) else value


def write(path: Path, text: str) -> None:
    """Write it beside its place, and give it its name; a row that is not whole on the disk is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".draft-{path.name}")
    try:
        draft.write_text(text, "utf8")
        draft.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path.parent)) from None
    finally:
        draft.unlink(missing_ok=True)
