"""ONNX files, read through the optional package ``onnx``, which is imported only when such a file is opened.

Names in an ONNX file say little, but its graph says what each tensor is for. A tensor is a layer only if an operator of
``WEIGHTS`` takes it, directly or after operators that keep its entries. All others are set aside, with the names of the
operators that take them. Values stored in files beside the model are read one tensor at a time.
"""

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from math import prod
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from capcore.checkpoints.files import File, guarded, package
from capcore.checkpoints.number_types import QUANTISED, bfloat16
from capcore.checkpoints.tensors import CheckpointError, Tensor, checked_name, checked_shape, damaged

TYPES = {"float": "float32", "double": "float64"}
"""ONNX's name of a type → NumPy's, where these differ."""
CONVOLUTIONS = ("Conv", "FusedConv", "ConvTranspose", "DeformConv", "ConvInteger", "QLinearConv")
RECURRENT = ("LSTM", "GRU", "RNN")
WEIGHTS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("MatMul", "Gemm", "MatMulInteger", "FusedMatMul", "FusedGemm"), (0, 1)),
    **dict.fromkeys((*CONVOLUTIONS, "MatMulNBits", "Attention", "QAttention", "DynamicQuantizeMatMul"), (1,)),
    **dict.fromkeys(RECURRENT, (1, 2)), "QLinearConv": (3,), "QLinearMatMul": (0, 3), "Einsum": (0, 1, 2, 3),
    "Gather": (0,),
}  # fmt: skip
"""Operator → which of its inputs are weights. The third input of Gemm and of Conv is a bias, so it is not listed."""
CODES = {"DequantizeLinear": 0, "QLinearConv": 3, "QLinearMatMul": 3, "ConvInteger": 1, "MatMulInteger": 1}
"""Operator → which of its inputs holds quantised weights."""
SAME = ("Identity", "Cast", "DequantizeLinear", "QuantizeLinear", "Squeeze", "Unsqueeze")
"""Operators whose output has the same entries as their first input in the same order, up to axes of length one."""
KEPT = (*SAME, "Transpose", "Reshape", "Flatten")
"""Operators that keep all entries of their first input, but may rearrange them."""


def read_onnx(file: File) -> Iterator[Tensor]:
    """Initialisers and constants of an ONNX model, in the form in which its operators use them. Those of branches and
    loops are included, and so are values stored in files beside the model.

    Raises ``CheckpointError`` for files that are damaged, point outside their folder, or define functions of their own.
    """
    onnx = package(file.path, "onnx")
    model = onnx.load(str(file.path), load_external_data=False)
    if model.functions:
        advice = "Save it after onnx.inliner.inline_local_functions."
        raise CheckpointError(f"{file.path}: found {len(model.functions)} functions, expected operators. {advice}")
    yield from weights_of(model.graph, str(file.path), partial(_tensor, onnx, file))


def _tensor(onnx: Any, file: File, name: str, entry: Any) -> Tensor:
    where = f"{file.path}: {name!r}"
    shape = checked_shape(list(entry.dims), where)
    if not hasattr(entry, "data_type"):
        return Tensor(name, "sparse", shape, unread="Sparse: save plain weights.")
    stated = onnx.TensorProto.DataType.Name(entry.data_type).lower().replace("float8e", "float8_e")
    dtype, brain = TYPES.get(stated, stated), stated == "bfloat16"
    if not brain and dtype not in np.sctypeDict:
        return Tensor(name, dtype, shape, unread=QUANTISED)
    kind = np.dtype("<u2" if brain else dtype)
    outside, size = entry.data_location == onnx.TensorProto.EXTERNAL, prod(shape) * kind.itemsize
    place = {item.key: item.value for item in entry.external_data}
    other, begin = file.beside(place.get("location", "")) if outside else file, int(place.get("offset", 0))
    if outside and (begin < 0 or begin + size > other.size or int(place.get("length", size)) != size):
        raise damaged(where, place, f"{size} bytes within {other.size}")

    @guarded(where)
    def values() -> np.ndarray:
        if not outside:
            return np.asarray(onnx.numpy_helper.to_array(entry), "f4" if brain else dtype).reshape(shape)
        raw = other.read(begin, begin + size).view(kind).reshape(shape)
        return bfloat16(raw) if brain else raw

    return Tensor(name, dtype, shape, values)


def weights_of(graph: Any, path: str, read: Callable[[str, Any], Tensor]) -> list[Tensor]:
    """Tensors of a graph by unique names. Those that are not weights are set aside, or marked as unread if the graph
    cannot be followed.

    read : makes a tensor from a name and an entry of the file. Raises ``CheckpointError`` for duplicate names.
    """
    followed = _Graph(path, read)
    followed.visit(graph, "", ChainMap())
    return [followed.explained(key, tensor) for key, tensor in followed.tensors.items()]


