"""Which tensors of an ONNX graph are weights: matrices that multiply, and kernels with their groups.

Names in an ONNX file say little, but its graph says what each tensor is for. A tensor is a layer only if an operator of
``WEIGHTS`` takes it, directly or after operators that keep its entries. All others are set aside, with the names of the
operators that take them.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import count as counter
from math import prod
from typing import Any

import numpy as np

from capcore.checkpoints.files import Guarded
from capcore.checkpoints.tensors import DAMAGED, CheckpointError, Tensor, checked_name, count

CONVOLUTIONS = ("Conv", "FusedConv", "ConvTranspose", "DeformConv", "ConvInteger", "QLinearConv")
WEIGHTS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("MatMul", "Gemm", "MatMulInteger", "FusedMatMul", "FusedGemm"), (0, 1)),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (1, 2)),
    **dict.fromkeys((*CONVOLUTIONS, "MatMulNBits", "Attention", "QAttention", "DynamicQuantizeMatMul"), (1,)),
    "QLinearConv": (3,), "QLinearMatMul": (0, 3), "Einsum": (0, 1, 2, 3), "Gather": (0,),
}  # fmt: skip
"""Operator → which of its inputs are weights. The third input of Gemm and of Conv is a bias, so it is not listed."""
SAME = ("Identity", "Cast", "DequantizeLinear", "QuantizeLinear", "Squeeze", "Unsqueeze")
"""Operators whose output has the same entries as their first input in the same order, up to axes of length one."""
KEPT = (*SAME, "Transpose", "Reshape", "Flatten")
"""Operators that keep all entries of their first input, but may rearrange them."""
MOST = 2**18  # nodes; a function's nodes count once per call


def weights_of(model: Any, path: str, read: Callable[[str, Any], Tensor]) -> dict[str, Tensor]:
    """Tensors of a model by unique names. Those that are not weights are set aside, or marked as unread if the graph
    cannot be followed.

    read : makes a tensor from a name and an entry of the file. Raises ``CheckpointError`` for duplicate names.
    """
    graph = _Graph(path, read, {(each.domain, each.name): each for each in model.functions})
    graph.visit(model.graph, "", {})
    for function in model.functions:
        if id(function) not in graph.owned:
            graph.visit(function, f"{function.name}.", {})
    return {key: graph.told(key, tensor) for key, tensor in graph.tensors.items()}


@dataclass(frozen=True)
class _Value:
    """What a name refers to: one tensor, possibly with its axes rearranged, or something computed from several."""

    keys: tuple[str, ...]
    shape: tuple[int, ...] | None = None
    moves: tuple[Callable[[np.ndarray], np.ndarray], ...] = ()


class _Graph:
    """All tensors by unique names, which of them operators take as weights, and from which weights are computed."""

    def __init__(self, path: str, read: Callable[[str, Any], Tensor], functions: Mapping[tuple[str, str], Any]) -> None:
        self.path, self.read, self.functions, self.nodes = path, read, functions, counter(1)
        self.tensors: dict[str, Tensor] = {}
        self.taken: set[str] = set()
        self.sources: set[str] = set()
        self.users: dict[str, set[str]] = {}
        self.owned: dict[int, tuple[Any, dict[str, _Value]]] = {}

    def free(self, name: str) -> str:
        """Return a name that no tensor has yet."""
        return next(each for i in counter(1) if (each := name if i == 1 else f"{name} ({i})") not in self.tensors)

    def constants(self, graph: Any, place: str) -> dict[str, _Value]:
        """Constants of a graph or function, read only once even if the function is called repeatedly."""
        if id(graph) not in self.owned:
            own: dict[str, _Value] = {}
            self.owned[id(graph)] = graph, own  # keeping the graph prevents its id from being reused
            for name, entry in _constants(graph):
                if checked_name(name, self.path) in own:
                    raise CheckpointError(f"{self.path}: found two tensors {name!r}, expected one. {DAMAGED}")
                key = self.free(f"{place}{name}" if name in self.tensors else name)
                self.tensors[key] = self.read(key, entry)
                own[name] = _Value((key,), self.tensors[key].shape)
        return dict(self.owned[id(graph)][1])

    def visit(self, graph: Any, place: str, outer: Mapping[str, _Value]) -> Mapping[str, _Value]:
        """Follow the nodes of a graph, or of one call of a function. outer : names of the enclosing scopes."""
        own = self.constants(graph, place)
        scope: Mapping[str, _Value] = ChainMap(own, outer)  # type: ignore[arg-type]

        def given(name: str) -> Tensor | None:
            found = scope.get(name)
            return self.tensors[found.keys[0]] if found and found.shape is not None and not found.moves else None

        for node in graph.node:
            if next(self.nodes) > MOST:
                raise CheckpointError(f"{self.path}: found more than {MOST} operators, calls included, expected fewer.")
            if function := self.functions.get((node.domain, node.op_type)):
                pairs = zip(function.input, node.input, strict=False)
                inside = self.visit(function, f"{function.name}.", {each: scope[n] for each, n in pairs if n in scope})
                pairs = zip(function.output, node.output, strict=False)
                own |= {name: inside[each] for each, name in pairs if each in inside}
                continue
            made = of_operator(node, given, self.free)
            self.tensors.update(made)
            self.take(node, scope, [key for key, tensor in made.items() if not tensor.aside])
            if node.op_type != "Constant" and (value := self.passed_on(node, scope, given)):
                own |= {name: value for name in node.output if name}
            for each in node.attribute:
                for inner in [each.g] if each.HasField("g") else each.graphs:
                    self.visit(inner, f"{place}{node.name or node.op_type}.{each.name}.", scope)
        return own

    def take(self, node: Any, scope: Mapping[str, _Value], made: Sequence[str]) -> None:
        """Record what an operator takes, and give its weights the axes and groups that it uses.

        made : names of the weights that it makes from its inputs.
        """
        for i, name in enumerate(node.input):
            value = scope.get(name)
            if value is None or (i == 0 and node.op_type in KEPT):
                continue
            if i not in WEIGHTS.get(node.op_type, ()):
                user = node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"
                for key in value.keys:
                    self.users.setdefault(key, set()).add(user)
            elif value.shape is None:
                self.sources.update(value.keys)
            else:
                for key in {value.keys[0], *made} - self.taken:
                    self.taken.add(key)
                    self.tensors[key] = _as_taken(self.tensors[key], node, value)

    def passed_on(self, node: Any, scope: Mapping[str, _Value], given: Callable[[str], Tensor | None]) -> _Value | None:
        """What the outputs of an operator refer to, or None if they depend on the network's input."""
        names = [name for name in node.input if name]
        if not names or any(name not in scope for name in names):
            return None
        first = scope[names[0]]
        if node.op_type in KEPT and first.shape is not None:
            if node.op_type in SAME:
                return first
            if move := _move(node, first.shape, given(names[1]) if len(names) > 1 else None):
                return _Value(first.keys, move[0], (*first.moves, move[1]))
        return _Value(tuple(dict.fromkeys(key for name in names for key in scope[name].keys)))

    def told(self, key: str, tensor: Tensor) -> Tensor:
        """The tensor, with a reason if no operator takes it as a weight."""
        if key in self.taken or not tensor.is_real or tensor.aside or len(tensor.shape) < 2:
            return tensor
        users = sorted(self.users.get(key, ()))
        other = [each for each in users if "." in each or each in ("Loop", "Scan")]
        if key in self.sources:
            by = ", ".join(users)
            return replace(tensor, unread=f"Weights are computed from it in the graph, by {by}. Fold constants first.")
        if other:
            return replace(tensor, unread=f"Taken by {other[0]}, an operator that is not followed.")
        return replace(tensor, aside=f"Taken by {', '.join(users) or 'no operator'}: not a matrix that multiplies.")


