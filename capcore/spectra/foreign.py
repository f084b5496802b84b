"""ONNX and GGUF through their own packages, which are extras: imported where such a file is read.

Quantised weights of GGUF are dequantised by ``gguf``'s own function. Bytes of tensors are read as those of other files
are, piece by piece.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import count as counter
from pathlib import Path
from typing import Any

import numpy as np

from capcore.spectra.archives import File, Guarded
from capcore.spectra.memory import QUANTISED
from capcore.spectra.safetensors import bfloat16
from capcore.spectra.tensors import (
    DAMAGED,
    Checkpoint,
    CheckpointError,
    Tensor,
    checked_name,
    checked_shape,
    count,
    shown,
)

ONNX_TYPES = dict(enumerate((
    "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", ".", "bool", "float16", "float64", "uint32",
    "uint64",
), 1))  # fmt: skip
"""Types of ONNX that NumPy has. 16 is bfloat16."""


def read_onnx(path: str | Path) -> Checkpoint:
    """Initialisers and constants of an ONNX model by name, also those of branches, loops and functions and those in
    files beside it; quantised ones as their operators take them. Needs the package ``onnx``.

    Raises ``CheckpointError`` for files that are damaged or point elsewhere.
    """
    file, onnx = File(path), _package(Path(path), "onnx")
    tensors: dict[str, Tensor] = {}
    files = {file.path.name: file}

    def free(name: str) -> str:
        return next(each for i in counter(1) if (each := name if i == 1 else f"{name} ({i})") not in tensors)

    def collect(graph: Any, place: str, outer: Mapping[str, str]) -> None:
        """outer : name → name among all tensors, which differ where branches use a name twice."""
        own: dict[str, str] = {}
        scope = ChainMap(own, outer)  # type: ignore[arg-type]
        for name, entry in _constants(graph):
            if checked_name(name, str(path)) in own:
                raise CheckpointError(f"{path}: found two tensors {name!r}, expected one. {DAMAGED}")
            own[name] = free(f"{place}{name}" if name in tensors else name)
            tensors[own[name]] = _onnx_tensor(onnx, files, file.path, own[name], entry)
        for node in graph.node:
            tensors.update(of_operator(node, lambda name: tensors.get(scope.get(name, "")), free))
            if node.op_type in ("Identity", "Cast", "DequantizeLinear") and [*node.input, ""][0] in scope:
                own[node.output[0]] = scope[node.input[0]]  # the same weights for those that take them from here
            for each in node.attribute:
                for inner in [each.g] if each.HasField("g") else each.graphs:
                    collect(inner, f"{place}{node.name or node.op_type}.{each.name}.", scope)

    with Guarded(str(path)):
        model = onnx.load(str(path), load_external_data=False)
        collect(model.graph, "", {})
        for function in model.functions:
            collect(function, f"{function.name}.", {})

    def digest(step: Callable[[int], object]) -> dict[str, str]:
        return {name: value for each in files.values() for name, value in each.digest(step).items()}

    return Checkpoint(shown(file.path.name), "onnx", digest, sum(each.size for each in files.values()), tensors)


def _constants(graph: Any) -> list[tuple[str, Any]]:
    """Names with tensors, and with sparse ones, of a graph, or of a function, which has no initialisers."""
    found = [(each.name, each) for each in getattr(graph, "initializer", ())]
    found += [(each.values.name, each) for each in getattr(graph, "sparse_initializer", ())]
    said = [(node.output[0], each) for node in graph.node if node.op_type == "Constant" for each in node.attribute]
    found += [(name, each.t) for name, each in said if each.name == "value"]
    return found + [(name, each.sparse_tensor) for name, each in said if each.name == "sparse_value"]


def of_operator(
    node: Any, given: Callable[[str], Tensor | None], free: Callable[[str], str] = str
) -> dict[str, Tensor]:
    """Weights as an operator of ONNX takes them, by name: of recurrent layers, a matrix for each direction; quantised
    ones, as what they stand for, with their scales set aside. What it does not describe stays as it is.

    (codes − zero) × scale, of a tensor, along an axis or in blocks of it: ``DequantizeLinear``, ``QLinearConv``,
    ``QLinearMatMul``; ``ConvInteger`` and ``MatMulInteger`` with the scale that onnxruntime's quantiser names; and its
    ``MatMulNBits``, packed along inputs, lowest bits first. given : tensors by name; free : a name that none has.
    """
    said, names = {each.name: each.i for each in node.attribute}, [*node.input, *[""] * 8]
    if node.op_type in ("LSTM", "GRU", "RNN"):
        beside = [each for each in map(given, (names[i] for i in (3, 5, 6, 7))) if each]
        kept = {each.name: replace(each, aside="A bias or state of a recurrent layer.") for each in beside}
        matrices = [_directions(each, free) for each in map(given, names[1:3]) if each]
        return kept | {key: each for found in matrices for key, each in found.items()}
    if node.op_type in ("ConvInteger", "MatMulInteger"):
        names = [names[1], f"{names[1].removesuffix('_quantized')}_scale", names[3]]
    else:
        first = {"DequantizeLinear": 0, "QLinearConv": 3, "QLinearMatMul": 3, "MatMulNBits": 1}.get(node.op_type)
        names = ["", "", ""] if first is None else names[first : first + 3]
    weights, scale, zero = map(given, names)
    if weights is None or scale is None or not weights.dtype.startswith(("int", "uint", "float8")) or scale is weights:
        return {}
    parts = {each.name: replace(each, aside="A scale of quantised weights.") for each in (scale, zero) if each}
    packed, bits, length = node.op_type == "MatMulNBits", said.get("bits", 4), said.get("block_size", 0)
    shape = (said.get("N", 0), said.get("K", 0)) if packed else weights.shape
    axis = said.get("axis", 1) if node.op_type == "DequantizeLinear" else 0 if "Conv" in node.op_type else -1
    if (
        any(each.unread for each in (weights, *parts.values()))
        or len(shape) < 2
        or not -len(shape) <= axis < len(shape)
        or (names[2] and zero is None)
    ):
        return parts
    axis, length = axis % len(shape), length if length > 0 else 1
    blocks = tuple(-(-n // length) if i == axis else n for i, n in enumerate(shape))
    if packed:
        odd = weights.dtype != "uint8" or bits not in (2, 4, 8) or any(node.input[4:5]) or said.get("weight_prepacked")
        if odd or weights.size * 8 != count(blocks) * length * bits or scale.size != count(blocks):
            return parts
    elif scale.size != 1 and scale.shape != ((shape[axis],) if length == 1 else blocks):
        return parts

    def codes(tensor: Tensor, rows: int, columns: int) -> np.ndarray:
        raw = tensor.values()
        if raw.dtype == np.uint8:
            raw = (raw.reshape(rows, -1)[..., None] >> np.arange(0, 8, bits, dtype=np.uint8)) & np.uint8(2**bits - 1)
        return raw.reshape(rows, -1)[:, :columns].astype(np.float32)

    def spread(part: np.ndarray) -> np.ndarray:
        if part.size == 1 or part.ndim == 1:
            return part.reshape([part.size if i == axis else 1 for i in range(len(shape))])
        return part.take(np.arange(shape[axis]) // length, axis)

    @Guarded(repr(weights.name))
    def values() -> np.ndarray:
        found = codes(weights, *shape) if packed else weights.values().astype(np.float32)
        offset = (codes(zero, *blocks) if packed else zero.values().astype(np.float32)) if zero else None
        found -= packed * 2 ** (bits - 1) if offset is None else spread(offset)
        return found * spread(scale.values().astype(np.float32).reshape(blocks if packed else scale.shape))

    made = Tensor(weights.name, "float32", shape, values, stored=f"{weights.dtype}, {scale.name}")
    return {**parts, made.name: made}


def _directions(weights: Tensor, free: Callable[[str], str]) -> dict[str, Tensor]:
    """The matrices of (directions, gates · hidden, in), under a name each where they are two."""
    if len(weights.shape) != 3 or weights.shape[0] not in (1, 2):
        return {}
    names = [weights.name, free(f"{weights.name}.reverse")][: weights.shape[0]]
    return {
        name: replace(weights, name=name, shape=weights.shape[1:], values=partial(weights.read_one, i), one=None)
        for i, name in enumerate(names)
    }


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


def read_gguf(path: str | Path) -> Checkpoint:
    """Tensors of a GGUF file by name, (out, in) as PyTorch has them. Needs the package ``gguf``.

    Raises ``CheckpointError`` for files that are damaged.
    """
    file, gguf = File(path), _package(Path(path), "gguf")

    class Reader(gguf.GGUFReader):  # type: ignore[name-defined]
        """Which does not go on beyond the end of the file, however long a list is said to be."""

        def _get(self, offset: Any, dtype: Any, count: Any = 1, override_order: Any = None) -> Any:
            if int(offset) + int(count) * np.dtype(dtype).itemsize > file.size:
                raise ValueError("a list or text that is longer than the file")
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


def _package(path: Path, name: str) -> Any:
    if find_spec(name) is None:
        raise CheckpointError(f"{path}: found no package {name}, expected it for such a file: pip install {name}.")
    return import_module(name)
