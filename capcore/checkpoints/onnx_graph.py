"""Which tensors of an ONNX graph are weights: matrices that multiply, and kernels with their groups.

Names in an ONNX file say little, but its graph says what each tensor is for. A tensor is a layer only if an operator of
``WEIGHTS`` takes it, directly or after operators that keep its entries. All others are set aside, with the names of the
operators that take them. :mod:`capcore.checkpoints.onnx_operators` knows what each operator does.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from capcore.checkpoints.onnx_operators import KEPT, SAME, WEIGHTS, as_taken, dequantised, quantised_inputs, rearranged
from capcore.checkpoints.tensors import CheckpointError, Tensor, checked_name, damaged

MOST = 2**18  # nodes; a function's nodes count once per call


def weights_of(model: Any, path: str, read: Callable[[str, Any], Tensor]) -> dict[str, Tensor]:
    """Tensors of a model by unique names. Those that are not weights are set aside, or marked as unread if the graph
    cannot be followed.

    read : makes a tensor from a name and an entry of the file. Raises ``CheckpointError`` for duplicate names.
    """
    graph = _Graph(path, read, {(function.domain, function.name): function for function in model.functions})
    graph.visit(model.graph, "", {})
    for function in model.functions:
        if id(function) not in graph.read_before:
            graph.visit(function, f"{function.name}.", {})
    return {key: graph.explained(key, tensor) for key, tensor in graph.tensors.items()}


@dataclass(frozen=True)
class _Value:
    """What a name refers to: one tensor, possibly with its axes rearranged, or something computed from several."""

    keys: tuple[str, ...]
    tensor: Tensor | None = None


class _Graph:
    """All tensors by unique names, which of them operators take as weights, and from which weights are computed."""

    def __init__(self, path: str, read: Callable[[str, Any], Tensor], functions: Mapping[tuple[str, str], Any]) -> None:
        self.path, self.read, self.functions, self.nodes = path, read, functions, count(1)
        self.tensors: dict[str, Tensor] = {}
        self.taken: set[str] = set()
        self.sources: set[str] = set()
        self.users: dict[str, set[str]] = {}
        self.read_before: dict[int, tuple[Any, dict[str, _Value]]] = {}

    def free(self, name: str) -> str:
        """Return a name that no tensor has yet."""
        names = (name if i == 1 else f"{name} ({i})" for i in count(1))
        return next(free for free in names if free not in self.tensors)

    def constants(self, graph: Any, place: str) -> dict[str, _Value]:
        """Constants of a graph or function, read only once even if the function is called repeatedly."""
        if id(graph) not in self.read_before:
            own: dict[str, _Value] = {}
            self.read_before[id(graph)] = graph, own  # keeping the graph prevents its id from being reused
            for name, entry in _constants(graph):
                if checked_name(name, self.path) in own:
                    raise damaged(self.path, f"two tensors {name!r}", "one")
                key = self.free(f"{place}{name}" if name in self.tensors else name)
                self.tensors[key] = self.read(key, entry)
                own[name] = _Value((key,), self.tensors[key])
        return dict(self.read_before[id(graph)][1])

    def visit(self, graph: Any, place: str, outer: Mapping[str, _Value]) -> Mapping[str, _Value]:
        """Follow the nodes of a graph, or of one call of a function. outer : names of the enclosing scopes."""
        own = self.constants(graph, place)
        scope: Mapping[str, _Value] = ChainMap(own, outer)  # type: ignore[arg-type]
        for node in graph.node:
            if next(self.nodes) > MOST:
                raise CheckpointError(f"{self.path}: found more than {MOST} operators, calls included, expected fewer.")
            if function := self.functions.get((node.domain, node.op_type)):
                arguments = {inner: scope[name] for inner, name in _pairs(function.input, node.input) if name in scope}
                inside = self.visit(function, f"{function.name}.", arguments)
                own |= {name: inside[inner] for inner, name in _pairs(function.output, node.output) if inner in inside}
                continue
            values = [scope.get(name) for name in node.input]
            if parts := quantised_inputs(node):
                values[parts[0]] = self.dequantised(node, [scope.get(name) for name in parts[1:]])
            self.take(node, values)
            if node.op_type != "Constant" and (value := self.output(node, values)):
                own |= {name: value for name in node.output if name}
            for attribute in node.attribute:
                for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                    self.visit(inner, f"{place}{node.name or node.op_type}.{attribute.name}.", scope)
        return own

    def dequantised(self, node: Any, values: Sequence[_Value | None]) -> _Value | None:
        """Quantised weights as numbers where the operator tells how, and otherwise as they are."""
        codes, *parts = values
        tensors = [value.tensor if value else None for value in values]
        if codes is None or tensors[0] is None or tensors[1] is None or tensors[0].is_real:
            return codes
        for part in filter(None, parts):
            for key in part.keys:
                self.tensors[key] = replace(self.tensors[key], aside="A scale of quantised weights.")
        numbers = dequantised(node, tensors[0], tensors[1], tensors[2])
        if numbers is None:
            return codes
        self.tensors[codes.keys[0]] = numbers
        return _Value(codes.keys, numbers)

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
                names = [self.free(tensor.name) for tensor in others]
                self.tensors |= {name: replace(tensor, name=name) for name, tensor in _pairs(names, others)}
                self.taken |= {key, *names}

    def output(self, node: Any, values: Sequence[_Value | None]) -> _Value | None:
        """What the outputs of an operator refer to, or None if they depend on the network's input."""
        given = [value for name, value in _pairs(node.input, values) if name]
        known = [value for value in given if value]
        if not given or len(known) < len(given):
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
            by = ", ".join(users)
            return replace(tensor, unread=f"Weights are computed from it in the graph, by {by}. Fold constants first.")
        if other:
            return replace(tensor, unread=f"Taken by {other[0]}, an operator that is not followed.")
        return replace(tensor, aside=f"Taken by {', '.join(users) or 'no operator'}: not a matrix that multiplies.")


def _pairs(one: Sequence, other: Sequence) -> list[tuple]:
    return list(zip(one, other, strict=False))  # inputs and outputs that are optional may be missing


def _constants(graph: Any) -> list[tuple[str, Any]]:
    """Names with dense or sparse tensors of a graph, or of a function, which has no initialisers."""
    entries = [(entry.name, entry) for entry in getattr(graph, "initializer", ())]
    entries += [(entry.values.name, entry) for entry in getattr(graph, "sparse_initializer", ())]
    made = [(node.output[0], said) for node in graph.node if node.op_type == "Constant" for said in node.attribute]
    entries += [(name, said.t) for name, said in made if said.name == "value"]
    return entries + [(name, said.sparse_tensor) for name, said in made if said.name == "sparse_value"]
