"""A folder of results: a file a run, written as a whole or not at all, the first one of a name staying.

``runs/ab/abcd….json`` is a run that ended well, ``failed/ab/abcd….json`` the last error of one that did not, each with
its executed notebook beside it where that is kept. ``sweep.json`` says what was swept. Nothing else is remembered.
What stands in the place of a result and is none goes to ``unreadable/``.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any

from capcore.checkpoints.tensors import shown
from capcore.sweeps import canonical, digest, read_row

KEY = 32  # hexadecimal digits of a run's name
_LOCK = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)  # opening a pipe that stands there would wait


class Store:
    """Results below ``folder``, which is made."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)

    def row(self, key: str) -> dict[str, Any] | None:
        """The row of a run that ended well; None if there is none, or none that is whole."""
        return read_row(self._path("runs", key))

    def keep(self, row: Mapping[str, Any], notebook: str = "") -> None:
        """Write a run's row, and before it its notebook; an error's row where it has one."""
        part, key = "failed" if row["run"]["error"] else "runs", row["run"]["key"]
        if notebook:
            self._write(self._path(part, key, ".ipynb"), notebook)
        text = canonical(row)
        self._write(self._path(part, key), f'{{"digest":"{digest(text)}","row":{text}}}\n')
        if part == "runs":
            for suffix in (".json", ".ipynb"):
                self._path("failed", key, suffix).unlink(missing_ok=True)

    def describe(self, what: Mapping[str, Any]) -> None:
        """Write what is swept."""
        self._write(self.folder / "sweep.json", json.dumps(what, indent=1, ensure_ascii=False) + "\n", replace=True)

    def set_aside(self, keys: Iterable[str]) -> dict[str, str]:
        """Move what stands in the place of these runs and cannot be read: its old name → its new one."""
        moved = {}
        for key, part, suffix in product(keys, ("runs", "failed"), (".json", ".ipynb")):
            path = self._path(part, key, suffix)
            if not os.path.lexists(path) or (path.is_file() if suffix == ".ipynb" else read_row(path)):
                continue
            number = 0
            while os.path.lexists(place := self.folder / "unreadable" / f"{path.name}.{number}"):
                number += 1
            place.parent.mkdir(exist_ok=True)
            path.rename(place)
            moved[str(path.relative_to(self.folder))] = str(place.relative_to(self.folder))
        return moved

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other sweep writes here; the system lets go of the lock however this process ends."""
        with open(os.open(self.folder / ".lock", _LOCK, 0o666), "a") as file:
            with suppress(ImportError):  # not on Windows
                import fcntl

                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    print(f"{shown(self.folder)}: another sweep writes here; waiting for its end.", file=sys.stderr)
                    fcntl.flock(file, fcntl.LOCK_EX)
            for left in self.folder.glob("*/*/.draft-*"):  # of a sweep that was killed
                with suppress(OSError):
                    left.unlink()
            yield

    def _path(self, part: str, key: str, suffix: str = ".json") -> Path:
        if len(key) != KEY or not set(key) <= set("0123456789abcdef"):
            raise ValueError(f"key: found {key!r}, expected {KEY} hexadecimal digits.")
        return self.folder / part / key[:2] / f"{key}{suffix}"

    def _write(self, path: Path, text: str, replace: bool = False) -> None:
        """Write it beside its place, make sure that it is on the disk, and give it its name."""
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.parent / f".draft-{secrets.token_hex(8)}"
        try:
            with open(draft, "x", encoding="utf8") as file:  # unlike a temporary file's, its rights are those of others
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
            draft.unlink(missing_ok=True)
        if os.name == "posix":
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