class _Value(NamedTuple):
    """What a name refers to: one tensor, possibly with its axes rearranged, or something computed from several."""

    keys: tuple[str, ...]
    tensor: Tensor | None = None


class _Graph:
    """All tensors by unique names, which of them operators take as weights, and from which weights are computed."""

    def __init__(self, path: str, read: Callable[[str, Any], Tensor]) -> None:
        self.path, self.read = path, read
        self.tensors: dict[str, Tensor] = {}
        self.taken: set[str] = set()
        self.sources: set[str] = set()
        self.users: dict[str, set[str]] = {}

    def free(self, name: str) -> str:
        """Return a name that no tensor has yet."""
        names = (name if i == 1 else f"{name} ({i})" for i in count(1))
        return next(free for free in names if free not in self.tensors)

    def visit(self, graph: Any, place: str, outer: ChainMap[str, _Value]) -> None:
        """Follow the nodes of a graph. outer : names of the enclosing scopes."""
        scope = outer.new_child()
        for name, entry in _constants(graph):
            if checked_name(name, self.path) in scope.maps[0]:
                raise damaged(self.path, f"two tensors {name!r}", "one")
            key = self.free(f"{place}{name}" if name in self.tensors else name)
            self.tensors[key] = self.read(key, entry)
            scope[name] = _Value((key,), self.tensors[key])
        for node in graph.node:
            values = [scope.get(name) for name in node.input]
            if parts := quantised_inputs(node):
                values[parts[0]] = self.numbers(node, *(scope.get(name) for name in parts[1:]))
            self.take(node, values)
            if node.op_type != "Constant" and (value := self.output(node, values)):
                scope.update({name: value for name in node.output if name})
            for attribute in node.attribute:
                for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                    self.visit(inner, f"{place}{node.name or node.op_type}.{attribute.name}.", scope)

    def numbers(self, node: Any, codes: _Value | None, scale: _Value | None, zero: _Value | None) -> _Value | None:
        """Quantised weights as numbers where the operator tells how, and otherwise as they are."""
        if not codes or not codes.tensor or codes.tensor.is_real or not scale or not scale.tensor:
            return codes
        for part in filter(None, (scale, zero)):
            for key in part.keys:
                self.tensors[key] = replace(self.tensors[key], aside="A scale of quantised weights.")
        made = dequantised(node, codes.tensor, scale.tensor, zero.tensor if zero else None)
        if made is None:
            return codes
        self.tensors[codes.keys[0]] = made
        return _Value(codes.keys, made)

    def take(self, node: Any, values: Sequence[_Value | None]) -> None:
        """Record what an operator takes, and give its weights the axes and groups that it uses."""
        for i, value in enumerate(values):
            if value is None or (i == 0 and node.op_type in KEPT):
                continue
            key = value.keys[0]
            if i not in WEIGHTS.get(node.op_type, ()):
                user = node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"
                for source in value.keys:
                    self.users.setdefault(source, set()).add(user)
            elif value.tensor is None:
                self.sources.update(value.keys)
            elif key not in self.taken:
                self.tensors[key], *others = as_taken(value.tensor, node)
                self.taken.add(key)
                for other in others:
                    name = self.free(other.name)
                    self.tensors[name] = replace(other, name=name)
                    self.taken.add(name)

    def output(self, node: Any, values: Sequence[_Value | None]) -> _Value | None:
        """What the outputs of an operator refer to, or None if they depend on the network's input."""
        known = [value for name, value in zip(node.input, values, strict=True) if name and value]
        if not known or len(known) < sum(map(bool, node.input)):
            return None
        first = known[0].tensor
        if first is not None and node.op_type in SAME:
            return known[0]
        if first is not None and node.op_type in KEPT:
            moved = rearranged(node, first, known[1].tensor if len(known) > 1 else None)
            if moved is not None:
                return _Value(known[0].keys, moved)
        return _Value(tuple(dict.fromkeys(key for value in known for key in value.keys)))

    def explained(self, key: str, tensor: Tensor) -> Tensor:
        """The tensor, with a reason if no operator takes it as a weight."""
        if key in self.taken or not tensor.is_real or tensor.aside or len(tensor.shape) < 2:
            return tensor
        users = sorted(self.users.get(key, ()))
        other = [user for user in users if "." in user or user in ("Loop", "Scan")]
        if key in self.sources:
            by = ", ".join(users) or "an operator that is not followed"
            return replace(tensor, unread=f"Weights are computed from it in the graph, by {by}. Fold constants first.")
        if other:
            return replace(tensor, unread=f"Taken by {other[0]}, an operator that is not followed.")
        return replace(tensor, aside=f"Taken by {', '.join(users) or 'no operator'}: not a matrix that multiplies.")


