"""The safetensors format, read with NumPy alone: eight bytes with the header's length, a JSON header, the values.

A header may be wrong or malicious, so it is checked against the file before any value is read. The tensors must cover
the rest of the file from end to end, without overlaps or gaps, as the format demands.
"""

import math
from collections.abc import Iterator

import numpy as np

from capcore.checkpoints.files import File, strict_json
from capcore.checkpoints.number_types import FLOAT4, QUANTISED, bfloat16
from capcore.checkpoints.tensors import CheckpointError, Tensor, brief, checked_shape, damaged

LONGEST_HEADER = 100_000_000  # bytes, the format's own limit; parsed JSON takes up to twenty times as much memory
TYPES = {
    **{f"F{8 * n}": (f"float{8 * n}", f"<f{n}", 8 * n) for n in (8, 4, 2)},
    **{f"I{8 * n}": (f"int{8 * n}", f"<i{n}", 8 * n) for n in (8, 4, 2, 1)},
    **{f"U{8 * n}": (f"uint{8 * n}", f"<u{n}", 8 * n) for n in (8, 4, 2, 1)},
    "BF16": ("bfloat16", "<u2", 16), "C64": ("complex64", "<c8", 64), "BOOL": ("bool", "|b1", 8),
    "F8_E4M3": ("float8_e4m3fn", "|u1", 8), "F8_E5M2": ("float8_e5m2", "|u1", 8),
    "F8_E8M0": ("float8_e8m0fnu", "|u1", 8), "F8_E4M3FNUZ": ("float8_e4m3fnuz", "|u1", 8),
    "F8_E5M2FNUZ": ("float8_e5m2fnuz", "|u1", 8), "F4": (FLOAT4, "|u1", 4),
    "F6_E2M3": ("float6_e2m3", "", 6), "F6_E3M2": ("float6_e3m2", "", 6),
}  # fmt: skip
"""Type in the file → its name, the NumPy type that holds its bits, if one does, and the number of these."""


def read_safetensors(file: File) -> Iterator[Tensor]:
    """The tensors in the order of their values.

    Raises ``CheckpointError`` for a file that is truncated or does not match its header.
    """
    header, start = _header(file)
    reached = start
    for name in sorted(header, key=lambda name: header[name]["data_offsets"]):
        where, entry = f"{file.path}: {name!r}", header[name]
        if entry["dtype"] not in TYPES:
            known = ", ".join(TYPES)
            raise CheckpointError(f"{where}: found type {brief(entry['dtype'])}, expected one of {known}. Convert it.")
        end = reached + _n_bytes(entry["dtype"], checked_shape(entry["shape"], where))
        if entry["data_offsets"] != [reached - start, end - start]:
            expected = f"{[reached - start, end - start]}, since tensors lie end to end"
            raise damaged(where, f"data_offsets {brief(entry['data_offsets'])}", expected)
        yield _tensor(file, name, entry["dtype"], tuple(entry["shape"]), reached)
        reached = end
    if reached != file.size:
        raise damaged(file.path, f"{file.size} bytes", f"{reached} as the header says")


def _header(file: File) -> tuple[dict[str, dict], int]:
    """Entry of each tensor by name, and where the values start."""
    length, most = int(file.read(0, 8).view("<u8")[0]) if file.size > 8 else 0, min(LONGEST_HEADER, file.size - 8)
    if not 2 <= length <= most:
        raise damaged(file.path, f"a header of {length} bytes in a file of {file.size}", f"2 to {most}")
    header = strict_json(file.read(8, 8 + length).tobytes(), f"{file.path}: its header")
    if not isinstance(header, dict):
        raise damaged(file.path, f"{brief(header)} as header", "names of tensors")
    header.pop("__metadata__", None)
    for name, entry in header.items():
        if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= {*entry}:
            raise damaged(f"{file.path}: {name!r}", brief(entry), "dtype, shape and data_offsets")
    return header, 8 + length


def _n_bytes(code: str, shape: tuple[int, ...]) -> int:
    return -(-math.prod(shape) * TYPES[code][2] // 8)


def _tensor(file: File, name: str, code: str, shape: tuple[int, ...], begin: int) -> Tensor:
    dtype, kind, _ = TYPES[code]
    odd = dtype == FLOAT4 and (not shape or shape[-1] % 2)
    if odd or not kind:
        return Tensor(name, dtype, shape, unread=QUANTISED)

    def values() -> np.ndarray:
        packed = (*shape[:-1], shape[-1] // 2) if dtype == FLOAT4 else shape
        array = file.read(begin, begin + _n_bytes(code, shape)).view(kind).reshape(packed)
        return bfloat16(array) if dtype == "bfloat16" else array

    unread = QUANTISED if dtype.startswith("float8") or dtype == FLOAT4 else ""
    return Tensor(name, dtype, shape, values, unread)
