"""GGUF files, read through the optional package ``gguf``, which is imported only when such a file is opened.

``gguf``'s own function dequantises the weights. Their bytes are read one tensor at a time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from capcore.checkpoints.files import File, Guarded, package
from capcore.checkpoints.tensors import Checkpoint, Tensor, checked_name, checked_shape, shown


def read_gguf(path: str | Path) -> Checkpoint:
    """Tensors of a GGUF file by name, (out, in) as PyTorch has them. Needs the package ``gguf``.

    Raises ``CheckpointError`` for files that are damaged.
    """
    file, gguf = File(path), package(Path(path), "gguf")

    class Reader(gguf.GGUFReader):  # type: ignore[name-defined]
        """A reader that stops at the end of the file, even if the header claims a longer list."""

        def _get(self, offset: Any, dtype: Any, count: Any = 1, override_order: Any = None) -> Any:
            if int(offset) + int(count) * np.dtype(dtype).itemsize > file.size:
                raise ValueError("a list or text longer than the file")
            return super()._get(offset, dtype, int(count), override_order)

    tensors: dict[str, Tensor] = {}
    with Guarded(str(path)):
        for each in Reader(str(path)).tensors:
            name = checked_name(each.name, str(path))
            shape = checked_shape([int(length) for length in reversed(each.shape)], f"{path}: {name!r}")
            tensors[name] = _gguf_tensor(gguf, file, name, shape, each)
    return Checkpoint(shown(file.path.name), "gguf", file.digest, file.size, tensors)


def _gguf_tensor(gguf: Any, file: File, name: str, shape: tuple[int, ...], entry: Any) -> Tensor:
    kind, begin, n_bytes = entry.tensor_type, int(entry.data_offset), int(entry.n_bytes)
    plain = {"F32": "float32", "F16": "float16", "F64": "float64", "I8": "int8", "I16": "int16", "I32": "int32"}
    dtype, first = plain.get(kind.name), shape[0] if shape else 1

    @Guarded(f"{file.path}: {name!r}")
    def part(at: int, size: int, form: tuple[int, ...]) -> np.ndarray:
        raw = file.read(at, at + size)
        if dtype:
            return raw.view(dtype).reshape(form)
        return gguf.quants.dequantize(raw.reshape(*form[:-1], -1), kind).reshape(form)

    return Tensor(
        name,
        dtype or ("bfloat16" if kind.name == "BF16" else "float32"),
        shape,
        lambda: part(begin, n_bytes, shape),
        stored="" if dtype or kind.name == "BF16" else f"GGUF {kind.name}",
        one=(lambda i: part(begin + i * (n_bytes // first), n_bytes // first, shape[1:])) if len(shape) > 2 else None,
    )
