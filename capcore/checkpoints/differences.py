"""Weights as they are used or were changed: without the names of wrappers, with an adapter, and minus a base."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np

from capcore.checkpoints.adapters import lora_products, with_adapter, with_own_adapter
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Tensor, hashes_of

_WRAPPER = re.compile(r"(?:^|(?<=\.))(?:_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.")
"""Names that no layer has, so they are dropped wherever a wrapped part stands."""
_IN_FRONT = ("module.", "state_dict.")
"""Names that could be those of a part, so they are dropped only if all tensors have them in front."""


def unwrapped(checkpoint: Checkpoint) -> Checkpoint:
    """Drop the names of wrappers from the names of tensors, unless two tensors would then have the same name.

    ``torch.compile``, ``DistributedDataParallel``, fully sharded training and activation checkpointing wrap a module,
    whose parameters then have longer names. Scripts that save ``{"state_dict": …}`` flat do the same.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> [*unwrapped(of_arrays({"module._orig_mod.fc.weight": np.ones((1, 1)), "module.fc.bias": np.ones(1)}))]
    ['fc.weight', 'fc.bias']
    """
    names = [_WRAPPER.sub("", name) for name in checkpoint]
    while prefix := next((part for part in _IN_FRONT if names and all(name.startswith(part) for name in names)), ""):
        names = [name.removeprefix(prefix) for name in names]
    if names == [*checkpoint] or len({*names}) < len(names) or not all(names):
        return checkpoint
    pairs = zip(names, checkpoint.tensors.values(), strict=True)
    return replace(checkpoint, tensors={name: replace(tensor, name=name) for name, tensor in pairs})


def used(checkpoint: Checkpoint, base: Checkpoint | None = None, adapter: Checkpoint | None = None) -> Checkpoint:
    """The weights as layers use them: without the names of wrappers, with an adapter, and minus a base if given.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> [*used(of_arrays({"module.fc.weight": np.eye(2)}))]
    ['fc.weight']
    """
    whole = with_own_adapter(unwrapped(checkpoint))
    whole = whole if adapter is None else with_adapter(whole, unwrapped(adapter))
    return whole if base is None else difference(whole, base)


def difference(checkpoint: Checkpoint, base: Checkpoint) -> Checkpoint:
    """Subtract the base: W − W₀ for each tensor that both have. For a LoRA adapter, the products that it adds.

    Names of wrappers do not count. Raises ``CheckpointError`` if no tensor matches, or if the base lacks a layer that
    an adapter changes.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> changes = difference(of_arrays({"fc": np.full((2, 2), 3.0)}), of_arrays({"fc": np.ones((2, 2))}))
    >>> changes["fc"].tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    checkpoint, base = unwrapped(checkpoint), unwrapped(base)
    name, digest = f"{checkpoint.name} - {base.name}", hashes_of(checkpoint, base)
    if any("lora_" in tensor for tensor in checkpoint):
        lora_products(checkpoint, base)  # raises if they do not fit
        return replace(lora_products(checkpoint), name=name, digest=digest)
    tensors = {}
    for tensor in checkpoint.tensors.values():
        other = base.tensors.get(tensor.name)
        tensors[tensor.name] = _change(tensor, other, base.name) if tensor.is_real else tensor
    if not any(tensor.is_real for tensor in tensors.values()):
        raise CheckpointError(f"{base.name}: found no tensor of {checkpoint.name}, expected its base. Compare names.")
    return replace(checkpoint, name=name, tensors=tensors, digest=digest)


def _change(tensor: Tensor, other: Tensor | None, base: str) -> Tensor:
    if other is None or other.shape != tensor.shape or not other.is_real:
        place = "not there" if other is None else f"there {other.shape}"
        return replace(tensor, unread=f"No difference from {base}: {place}.")
    kind = "float64" if "float64" in (tensor.dtype, other.dtype) else "float32"
    return replace(tensor, dtype=kind, values=partial(_subtract, tensor, other, kind), one=None)


def _subtract(tensor: Tensor, other: Tensor, kind: str) -> np.ndarray:
    return tensor.read().astype(kind) - other.read().astype(kind)
