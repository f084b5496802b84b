"""ONNX files, read through the optional package ``onnx``, which is imported only when such a file is opened.

Values stored in files beside the model are read one tensor at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from capcore.checkpoints.files import File, Guarded, package
from capcore.checkpoints.number_types import QUANTISED, bfloat16
from capcore.checkpoints.onnx_graph import weights_of
from capcore.checkpoints.tensors import (
    DAMAGED,
    Checkpoint,
    CheckpointError,
    Tensor,
    checked_shape,
    shown,
)

ONNX_TYPES = dict(enumerate((
    "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", ".", "bool", "float16", "float64", "uint32",
    "uint64",
), 1))  # fmt: skip
"""ONNX's type numbers → NumPy types. Number 16 is bfloat16, which NumPy lacks."""


def read_onnx(path: str | Path) -> Checkpoint:
    """Initialisers and constants of an ONNX model by name, in the form in which its operators use them
    (:mod:`capcore.checkpoints.onnx_graph`). Those of branches, loops and functions are included, and so are values
    stored in files beside the model. Needs the package ``onnx``.

    Raises ``CheckpointError`` for files that are damaged or point outside their folder.
    """
    file, onnx = File(path), package(Path(path), "onnx")
    files = {file.path.name: file}
    with Guarded(str(path)):
        model = onnx.load(str(path), load_external_data=False)
        tensors = weights_of(model, str(path), partial(_onnx_tensor, onnx, files, file.path))

    def digest(step: Callable[[int], object]) -> dict[str, str]:
        return {name: value for each in files.values() for name, value in each.digest(step).items()}

    return Checkpoint(shown(file.path.name), "onnx", digest, sum(each.size for each in files.values()), tensors)


def _onnx_tensor(onnx: Any, files: dict[str, File], path: Path, name: str, entry: Any) -> Tensor:
    where, shape = f"{path}: {name!r}", checked_shape(list(entry.dims), f"{path}: {name!r}")
    if not hasattr(entry, "data_type"):
        return Tensor(name, "sparse", shape, lambda: np.zeros(0), "Sparse: save plain weights.")
    brain = entry.data_type == 16
    dtype = "bfloat16" if brain else ONNX_TYPES.get(entry.data_type, ".")
    if dtype == ".":
        kind = onnx.TensorProto.DataType.Name(entry.data_type).lower()
        return Tensor(name, kind.replace("float8e", "float8_e"), shape, lambda: np.zeros(0), QUANTISED)
    size = int(np.prod(shape, dtype=object)) * (2 if brain else np.dtype(dtype).itemsize)
    beside = {each.key: each.value for each in entry.external_data}
    if entry.data_location == onnx.TensorProto.EXTERNAL:
        location = beside.get("location", "")
        if Path(location).name != location or not location.isprintable():
            raise CheckpointError(f"{where}: found its values in {location!r}, expected a file beside the model.")
        file = files.setdefault(location, File(path.parent / location)) if location else files[path.name]
        begin = int(beside.get("offset", 0))
        if begin < 0 or begin + size > file.size or int(beside.get("length", size)) != size:
            raise CheckpointError(f"{where}: found {beside}, expected {size} bytes within {file.size}. {DAMAGED}")

    @Guarded(where)
    def values() -> np.ndarray:
        if entry.data_location != onnx.TensorProto.EXTERNAL:
            return np.asarray(onnx.numpy_helper.to_array(entry), "f4" if brain else dtype).reshape(shape)
        raw = file.read(begin, begin + size)
        return (bfloat16(raw.view("<u2")) if brain else raw.view(dtype)).reshape(shape)

    return Tensor(name, dtype, shape, values)
