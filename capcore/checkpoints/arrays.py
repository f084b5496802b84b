"""Checkpoints of arrays and PyTorch tensors that are already in memory; no file is read."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping
from importlib import import_module
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from capcore.checkpoints.number_types import CODES, QUANTISED
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Step, Tensor, brief, checked_name, checked_shape
from capcore.checks.arguments import of_kind, unmasked


@runtime_checkable
class Module(Protocol):
    """Any object with named weights, such as a ``torch.nn.Module``."""

    def state_dict(self) -> Mapping[str, Any]:
        """Name → tensor."""


Arrays: TypeAlias = Mapping[str, Any] | np.ndarray | Module
"""Weights in memory: a state dict, one array, or a module."""


def of_arrays(source: Arrays) -> Checkpoint:
    """Make a checkpoint of named arrays or PyTorch tensors, of a single array, or of a module.

    Names of nested mappings are joined by dots. If two names share the same memory, the second is set aside, so no
    weights are counted twice.

    Raises ``CheckpointError`` for values that are not arrays of plain types.

    Examples
    --------
    >>> table = np.ones((2, 3))
    >>> [tensor.aside for tensor in of_arrays({"wte": table, "lm_head": table}).tensors.values()]
    ['', "The same weights as 'wte', in the same place."]
    """
    of_kind(source, "source", Mapping | np.ndarray | Module, "a mapping, an array or a module")
    unmasked(source, "array")
    if isinstance(source, Module) and not isinstance(source, Mapping):
        source = source.state_dict()
    items: list[tuple[str, Any]] = [("array", source)] if isinstance(source, np.ndarray) else list(_items(source))
    if len(dict(items)) < len(items):
        found = len(dict(items))
        raise CheckpointError(f"arrays in memory: found {len(items)} arrays of {found} names, expected one each.")
    tensors, size, first = {}, 0, dict[Hashable, str]()
    for name, value in items:
        place: Hashable
        if hasattr(value, "detach"):
            tensor, place = torch_tensor(repr(name), name, value), torch_place(value)
            size += value.numel() * value.element_size()
        else:
            tensor, place = _tensor(name, value), (value.ctypes.data, value.shape, value.strides, value.dtype.str)
            size += value.nbytes
        same = first.setdefault(place if tensor.size else name, name)
        tensors[name] = tensor if same == name else tied(tensor, same)

    def digest(step: Step) -> dict[str, str]:
        found = hashlib.sha256()
        for name, tensor in tensors.items():
            array = tensor.values()
            found.update(repr((name, array.dtype.str, array.shape)).encode())
            found.update(np.ascontiguousarray(array).view(np.uint8).data if array.ndim else array.tobytes())
            step(array.nbytes)
        return {"arrays in memory": found.hexdigest()}

    return Checkpoint("arrays in memory", "arrays", digest, size, tensors)


def tied(tensor: Tensor, first: str) -> Tensor:
    """Set the tensor aside because another name already has the same memory."""
    return Tensor(tensor.name, tensor.dtype, tensor.shape, tensor.values, tensor.unread, _same(first))


def _same(first: str) -> str:
    return f"The same weights as {first!r}, in the same place."


def torch_place(value: Any) -> Hashable:
    """Location of a PyTorch tensor in memory, equal only for tensors that share all of it."""
    if str(value.layout) != "torch.strided" or value.is_meta:
        return id(value)
    where = value.untyped_storage().data_ptr()
    return where, value.storage_offset(), tuple(value.shape), value.stride(), str(value.dtype)


def torch_tensor(where: str, name: str, value: Any) -> Tensor:
    """List a PyTorch tensor, with the reason if its values cannot be read.

    where : the file and name, for messages. Raises ``CheckpointError`` if the memory holds fewer numbers than the shape
    has entries.
    """
    shape, dtype = checked_shape(tuple(value.shape), where), str(value.dtype).removeprefix("torch.")

    def values() -> np.ndarray:
        return of_torch(value)

    def one(i: int) -> np.ndarray:
        return of_torch(value[i])

    if value.is_meta:
        return Tensor(name, dtype, shape, lambda: np.zeros(0), "On the device meta, without values: load them first.")
    if str(value.layout) != "torch.strided" or value.is_quantized or dtype.startswith(("complex", "float4", "bits")):
        return Tensor(name, dtype, shape, lambda: np.zeros(0), "Sparse, complex or quantised: save plain weights.")
    held = value.untyped_storage().nbytes()
    if value.numel() * value.element_size() > held:  # with a stride of zero, one number can fill a huge shape
        raise CheckpointError(f"{where}: found shape {brief(shape)} on {held} bytes, expected a number for each entry.")
    if dtype in CODES:
        return Tensor(name, dtype, shape, values, QUANTISED, one=one)
    if dtype.startswith("float8"):
        return Tensor(name, dtype, shape, lambda: np.zeros(0), QUANTISED)
    return Tensor(name, dtype, shape, values, one=one)


def of_torch(value: Any) -> np.ndarray:
    """Convert a PyTorch tensor to an array: bfloat16 becomes float32, and eight-bit floats keep their raw bits."""
    value, dtype = value.detach().cpu(), str(value.dtype).removeprefix("torch.")
    if dtype in CODES:
        return value.contiguous().view(import_module("torch").uint8).numpy()
    return (value.float() if dtype == "bfloat16" else value.resolve_neg()).numpy()


def _tensor(name: str, array: np.ndarray) -> Tensor:
    unread = "" if array.dtype.kind in "fiub" else "Not real numbers: weights are floating-point arrays."
    return Tensor(name, array.dtype.name, array.shape, lambda: array, unread)


def _items(source: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in source.items():
        name = checked_name(f"{prefix}{key}", "arrays in memory")
        unmasked(value, name)
        if isinstance(value, Mapping):
            yield from _items(value, f"{name}.")
        elif hasattr(value, "detach"):
            yield name, value
        else:
            try:
                array = np.asarray(value)
            except (TypeError, ValueError, RuntimeError) as error:
                found = type(value).__name__
                raise CheckpointError(f"{name!r}: found a {found}, expected an array ({error}).") from None
            if array.dtype.hasobject:
                raise CheckpointError(f"{name!r}: found Python objects, expected an array of numbers.")
            yield name, array
