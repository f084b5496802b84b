"""NumPy's ``.npy`` and ``.npz`` files, read without pickles; stated sizes are checked before they are used."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from capcore.checkpoints.files import File, Guarded, open_archive
from capcore.checkpoints.tensors import (
    DAMAGED,
    Checkpoint,
    CheckpointError,
    Tensor,
    checked_name,
    checked_shape,
    count,
    shown,
)

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npz(path: str | Path) -> Checkpoint:
    """Arrays of an ``.npz`` archive by name. An array is read each time it is asked for, and not kept in memory.

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
            tensors[name] = Tensor(name, "no array", (), lambda: np.zeros(0), "Not a NumPy array: ignored.")
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


def _header(where: str, file: IO[bytes]) -> tuple[np.dtype, tuple[int, ...], bool]:
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise CheckpointError(f"{where}: found npy format version {version}, expected 1.0 or 2.0. Save it again.")
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
