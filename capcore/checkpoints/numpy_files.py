"""NumPy's ``.npy`` and ``.npz`` files, read without pickles; stated sizes are checked before they are used.

``numpy.savez`` stores bfloat16 of JAX as two bytes of no type, which are read as bfloat16.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from typing import IO, Literal
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from capcore.checkpoints.files import File, guarded, open_archive
from capcore.checkpoints.number_types import bfloat16, is_bfloat16
from capcore.checkpoints.tensors import CheckpointError, Tensor, checked_shape, damaged

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npz(file: File) -> Iterator[Tensor]:
    """Arrays of an ``.npz`` archive. An array is read each time it is asked for, and not kept in memory.

    Raises ``CheckpointError`` for archives that are damaged, encrypted, expand to far more than their size, or hold
    Python objects.
    """
    archive = open_archive(file)
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name == info.filename:
            yield Tensor(name, "no array", (), unread="Not a NumPy array: ignored.")
            continue
        where = f"{file.path}: {name!r}"
        with archive.open(info) as member:
            dtype, shape, _ = _header(where, member, info.file_size)
        yield _tensor(name, dtype, shape, partial(guarded(where)(_member), archive, info))


def read_npy(file: File) -> Iterator[Tensor]:
    """The array of an ``.npy`` file, under the name of the file."""
    head = BytesIO(file.read(0, min(file.size, 2**16)).tobytes())
    dtype, shape, order = _header(str(file.path), head, file.size)

    def values() -> np.ndarray:
        return file.read(head.tell(), file.size).view(dtype).reshape(shape, order=order)

    yield _tensor(file.path.stem, dtype, shape, values)


def _member(archive: ZipFile, info: ZipInfo) -> np.ndarray:
    with archive.open(info) as member:
        return npy.read_array(member, allow_pickle=False)


def _header(where: str, file: IO[bytes], n_bytes: int) -> tuple[np.dtype, tuple[int, ...], Literal["C", "F"]]:
    """Type, shape and order of an array that takes ``n_bytes`` together with its header."""
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise CheckpointError(f"{where}: found npy format version {version}, expected 1.0 or 2.0. Save it again.")
    shape, fortran, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise CheckpointError(f"{where}: found Python objects, which could execute code; expected plain arrays.")
    needed = math.prod(checked_shape(shape, where)) * dtype.itemsize
    if needed != n_bytes - file.tell():
        raise damaged(where, f"{n_bytes - file.tell()} bytes for the shape {shape} of {dtype}", str(needed))
    return dtype, shape, "F" if fortran else "C"


def _tensor(name: str, dtype: np.dtype, shape: tuple[int, ...], values: Callable[[], np.ndarray]) -> Tensor:
    if is_bfloat16(dtype):
        return Tensor(name, "bfloat16", shape, lambda: bfloat16(values().view("<u2")))
    unread = "" if dtype.kind in "fiub" else "Not real numbers: save weights as floating-point arrays."
    return Tensor(name, dtype.name, shape, values, unread)
