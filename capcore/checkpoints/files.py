"""Reading bytes from files without executing anything or loading whole files, and checks that all readers share."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections import Counter
from contextlib import ContextDecorator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from capcore.checkpoints.tensors import DAMAGED, CheckpointError, Step, shown

EXPANSION = 100  # times the file's size: trained weights hardly compress; only constants reach a thousand

PIECE = 2**22  # bytes hashed at a time

AHEAD = 2**18  # bytes read at once when only a few are asked for

ALWAYS = 2**28  # bytes that every archive may expand to, since a small network of zeros compresses extremely well


class File:
    """The bytes of a file, read piece by piece on request.

    Files are never memory-mapped, because truncating a mapped file can kill the process.

    Raises ``CheckpointError`` if the path is not a file, or the file is empty or unreadable. :meth:`read` raises it if
    the file has changed since it was opened.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not os.path.isfile(path):  # also refuses pipes and devices, which may never end
            found = "something that is not a file" if os.path.exists(path) else "no such file"
            raise CheckpointError(f"{path}: found {found}, expected a file of weights. Check the path.")
        self.state = self._state()
        self.size = self.state[0]
        if not self.size:
            raise CheckpointError(f"{path}: found an empty file, expected weights. Fetch it again.")
        self.ahead = 0, np.zeros(0, np.uint8)
        self.read(0, 1)

    def read(self, begin: int, end: int) -> np.ndarray:
        """(end - begin,) bytes. Every read opens the file, so small requests are served from a piece read ahead."""
        first, piece = self.ahead
        try:
            if end - begin > AHEAD // 4:
                found = np.fromfile(self.path, np.uint8, end - begin, offset=begin)
            else:
                if not first <= begin <= end <= first + len(piece):
                    first, piece = begin, np.fromfile(self.path, np.uint8, AHEAD, offset=begin)
                    self.ahead = first, piece
                found = piece[begin - first : end - first].copy()
        except OSError as error:
            raise self._unreadable(error) from None
        if len(found) != end - begin or self._state() != self.state:
            raise CheckpointError(
                f"{self.path}: found that it changed while it was read, expected the file that was opened. Wait until "
                "it is written, and read it again."
            )
        return found

    def digest(self, step: Step) -> dict[str, str]:
        """SHA-256 by file name. ``step`` is called with the number of bytes of each piece."""
        found = hashlib.sha256()
        for begin in range(0, self.size, PIECE):
            piece = self.read(begin, min(begin + PIECE, self.size))
            found.update(piece.data)
            step(len(piece))
        return {shown(self.path.name): found.hexdigest()}

    def _state(self) -> tuple[int, int, int]:
        try:
            state = self.path.stat()
        except OSError as error:  # deleted
            raise self._unreadable(error) from None
        return state.st_size, state.st_mtime_ns, state.st_ino

    def _unreadable(self, error: OSError) -> CheckpointError:
        return CheckpointError(f"{self.path}: cannot be read ({error}). Check its permissions.")


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    return next(iter(File(path).digest(lambda n: None).values()))


def strict_json(text: bytes, where: str) -> Any:
    """Parse UTF-8 JSON. Raises ``CheckpointError`` for duplicate names, NaN, deep nesting and malformed text."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
            raise ValueError(f"the name {twice[:60]!r} occurs twice")
        return found

    def number(text: str) -> float:
        raise ValueError(f"{text} is not a number in JSON")

    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=unique, parse_constant=number)
    except (ValueError, RecursionError, MemoryError) as error:
        found = "lists nested too deeply" if not isinstance(error, ValueError) else str(error)
        raise CheckpointError(
            f"{where}: found malformed JSON ({found}), expected well-formed JSON in UTF-8. "
            "The file is damaged or was tampered with: fetch it again from a source you trust."
        ) from None


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open a zip archive, unless its parts expand suspiciously or are not packed as NumPy and PyTorch pack them."""
    with Guarded(str(path)):
        archive = zipfile.ZipFile(path)
        infos = archive.infolist()
    size, most = sum(info.file_size for info in infos), max(ALWAYS, EXPANSION * path.stat().st_size)
    if size > most:
        raise CheckpointError(
            f"{path}: found an archive that expands to {size} bytes, {size // path.stat().st_size} times its size; "
            f"expected at most {most}. If you trust it, save it again without compression."
        )
    odd = [
        info
        for info in infos
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    ]
    if odd:
        raise CheckpointError(
            f"{path}: found {odd[0].filename[:60]!r} encrypted or compressed by an unusual method, "
            "expected uncompressed or deflated parts. Save it again with numpy.savez."
        )
    return archive


class Guarded(ContextDecorator):
    """Turns any exception that a parser raises on a damaged file into a ``CheckpointError`` that says where."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, CheckpointError):
            found = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            raise CheckpointError(f"{self.where}: cannot be read (found: {found}). {DAMAGED}") from error


def package(path: Path, name: str) -> Any:
    """Import the optional package that reads a format. Raises ``CheckpointError`` if it is not installed."""
    if find_spec(name) is None:
        raise CheckpointError(f"{path}: found no package {name}, which it needs. Install it: pip install {name}.")
    return import_module(name)
