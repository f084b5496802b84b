"""The safetensors format, read with NumPy alone: eight bytes of length, a JSON header, the values; and its index files.

A header may lie, so all that it says is checked against the file before a value is touched: its length, every type,
every shape against the bytes set aside for it, and that these cover the rest of the file with no overlap and no hole,
as the format demands. Values are views of the mapped file, so that reading a large file costs no memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from capcore.spectra.archives import map_file, sha256, strict_json
from capcore.spectra.tensors import (
    DAMAGED,
    Checkpoint,
    CheckpointError,
    Tensor,
    brief,
    checked_name,
    checked_shape,
    count,
    damaged,
)

INDEX = ".safetensors.index.json"
LARGEST_INDEX = 2**24  # bytes
LONGEST_HEADER = 2**24  # bytes: a hundred thousand tensors; parsed JSON takes up to twenty times as much memory
NUMPY = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1", "BOOL": "|b1", "C64": "<c8",
}  # fmt: skip
LISTED_ONLY = {
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4,
}  # fmt: skip
"""Types for quantised weights, in bits: their scales stand elsewhere, so that the numbers alone mean nothing."""
QUANTISED = "Quantised weights have their scales elsewhere: analyse the file they were made of."


def read_safetensors(path: str | Path) -> Checkpoint:
    """Tensors of a ``.safetensors`` file by name, in the order of the header.

    Raises ``CheckpointError`` for a file that is cut short or whose header does not describe it.
    """
    path = Path(path)
    data = map_file(path)
    start = 8 + _header_length(path, data)
    header = strict_json(data[8:start].tobytes(), f"{path}: its header")
    if not isinstance(header, dict):
        raise damaged(path, f"{brief(header)} as header", "names of tensors")
    metadata = _metadata(path, header.pop("__metadata__", {}))
    values = data[start:]
    tensors, spans = {}, []
    for name, entry in header.items():
        where = f"{path}: {checked_name(name, str(path))!r}"
        dtype, shape, (begin, end) = _entry(where, entry, len(values))
        tensors[name] = _tensor(name, dtype, shape, values[begin:end])
        spans.append((begin, end, name))
    _covers(path, sorted(spans), len(values))
    return Checkpoint(path.name, "safetensors", sha256(data), len(data), tensors, metadata)


def read_shards(index: Path) -> Checkpoint:
    """The checkpoint of an index: every tensor where the index says, and no other.

    Raises ``CheckpointError`` where the files and the index disagree.
    """
    weights = weight_map(index)
    parts = {name: read_safetensors(index.parent / name) for name in sorted(set(weights.values()))}
    tensors: dict[str, Tensor] = {}
    for part, checkpoint in parts.items():
        for name, tensor in checkpoint.tensors.items():
            if weights.get(name) != part:
                raise damaged(index, f"{name!r} in {part}", f"it in {brief(weights.get(name))}")
            tensors[name] = tensor
    missing = sorted(set(weights) - set(tensors))
    if missing:
        where = weights[missing[0]]
        raise CheckpointError(f"{index}: found no {brief(missing[0])} in {where}, expected it there. {DAMAGED}")
    hashes = {name: checkpoint.sha256 for name, checkpoint in parts.items()}
    digest = hashlib.sha256("".join(hashes.values()).encode()).hexdigest()
    size = sum(checkpoint.size for checkpoint in parts.values())
    return Checkpoint(index.name.removesuffix(INDEX), "safetensors", digest, size, tensors, parts=hashes)


def weight_map(index: Path) -> dict[str, str]:
    """Tensor → name of the file beside the index that holds it.

    Raises ``CheckpointError`` for an index that is malformed or names files elsewhere.
    """
    data = map_file(index)
    if len(data) > LARGEST_INDEX:
        raise CheckpointError(f"{index}: found {len(data)} bytes, expected at most {LARGEST_INDEX}. {DAMAGED}")
    found = strict_json(data.tobytes(), str(index))
    weights = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(weights, dict) or not weights or not all(isinstance(part, str) for part in weights.values()):
        raise CheckpointError(f"{index}: found {brief(found)}, expected a weight_map from tensors to files. {DAMAGED}")
    for part in set(weights.values()):
        if Path(part).name != part or not part.endswith(".safetensors") or not part.isprintable():
            raise CheckpointError(
                f"{index}: found the file {brief(part)}, expected safetensors files beside the index. {DAMAGED}"
            )
    return weights


def bfloat16(words: np.ndarray) -> np.ndarray:
    """float32 values of bfloat16 numbers given as 16-bit words: the upper half of a float32, so exact.

    >>> bfloat16(np.array([0x3FC0], np.uint16)).tolist()
    [1.5]
    """
    return (words.astype(np.uint32) << 16).view(np.float32)


def _header_length(path: Path, data: np.ndarray) -> int:
    if len(data) < 10:
        raise damaged(path, f"{len(data)} bytes", "more of a safetensors file")
    length, most = int(data[:8].view("<u8")[0]), min(LONGEST_HEADER, len(data) - 8)
    if not 2 <= length <= most:
        raise damaged(path, f"a header of {length} bytes in a file of {len(data)}", f"2 to {most}")
    return length


def _metadata(path: Path, found: Any) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise damaged(path, f"{brief(found)} as __metadata__", "texts by name")
    return found


def _entry(where: str, entry: Any, n_bytes: int) -> tuple[str, tuple[int, ...], tuple[int, int]]:
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= set(entry):
        raise damaged(where, brief(entry), "dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], checked_shape(entry["shape"], where), entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in {*NUMPY, *LISTED_ONLY, "BF16"}:
        known = ", ".join([*NUMPY, "BF16", *LISTED_ONLY])
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
    return 16 if dtype == "BF16" else 8 * np.dtype(NUMPY[dtype]).itemsize


def _tensor(name: str, dtype: str, shape: tuple[int, ...], raw: np.ndarray) -> Tensor:
    def plain() -> np.ndarray:
        return raw.view(NUMPY[dtype]).reshape(shape)

    def brain() -> np.ndarray:
        return bfloat16(raw.view("<u2")).reshape(shape)

    if dtype in LISTED_ONLY:
        kind = "float" + dtype[1:].lower()
        return Tensor(name, kind, shape, plain, QUANTISED)
    read: Callable[[], np.ndarray] = brain if dtype == "BF16" else plain
    return Tensor(name, "bfloat16" if dtype == "BF16" else np.dtype(NUMPY[dtype]).name, shape, read)


def _covers(path: Path, spans: list[tuple[int, int, str]], n_bytes: int) -> None:
    """Refuse values that two tensors share, and bytes that belong to none: something could hide there."""
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
