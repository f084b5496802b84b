"""The safetensors format, read with NumPy alone: eight bytes with the header's length, a JSON header, the values.

A header may be wrong or malicious, so it is checked against the file before any value is read: its length, every type,
and every shape against the number of bytes given for it. Together the tensors must cover the rest of the file without
overlaps or gaps, as the format demands. The values of a tensor are read only on request.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from capcore.checkpoints.files import File, strict_json
from capcore.checkpoints.number_types import FLOAT4, QUANTISED, bfloat16
from capcore.checkpoints.tensors import (
    DAMAGED,
    Checkpoint,
    CheckpointError,
    Tensor,
    brief,
    checked_name,
    checked_shape,
    count,
    damaged,
    shown,
)

LONGEST_HEADER = 100_000_000  # bytes, the format's own limit; parsed JSON takes up to twenty times as much memory
NUMPY = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1", "BOOL": "|b1", "C64": "<c8",
}  # fmt: skip
RAW = {"BF16": "<u2", "F8_E4M3": "u1", "F8_E5M2": "u1", "F8_E8M0": "u1", "F8_E4M3FNUZ": "u1", "F8_E5M2FNUZ": "u1"}
"""Types that NumPy lacks → the NumPy type that holds their bits."""
RAW_NAMES = {
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz",
}  # fmt: skip
LISTED_ONLY = {"F6_E2M3": 6, "F6_E3M2": 6, "F4": 4}
"""Types of less than a byte → their bits. F4 is read as bytes, each of two numbers; the others are only listed."""


def read_safetensors(path: str | Path) -> Checkpoint:
    """Tensors of a ``.safetensors`` file by name, in the order of the header.

    Raises ``CheckpointError`` for a file that is truncated or does not match its header.
    """
    path = Path(path)
    file = File(path)
    start = 8 + _header_length(file)
    header = strict_json(file.read(8, start).tobytes(), f"{path}: its header")
    if not isinstance(header, dict):
        raise damaged(path, f"{brief(header)} as header", "names of tensors")
    metadata = _metadata(path, header.pop("__metadata__", {}))
    n_bytes = file.size - start
    tensors, spans = {}, []
    for name, entry in header.items():
        where = f"{path}: {checked_name(name, str(path))!r}"
        dtype, shape, (begin, end) = _entry(where, entry, n_bytes)
        tensors[name] = _tensor(name, dtype, shape, file, start + begin)
        spans.append((begin, end, name))
    _covers(path, sorted(spans), n_bytes)
    return Checkpoint(shown(path.name), "safetensors", file.digest, file.size, tensors, metadata)


def _header_length(file: File) -> int:
    if file.size < 10:
        raise damaged(file.path, f"{file.size} bytes", "more of a safetensors file")
    length, most = int(file.read(0, 8).view("<u8")[0]), min(LONGEST_HEADER, file.size - 8)
    if not 2 <= length <= most:
        raise damaged(file.path, f"a header of {length} bytes in a file of {file.size}", f"2 to {most}")
    return length


def _metadata(path: Path, found: Any) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise damaged(path, f"{brief(found)} as __metadata__", "texts by name")
    return found


def _entry(where: str, entry: Any, n_bytes: int) -> tuple[str, tuple[int, ...], tuple[int, int]]:
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= set(entry):
        raise damaged(where, brief(entry), "dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], checked_shape(entry["shape"], where), entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in {*NUMPY, *RAW, *LISTED_ONLY}:
        known = ", ".join([*NUMPY, *RAW, *LISTED_ONLY])
        raise CheckpointError(f"{where}: found the type {brief(dtype)}, expected one of {known}. Convert the file.")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(type(offset) is int for offset in offsets):
        raise damaged(where, f"offsets {brief(offsets)}", "two whole numbers")
    begin, end = offsets
    if not 0 <= begin <= end <= n_bytes:
        raise damaged(where, f"offsets {brief(offsets)}", f"a range within the {n_bytes} bytes of values")
    needed = count(shape) * _bits(dtype)
    if needed != 8 * (end - begin):
        raise damaged(where, f"{end - begin} bytes for the shape {brief(shape)} of {dtype}", brief(-(-needed // 8)))
    return dtype, shape, (begin, end)


def _bits(dtype: str) -> int:
    if dtype in LISTED_ONLY:
        return LISTED_ONLY[dtype]
    return 8 * np.dtype(RAW.get(dtype) or NUMPY[dtype]).itemsize


def _tensor(name: str, dtype: str, shape: tuple[int, ...], file: File, begin: int) -> Tensor:
    kind, size = RAW.get(dtype, NUMPY.get(dtype, "u1")), -(-count(shape) * _bits(dtype) // 8)

    def read(at: int, n_bytes: int, part: tuple[int, ...]) -> np.ndarray:
        found = file.read(at, at + n_bytes).view(kind).reshape(part)
        return bfloat16(found) if dtype == "BF16" else found

    def one(i: int) -> np.ndarray:
        step = size // shape[0]
        return read(begin + i * step, step, shape[1:])

    def values() -> np.ndarray:
        return read(begin, size, shape)

    if dtype == "F4" and shape and shape[-1] % 2 == 0:
        return Tensor(name, FLOAT4, shape, lambda: read(begin, size, (*shape[:-1], shape[-1] // 2)), QUANTISED)
    if dtype in LISTED_ONLY:
        return Tensor(name, "float" + dtype[1:].lower(), shape, lambda: np.zeros(0), QUANTISED)
    if dtype in RAW:
        name_of_type = "bfloat16" if dtype == "BF16" else RAW_NAMES[dtype]
        return Tensor(name, name_of_type, shape, values, "" if dtype == "BF16" else QUANTISED, one=one)
    return Tensor(name, np.dtype(NUMPY[dtype]).name, shape, values, one=one)


def _covers(path: Path, spans: list[tuple[int, int, str]], n_bytes: int) -> None:
    """Refuse overlapping tensors, and bytes that belong to no tensor, since something could be hidden there."""
    reached, before = 0, "the header"
    for begin, end, name in spans:
        if begin != reached:
            what = "overlap" if begin < reached else "leave bytes between them"
            raise CheckpointError(
                f"{path}: found that {before} and {name!r} {what}, expected them end to end. {DAMAGED}"
            )
        reached, before = end, repr(name)
    if reached != n_bytes:
        raise damaged(path, f"{n_bytes - reached} bytes after the last tensor", "none")
