"""Arrays in memory as a checkpoint: one array, or a state dict."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from capcore.spectra.tensors import Checkpoint, CheckpointError, Tensor, checked_name


def of_arrays(source: Mapping[str, Any] | np.ndarray) -> Checkpoint:
    """Checkpoint of a mapping from names to arrays or PyTorch tensors, nested ones joined by dots, or of one array.

    Raises ``CheckpointError`` for values that are not arrays of plain types.
    """
    items = [("array", source)] if isinstance(source, np.ndarray) else list(_items(source))
    arrays = dict(items)
    if len(arrays) < len(items):
        raise CheckpointError(f"arrays in memory: found {len(items)} arrays of {len(arrays)} names, expected one each.")
    digest = hashlib.sha256()
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise CheckpointError(f"{name!r}: found Python objects, expected an array of numbers.")
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        digest.update(array.tobytes())
    tensors = {name: _tensor(name, array) for name, array in arrays.items()}
    size = sum(array.nbytes for array in arrays.values())
    return Checkpoint("arrays in memory", "arrays", digest.hexdigest(), size, tensors)


def of_torch(value: Any) -> np.ndarray:
    """A PyTorch tensor as an array; float32 for bfloat16."""
    value = value.detach().cpu()
    return (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()


def _tensor(name: str, array: np.ndarray) -> Tensor:
    unread = "" if array.dtype.kind in "fiub" else "Not real numbers: weights are floating-point arrays."
    return Tensor(name, array.dtype.name, array.shape, lambda: array, unread)


def _items(source: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, np.ndarray]]:
    for key, value in source.items():
        name = checked_name(f"{prefix}{key}", "arrays in memory")
        if isinstance(value, Mapping):
            yield from _items(value, f"{name}.")
            continue
        try:
            yield name, of_torch(value) if hasattr(value, "detach") else np.asarray(value)
        except (TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(f"{name!r}: found a {type(value).__name__}, expected an array ({error}).") from None
