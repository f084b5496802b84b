"""ONNX files, read through the optional package ``onnx``, which is imported only when such a file is opened.

Values stored in files beside the model are read one tensor at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from capcore.checkpoints.files import File, Guarded, package
from capcore.checkpoints.number_types import QUANTISED, bfloat16
from capcore.checkpoints.onnx_graph import weights_of
from capcore.checkpoints.tensors import Tensor, checked_shape, damaged

_INTEGERS = [f"{kind}{bits}" for kind in ("INT", "UINT") for bits in (8, 16, 32, 64)]
TYPES = {kind: kind.lower() for kind in ("FLOAT16", "BFLOAT16", "BOOL", *_INTEGERS)}
TYPES |= {"FLOAT": "float32", "DOUBLE": "float64"}
"""ONNX's name of a type → NumPy's; NumPy lacks bfloat16."""


def read_onnx(file: File) -> Iterator[Tensor]:
    """Initialisers and constants of an ONNX model, in the form in which its operators use them
    (:mod:`capcore.checkpoints.onnx_graph`). Those of branches, loops and functions are included, and so are values
    stored in files beside the model.

    Raises ``CheckpointError`` for files that are damaged or point outside their folder.
    """
    onnx = package(file.path, "onnx")
    model = onnx.load(str(file.path), load_external_data=False)
    yield from weights_of(model, str(file.path), partial(_tensor, onnx, file)).values()


def _tensor(onnx: Any, file: File, name: str, entry: Any) -> Tensor:
    where = f"{file.path}: {name!r}"
    shape = checked_shape(list(entry.dims), where)
    if not hasattr(entry, "data_type"):
        return Tensor(name, "sparse", shape, unread="Sparse: save plain weights.")
    stated = onnx.TensorProto.DataType.Name(entry.data_type)
    if stated not in TYPES:
        return Tensor(name, stated.lower().replace("float8e", "float8_e"), shape, unread=QUANTISED)
    dtype, brain = TYPES[stated], stated == "BFLOAT16"
    kind = np.dtype("<u2" if brain else dtype)
    outside, size = entry.data_location == onnx.TensorProto.EXTERNAL, math.prod(shape) * kind.itemsize
    place = {item.key: item.value for item in entry.external_data}
    other, begin = file.beside(place.get("location", "")) if outside else file, int(place.get("offset", 0))
    if outside and (begin < 0 or begin + size > other.size or int(place.get("length", size)) != size):
        raise damaged(where, place, f"{size} bytes within {other.size}")

    @Guarded(where)
    def values() -> np.ndarray:
        if not outside:
            return np.asarray(onnx.numpy_helper.to_array(entry), "f4" if brain else dtype).reshape(shape)
        raw = other.read(begin, begin + size).view(kind).reshape(shape)
        return bfloat16(raw) if brain else raw

    return Tensor(name, dtype, shape, values)
