"""Files as bytes that can be looked at without being executed or held in memory, and NumPy's own ``.npy`` and ``.npz``.

Those are read without pickles, and without trust in the sizes that they state.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import ContextDecorator
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from capcore.checkpoints.tensors import (
    DAMAGED,
    Checkpoint,
    CheckpointError,
    Step,
    Tensor,
    checked_name,
    checked_shape,
    count,
    shown,
)

EXPANSION = 100  # times the file: trained weights hardly shrink, and deflate reaches a thousand only on constants
PIECE = 2**22  # bytes hashed together
AHEAD = 2**18  # bytes read ahead of few
ALWAYS = 2**28  # bytes that any archive may expand to: a small network with all its layers set to zero
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npz(path: str | Path) -> Checkpoint:
    """Arrays of an ``.npz`` archive by name. Each is read, and taken out of memory again, when it is asked for.

    Raises ``CheckpointError`` for archives that are damaged, encrypted, expand to far more than their size, or hold
    Python objects.
    """
    path = Path(path)
    file = File(path)
    archive = open_archive(path)
    tensors: dict[str, Tensor] = {}
    for info in archive.infolist():
        name = checked_name(info.filename.removesuffix(".npy"), str(path))
        where = f"{path}: {name!r}"
        if name in tensors:
            raise CheckpointError(f"{path}: found two arrays named {name!r}, expected one. {DAMAGED}")
        if info.filename == name:
            tensors[name] = Tensor(name, "no array", (), lambda: np.zeros(0), "Not a NumPy array: left alone.")
            continue
        with Guarded(where), archive.open(info) as member:
            dtype, shape, fortran = _header(where, member)
            _fits(where, dtype, shape, info.file_size - member.tell())
        tensors[name] = _tensor(name, dtype, shape, _member(where, archive, info, dtype, shape, fortran))
    return Checkpoint(shown(path.name), "npz", file.digest, file.size, tensors)


def read_npy(path: str | Path) -> Checkpoint:
    """The array of an ``.npy`` file, under the name of the file."""
    path = Path(path)
    file = File(path)
    with Guarded(str(path)):
        head = BytesIO(file.read(0, min(file.size, 2**16)).tobytes())
        dtype, shape, fortran = _header(str(path), head)
        start = head.tell()
        _fits(str(path), dtype, shape, file.size - start)

    def values() -> np.ndarray:
        return file.read(start, file.size).view(dtype).reshape(shape, order="F" if fortran else "C")

    name = checked_name(path.stem, str(path))
    tensors = {name: _tensor(name, dtype, shape, values)}
    return Checkpoint(shown(path.name), "npy", file.digest, file.size, tensors)


class File:
    """The bytes of a file, read piece by piece as they are asked for, and never mapped: a mapped file that is cut short
    ends the process.

    Raises ``CheckpointError`` for what is not a file, is empty, or may not be read; and from :meth:`read` once it is
    no longer the file that was opened.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not os.path.isfile(path):  # also keeps pipes and devices out, which never end
            found = "something that is not a file" if os.path.exists(path) else "no such file"
            raise CheckpointError(f"{path}: found {found}, expected a file of weights. Check the path.")
        self.state = self._state()
        self.size = self.state[0]
        if not self.size:
            raise CheckpointError(f"{path}: found an empty file, expected weights. Fetch it again.")
        self.ahead = 0, np.zeros(0, np.uint8)
        self.read(0, 1)

    def read(self, begin: int, end: int) -> np.ndarray:
        """(end - begin,) bytes; few of them from a piece read ahead, since files are opened at every reading."""
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
        """SHA-256 by name of the file; ``step`` is told how many bytes at a time."""
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
        return CheckpointError(f"{self.path}: cannot be read ({error}). Check who may read it.")


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    return next(iter(File(path).digest(lambda n: None).values()))


def strict_json(text: bytes, where: str) -> Any:
    """Parsed UTF-8 JSON. Raises ``CheckpointError`` for a name that stands twice, NaN, deep nesting, bad text."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
            raise ValueError(f"the name {twice[:60]!r} stands twice")
        return found

    def number(text: str) -> float:
        raise ValueError(f"{text} is no number of JSON")

    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=unique, parse_constant=number)
    except (ValueError, RecursionError, MemoryError) as error:
        found = "lists nested too deeply" if not isinstance(error, ValueError) else str(error)
        raise CheckpointError(
            f"{where}: expected well-formed JSON in UTF-8, found something else ({found}). "
            "The file is damaged, or made to mislead: fetch it again from a source you trust."
        ) from None


def open_archive(path: Path) -> zipfile.ZipFile:
    """A zip archive whose parts are as NumPy and PyTorch write them and expand to a size that can be expected."""
    with Guarded(str(path)):
        archive = zipfile.ZipFile(path)
        infos = archive.infolist()
    size, most = sum(info.file_size for info in infos), max(ALWAYS, EXPANSION * path.stat().st_size)
    if size > most:
        raise CheckpointError(
            f"{path}: found an archive that expands to {size} bytes, {size // path.stat().st_size} times its size; "
            f"expected at most {most}. Save it anew without compression if you trust it."
        )
    odd = [
        info
        for info in infos
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    ]
    if odd:
        raise CheckpointError(
            f"{path}: found {odd[0].filename[:60]!r} encrypted or packed by an unusual method, "
            "expected plain or deflated parts. Save it anew with numpy.savez."
        )
    return archive


class Guarded(ContextDecorator):
    """Turns whatever a parser raises on a damaged file into a ``CheckpointError`` that names the place."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, CheckpointError):
            found = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            raise CheckpointError(f"{self.where}: cannot be read (found: {found}). {DAMAGED}") from error


def _header(where: str, file: IO[bytes]) -> tuple[np.dtype, tuple[int, ...], bool]:
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise CheckpointError(f"{where}: found version {version} of the npy format, expected 1.0 or 2.0. Save it anew.")
    shape, fortran, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise CheckpointError(
            f"{where}: found Python objects, which are pickled and could execute code; expected numbers. "
            "Save the weights as arrays of floating-point numbers."
        )
    return dtype, checked_shape(shape, where), bool(fortran)


def _fits(where: str, dtype: np.dtype, shape: tuple[int, ...], n_bytes: int) -> None:
    needed = count(shape) * dtype.itemsize
    if needed != n_bytes:
        raise CheckpointError(
            f"{where}: found {n_bytes} bytes for the shape {shape} of {dtype}, expected {needed}. {DAMAGED}"
        )


def _member(
    where: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo, dtype: np.dtype, shape: tuple[int, ...], fortran: bool
) -> Callable[[], np.ndarray]:
    def values() -> np.ndarray:
        with Guarded(where), archive.open(info) as file:
            _header(where, file)
            return np.frombuffer(file.read(), dtype).reshape(shape, order="F" if fortran else "C")

    return values


def _tensor(name: str, dtype: np.dtype, shape: tuple[int, ...], values: Callable[[], np.ndarray]) -> Tensor:
    unread = "" if dtype.kind in "fiub" else "Not real numbers: save weights as floating-point arrays."
    return Tensor(name, dtype.name, shape, values, unread)
