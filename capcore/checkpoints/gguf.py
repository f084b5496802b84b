"""GGUF files, read through the optional package ``gguf``, which is imported only when such a file is opened.

``gguf``'s own function dequantises the weights. Their bytes are read one tensor at a time.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from capcore.checkpoints.files import File, guarded, package
from capcore.checkpoints.tensors import Tensor

PLAIN = {"F32": "float32", "F16": "float16", "F64": "float64", "I8": "int8", "I16": "int16", "I32": "int32"}


def read_gguf(file: File) -> Iterator[Tensor]:
    """The tensors, (out, in) as PyTorch has them."""
    gguf = package(file.path, "gguf")

    class Reader(gguf.GGUFReader):  # type: ignore[name-defined]
        """A reader that stops at the end of the file, even if the header claims a longer list."""

        def _get(self, offset: Any, dtype: Any, count: Any = 1, override_order: Any = None) -> Any:
            if int(offset) + int(count) * np.dtype(dtype).itemsize > file.size:
                raise ValueError("a list or text longer than the file")
            return super()._get(offset, dtype, int(count), override_order)

    for entry in Reader(str(file.path)).tensors:
        yield _tensor(gguf, file, entry)


def _tensor(gguf: Any, file: File, entry: Any) -> Tensor:
    kind, begin, n_bytes = entry.tensor_type, int(entry.data_offset), int(entry.n_bytes)
    shape = tuple(int(length) for length in reversed(entry.shape))
    plain, brain = PLAIN.get(kind.name), kind.name == "BF16"

    @guarded(f"{file.path}: {entry.name!r}")
    def values() -> np.ndarray:
        raw = file.read(begin, begin + n_bytes)
        if plain:
            return raw.view(plain).reshape(shape)
        return gguf.quants.dequantize(raw.reshape(*shape[:-1], -1), kind).reshape(shape)

    dtype = plain or ("bfloat16" if brain else "float32")
    stored = "" if plain or brain else f"GGUF {kind.name}"
    return Tensor(entry.name, dtype, shape, values, stored=stored)
