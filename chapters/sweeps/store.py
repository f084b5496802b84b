"""A folder of results: a file a run, written as a whole or not at all, the first one of a name staying.

``runs/ab/abcd….json`` is a run that ended well, ``failed/ab/abcd….json`` the last error of one that did not, each with
its executed notebook beside it where that is kept. ``sweep.json`` says what was swept. Nothing else is remembered.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from capcore.sweeps import canonical, digest, read_row

KEY = 32  # hexadecimal digits of a run's name


class Store:
    """Results below ``folder``, which is made."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)

    def row(self, key: str) -> dict[str, Any] | None:
        """The row of a run that ended well; None if there is none, or none that is whole."""
        return read_row(self._path("runs", key))

    def keep(self, row: Mapping[str, Any], notebook: str = "") -> None:
        """Write a run's row, and before it its notebook; an error's row where ``row["error"]`` says so."""
        part = "failed" if row["error"] else "runs"
        if notebook:
            self._write(self._path(part, row["key"], ".ipynb"), notebook)
        text = canonical(row)
        self._write(self._path(part, row["key"]), f'{{"digest":"{digest(text)}","row":{text}}}\n')
        if part == "runs":
            for suffix in (".json", ".ipynb"):
                self._path("failed", row["key"], suffix).unlink(missing_ok=True)

    def describe(self, what: Mapping[str, Any]) -> None:
        """Write what is swept."""
        self._write(self.folder / "sweep.json", json.dumps(what, indent=1, ensure_ascii=False) + "\n", replace=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other sweep writes here; the system lets go of the lock however this process ends."""
        with open(self.folder / ".lock", "a") as file:
            with suppress(ImportError):  # not on Windows
                import fcntl

                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    print(f"{self.folder}: another sweep writes here; waiting for its end.", file=sys.stderr)
                    fcntl.flock(file, fcntl.LOCK_EX)
            for left in self.folder.glob("*/*/.draft-*"):  # of a sweep that was killed
                left.unlink(missing_ok=True)
            yield

    def _path(self, part: str, key: str, suffix: str = ".json") -> Path:
        if len(key) != KEY or not set(key) <= set("0123456789abcdef"):
            raise ValueError(f"key: found {key!r}, expected {KEY} hexadecimal digits.")
        return self.folder / part / key[:2] / f"{key}{suffix}"

    def _write(self, path: Path, text: str, replace: bool = False) -> None:
        """Write it beside its place, make sure that it is on the disk, and give it its name."""
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=".draft-", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            replace = replace or path.suffix == ".ipynb" or path.parts[-3] == "failed" or read_row(path) is None
            if replace or not hasattr(os, "link"):
                os.replace(draft, path)
            else:
                with suppress(FileExistsError):
                    os.link(draft, path)
        finally:
            Path(draft).unlink(missing_ok=True)
        if os.name == "posix":
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