def _constants(graph: Any) -> Iterator[tuple[str, Any]]:
    """Names with dense or sparse tensors of a graph."""
    yield from ((entry.name, entry) for entry in graph.initializer)
    yield from ((entry.values.name, entry) for entry in graph.sparse_initializer)
    for node in graph.node:
        for said in node.attribute if node.op_type == "Constant" else ():
            if said.name in ("value", "sparse_value"):
                yield node.output[0], said.t if said.name == "value" else said.sparse_tensor


def rearranged(node: Any, tensor: Tensor, target: Tensor | None) -> Tensor | None:
    """The tensor after an operator that rearranges axes; None if that depends on a run.

    target : second input of ``Reshape``.
    """
    said, shape = {attribute.name: attribute for attribute in node.attribute}, tensor.shape
    sides = []
    if node.op_type == "Flatten":
        sides = [prod(shape[: said["axis"].i if "axis" in said else 1]), -1]
    elif node.op_type == "Reshape":
        if target is None or target.dtype != "int64" or target.size > 8 or "allowzero" in said:
            return None
        sides = [shape[i] if n == 0 and i < len(shape) else n for i, n in enumerate(target.read().ravel().tolist())]
    axes = [*said["perm"].ints] if "perm" in said else None
    try:
        return _moved(tensor, lambda values: values.reshape(sides) if sides else values.transpose(axes))
    except ValueError:
        return None


def _moved(tensor: Tensor, move: Callable[[np.ndarray], np.ndarray]) -> Tensor:
    """The tensor with its axes rearranged. The shape is that of an array of one number, which takes no room."""
    shape = move(np.broadcast_to(np.uint8(0), tensor.shape)).shape
    return replace(tensor, shape=shape, values=lambda: move(tensor.values()))


def as_taken(tensor: Tensor, node: Any) -> list[Tensor]:
    """Weights as an operator uses them: its groups, a stack of matrices, or a matrix for each direction."""
    shape, kind = tensor.shape, node.op_type
    if not tensor.is_real:
        return [tensor]
    if kind in CONVOLUTIONS:
        groups = next((attribute.i for attribute in node.attribute if attribute.name == "group"), 1)
        if len(shape) < 3 or groups < 1 or shape[0] % groups:
            return [replace(tensor, unread=f"Taken by {kind} in {groups} groups, which its shape does not have.")]
        return [replace(tensor, groups=groups, transposed=kind == "ConvTranspose")]
    if len(shape) < 3:
        return [tensor]
    if kind in RECURRENT and len(shape) == 3 and shape[0] in (1, 2):  # (directions, gates · hidden, in)
        names = [tensor.name, f"{tensor.name}.reverse"][: shape[0]]
        return [replace(_moved(tensor, itemgetter(i)), name=name) for i, name in enumerate(names)]
    matrices = prod(shape[:-2])
    if kind in ("Gather", "Einsum") and matrices > 1:
        reason = f"Taken by {kind}, of {len(shape)} axes: which of them are rows is not followed."
        return [replace(tensor, unread=reason)]
    form = (matrices, *shape[-2:]) if matrices > 1 else shape[-2:]
    stack = _moved(tensor, lambda values: values.reshape(form))
    return [replace(stack, kind="stack" if matrices > 1 else "")]


def quantised_inputs(node: Any) -> tuple[int, str, str, str] | None:
    """Which input holds quantised weights, and the names of these, their scale and zero point.

    The scale of ``ConvInteger`` and ``MatMulInteger`` has the name that onnxruntime's quantiser gives it.
    """
    i, names = CODES.get(node.op_type), [*node.input, *[""] * 8]
    if i is None or i >= len(node.input):
        return None
    if node.op_type.endswith("Integer"):
        return i, names[1], f"{names[1].removesuffix('_quantized')}_scale", names[3]
    return i, names[i], names[i + 1], names[i + 2]


def dequantised(node: Any, codes: Tensor, scale: Tensor, zero: Tensor | None) -> Tensor | None:
    """Weights (code − zero) × scale, with one scale per tensor, or per index of an axis.

    None if the parts do not fit, or if the zero point is not known.
    """
    said, shape = {attribute.name: attribute.i for attribute in node.attribute}, codes.shape
    axis = said.get("axis", 1) if node.op_type == "DequantizeLinear" else 0 if "Conv" in node.op_type else -1
    fits = len(shape) > 1 and -len(shape) <= axis < len(shape) and scale.shape in ((), (1,), (shape[axis],))
    parts = quantised_inputs(node)
    if not fits or said.get("block_size") or codes.unread or scale.unread or (zero is None and parts and parts[3]):
        return None

    def spread(part: Tensor) -> np.ndarray:
        sides = [-1 if i == axis % len(shape) else 1 for i in range(len(shape))]
        return part.values().astype(np.float32).reshape(sides)

    @guarded(repr(codes.name))
    def values() -> np.ndarray:
        numbers = codes.values().astype(np.float32)
        return (numbers - spread(zero) if zero else numbers) * spread(scale)

    return Tensor(codes.name, "float32", shape, values, stored=f"{codes.dtype}, {scale.name}")