def _move(
    node: Any, shape: tuple[int, ...], target: Tensor | None
) -> tuple[tuple[int, ...], Callable[[np.ndarray], np.ndarray]] | None:
    """The shape after an operator that rearranges axes, and the function that does so; None if it depends on a run."""
    said = {each.name: each for each in node.attribute}
    if node.op_type == "Transpose":
        axes = tuple(said["perm"].ints) if "perm" in said else tuple(range(len(shape)))[::-1]
        if sorted(axes) != list(range(len(shape))):
            return None
        return tuple(shape[i] for i in axes), partial(np.transpose, axes=axes)
    if node.op_type == "Flatten":
        axis = said["axis"].i if "axis" in said else 1
        sides = [prod(shape[:axis]), prod(shape[axis:])]
    elif target is None or target.dtype != "int64" or target.size > 8 or "allowzero" in said:
        return None
    else:
        sides = [shape[i] if n == 0 and i < len(shape) else int(n) for i, n in enumerate(target.read().ravel())]
    if sides.count(-1) == 1 and (known := -prod(sides)) > 0:
        sides[sides.index(-1)] = prod(shape) // known
    if min(sides, default=0) < 1 or prod(sides) != prod(shape):
        return None
    return tuple(sides), lambda values: values.reshape(sides)


