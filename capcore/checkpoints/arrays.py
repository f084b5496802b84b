"""Checkpoints of arrays that are already in memory, whatever library holds them; no file is read."""

import hashlib
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any

import numpy as np

from capcore.checkpoints.number_types import CODES, QUANTISED, bfloat16, is_bfloat16
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Tensor, brief, checked_shape, named
from capcore.checks.arguments import unmasked

HOLDERS = ("state_dict", "model_state_dict")
"""Keys under which training scripts keep the weights, beside those of the optimiser."""
MOST = 2**20  # entries of nested containers; without a limit, shared ones could exhaust memory
WHERE = "arrays in memory"


def of_arrays(source: Any) -> Checkpoint:
    """Make a checkpoint of arrays in memory.

    If two names share the same memory, the second is set aside, so no weights are counted twice.

    Parameters
    ----------
    source : object
        A module with a ``state_dict``, a state dict or what a training script saves around it, nested dictionaries,
        lists and tuples of arrays, one array, or any pytree that JAX knows. Nested names are joined by dots. Entries
        that are not arrays, such as the functions in a module of Equinox, are left out.

    Raises
    ------
    CheckpointError
        If there is no array, if two have the same name, or for arrays of Python objects.

    Examples
    --------
    >>> table = np.ones((2, 3))
    >>> [tensor.aside for tensor in of_arrays({"wte": table, "lm_head": table}).tensors.values()]
    ['', "The same weights as 'wte', in one place."]
    >>> list(of_arrays({"layers": [np.ones((2, 2)), np.ones((2, 3))], "act": np.tanh}))
    ['layers.0', 'layers.1']
    """
    unmasked(source, "array")
    if isinstance(source, Mapping):
        source = next((source[key] for key in HOLDERS if isinstance(source.get(key), Mapping)), source)
    elif hasattr(source, "state_dict"):
        source = source.state_dict()
    tensors = named(set_aside_ties(_tensors(source)), WHERE)
    if not tensors:
        kind = type(source).__name__
        raise CheckpointError(f"source: found a {kind} without arrays, expected a path, a module or arrays by name.")
    size = sum(value.nbytes for _, value in leaves(source) if hasattr(value, "nbytes"))

    def hashes() -> dict[str, str]:
        digest = hashlib.sha256()
        for name, tensor in tensors.items():
            array = tensor.values()
            digest.update(repr((name, array.dtype.str, array.shape)).encode())
            digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.ndim else array.tobytes())
        return {WHERE: digest.hexdigest()}

    return Checkpoint(WHERE, "arrays", hashes, size, tensors)


def _tensors(source: Any) -> Iterator[tuple[Tensor, Hashable]]:
    """NumPy arrays and PyTorch tensors, and where they are in memory."""
    for path, value in leaves(source):
        name = path or "array"
        unmasked(value, name)
        if hasattr(value, "detach"):
            yield torch_tensor(repr(name), name, value), torch_place(value)
        elif hasattr(value, "shape"):
            array = np.asarray(value, np.float32 if str(getattr(value, "dtype", "")) == "bfloat16" else None)
            if array.dtype.hasobject:
                raise CheckpointError(f"{name!r}: found Python objects, expected an array of numbers.")
            array = bfloat16(array.view("<u2")) if is_bfloat16(array.dtype) else array
            unread = "" if array.dtype.kind in "fiub" else "Not real numbers: weights are floating-point arrays."
            tensor = Tensor(name, array.dtype.name, array.shape, partial(np.asarray, array), unread)
            yield tensor, (array.ctypes.data, array.shape, array.strides, array.dtype.str)


def set_aside_ties(tensors: Iterable[tuple[Tensor, Hashable]]) -> Iterator[Tensor]:
    """Set aside each tensor that is in the same place as one before it."""
    first: dict[Hashable, str] = {}
    for tensor, place in tensors:
        other = first.setdefault(place if tensor.size else tensor.name, tensor.name)
        yield tensor if other == tensor.name else replace(tensor, aside=f"The same weights as {other!r}, in one place.")


def leaves(tree: Any, path: str = "", seen: Iterator[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Entries of nested containers by name. Nested names are joined by dots; in lists, the position is the name.

    seen : counts the entries of all containers.
    """
    seen = seen or count()
    entries: Iterable[tuple[Any, Any]] = ()
    if isinstance(tree, Mapping):
        entries = tree.items()
    elif isinstance(tree, list | tuple):
        entries = zip(getattr(tree, "_fields", range(len(tree))), tree, strict=True)
    elif "jax" in sys.modules and not hasattr(tree, "shape"):
        jax: Any = sys.modules["jax"]
        pairs = jax.tree_util.tree_flatten_with_path(tree)[0]
        entries = [(jax.tree_util.keystr(keys, simple=True, separator="."), leaf) for keys, leaf in pairs if keys]
    if not entries:
        yield path, tree
    for name, entry in entries:
        if next(seen) > MOST:
            raise CheckpointError(f"{path or WHERE}: found more than {MOST} entries, expected tensors by name.")
        yield from leaves(entry, f"{path}.{name}" if path else str(name), seen)


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
    if value.is_meta:
        return Tensor(name, dtype, shape, unread="On the device meta, without values: load them first.")
    if str(value.layout) != "torch.strided":
        return Tensor(name, dtype, shape, unread="Sparse: save its to_dense().")
    if value.is_quantized or dtype.startswith(("float4", "bits")):
        return Tensor(name, dtype, shape, unread="Quantised by PyTorch: save its dequantize().")
    n_bytes = value.untyped_storage().nbytes()
    if value.numel() * value.element_size() > n_bytes:  # with a stride of zero, one number can fill a huge shape
        raise CheckpointError(f"{where}: found {brief(shape)} on {n_bytes} bytes, expected a number for each entry.")

    return Tensor(name, dtype, shape, lambda: of_torch(value), QUANTISED if dtype.startswith("float8") else "")


def of_torch(value: Any) -> np.ndarray:
    """Convert a PyTorch tensor to an array: bfloat16 becomes float32, and eight-bit floats keep their raw bits."""
    value, dtype = value.detach().cpu(), str(value.dtype).removeprefix("torch.")
    if dtype in CODES:
        return value.contiguous().view(import_module("torch").uint8).numpy()
    return (value.float() if dtype == "bfloat16" else value.resolve_neg()).numpy()
