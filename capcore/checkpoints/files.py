"""Reading bytes from files without executing anything or loading whole files, and checks that all readers share."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from capcore.checkpoints.tensors import DAMAGED, CheckpointError, damaged, shown
from capcore.checks.names import absent

EXPANSION = 100  # times the file's size: trained weights hardly compress; only constants reach a thousand
ALWAYS = 2**28  # bytes that every archive may expand to, since a small network of zeros compresses extremely well


class File:
    """The bytes of a file, read piece by piece on request.

    Raises ``CheckpointError`` if the path is not a file, or the file is empty or unreadable. :meth:`read` raises it if
    the file has changed since it was opened.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not os.path.isfile(path):  # also refuses pipes and devices, which may never end
            kind = "something that is not a file" if os.path.exists(path) else "no such file"
            raise CheckpointError(f"{path}: found {kind}, expected a file of weights. Check the path.")
        self.state = self._state()
        self.size = self.state[0]
        if not self.size:
            raise CheckpointError(f"{path}: found an empty file, expected weights. Fetch it again.")
        self.neighbours: dict[str, File] = {}
        self.read(0, 1)

    def read(self, begin: int, end: int) -> np.ndarray:
        """(end - begin,) bytes."""
        try:
            piece = np.fromfile(self.path, np.uint8, end - begin, offset=begin)
            changed = len(piece) != end - begin or self._state() != self.state
        except OSError as error:
            raise CheckpointError(f"{self.path}: cannot be read ({error}). Check its permissions.") from None
        if changed:
            raise CheckpointError(f"{self.path}: changed while it was read. Wait until it is written, and try again.")
        return piece

    def beside(self, name: str) -> File:
        """A file in the same folder that holds a part of the weights. Its size and hash count as well."""
        if Path(name).name != name or not name.isprintable():
            raise damaged(self.path, f"values in {name!r}", "a file beside it")
        if name not in self.neighbours:
            self.neighbours[name] = File(self.path.parent / name)
        return self.neighbours[name]

    def digest(self) -> dict[str, str]:
        """SHA-256 by file name, also of the files beside it that hold a part of the weights."""
        hashes = {}
        for file in (self, *self.neighbours.values()):
            with guarded(str(file.path)), file.path.open("rb") as content:
                hashes[shown(file.path.name)] = hashlib.file_digest(content, "sha256").hexdigest()
            file.read(0, 1)  # raises if the file has changed
        return hashes

    def _state(self) -> tuple[int, int, int]:
        state = self.path.stat()
        return state.st_size, state.st_mtime_ns, state.st_ino


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    return next(iter(File(path).digest().values()))


def strict_json(text: bytes, where: str) -> Any:
    """Parse UTF-8 JSON. Raises ``CheckpointError`` for duplicate names, deep nesting and malformed text."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name occurs twice")
        return dict(pairs)

    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError, MemoryError) as error:
        raise damaged(where, f"malformed JSON ({error})", "well-formed JSON in UTF-8") from None


def open_archive(file: File) -> zipfile.ZipFile:
    """Open a zip archive, unless its parts expand suspiciously or are not packed as NumPy and PyTorch pack them."""
    with guarded(str(file.path)):
        archive = zipfile.ZipFile(file.path)
    check_expansion(file, sum(info.file_size for info in archive.infolist()))
    for info in archive.infolist():
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise damaged(file.path, f"{info.filename[:60]!r} encrypted or of unusual compression", "it deflated")
    return archive


def check_expansion(file: File, n_bytes: int) -> None:
    """Refuse a file whose values take far more bytes than the file itself."""
    most = max(ALWAYS, EXPANSION * file.size)
    if n_bytes > most:
        expected = f"expected at most {most}. If you trust it, save it again without compression."
        raise CheckpointError(f"{file.path}: found values that expand to {n_bytes} bytes, {expected}")


@contextmanager
def guarded(where: str) -> Iterator[None]:
    """Turns any exception that a parser raises on a damaged file into a ``CheckpointError`` that says where."""
    try:
        yield
    except CheckpointError:
        raise
    except Exception as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise CheckpointError(f"{where}: cannot be read (found: {reason}). {DAMAGED}") from error


def package(path: Path, name: str) -> Any:
    """Import the optional package that reads a format. Raises ``CheckpointError`` if it is not installed."""
    if said := absent(name):
        raise CheckpointError(f"{path}: {said}.")
    return import_module(name)