def _as_taken(tensor: Tensor, node: Any, value: _Value) -> Tensor:
    """Weights with the axes that an operator uses, and what it tells about them: groups, or a stack of matrices."""
    if not tensor.is_real:
        return tensor
    if value.moves and value.shape is not None:
        read, moves = tensor.values, value.moves
        tensor = replace(
            tensor, shape=value.shape, values=lambda: reduce(lambda found, move: move(found), moves, read()), one=None
        )
    shape, kind = tensor.shape, node.op_type
    if kind in CONVOLUTIONS:
        groups = next((each.i for each in node.attribute if each.name == "group"), 1)
        if len(shape) < 3 or groups < 1 or shape[0] % groups:
            return replace(tensor, unread=f"Taken by {kind} in {groups} groups, which its shape does not have.")
        return replace(tensor, groups=groups, transposed=kind == "ConvTranspose")
    if len(shape) < 3:
        return tensor
    read = tensor.values
    matrices = prod(shape[:-2])
    if kind in ("Gather", "Einsum") and matrices > 1:
        return replace(tensor, unread=f"Taken by {kind}, of {len(shape)} axes: which of them are rows is not followed.")
    form = (matrices, *shape[-2:]) if matrices > 1 else shape[-2:]
    return replace(
        tensor, shape=form, values=lambda: read().reshape(form), one=None, kind="stack" if matrices > 1 else ""
    )


def _constants(graph: Any) -> list[tuple[str, Any]]:
    """Names with dense or sparse tensors of a graph, or of a function, which has no initialisers."""
    found = [(each.name, each) for each in getattr(graph, "initializer", ())]
    found += [(each.values.name, each) for each in getattr(graph, "sparse_initializer", ())]
    said = [(node.output[0], each) for node in graph.node if node.op_type == "Constant" for each in node.attribute]
    found += [(name, each.t) for name, each in said if each.name == "value"]
    return found + [(name, each.sparse_tensor) for name, each in said if each.name == "sparse_value"]


def of_operator(
    node: Any, given: Callable[[str], Tensor | None], free: Callable[[str], str] = str
) -> dict[str, Tensor]:
    """Weights as an ONNX operator uses them, by name. Recurrent layers give one matrix per direction. Quantised weights
    are converted to numbers and their scales are set aside. Whatever the operator does not describe stays
    unchanged.

    Quantised weights are (codes − zero) × scale, with one scale per tensor, per index of an axis, or per block. The
    operators are ``DequantizeLinear``, ``QLinearConv`` and ``QLinearMatMul``; ``ConvInteger`` and ``MatMulInteger``,
    whose scale is found by the name that onnxruntime's quantiser gives it; and onnxruntime's ``MatMulNBits``, packed
    along inputs with the lowest bits first. given : tensors by name. free : returns an unused name.
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
    """The matrix of each direction of a (directions, gates · hidden, in) tensor, each under its own name."""
    if len(weights.shape) != 3 or weights.shape[0] not in (1, 2):
        return {}
    names = [weights.name, free(f"{weights.name}.reverse")][: weights.shape[0]]
    return {
        name: replace(weights, name=name, shape=weights.shape[1:], values=partial(weights.read_one, i), one=None)
        for i, name in enumerate(names)
    }
