"""Weights as they are used or were changed: with an adapter, and minus a base; and the paths to open all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from capcore.checkpoints.adapters import adapted, lora_products, with_adapters
from capcore.checkpoints.opening import read_checkpoint, read_folder
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Step, Tensor
from capcore.checkpoints.wrappers import unwrapped


@dataclass(frozen=True)
class Opening:
    """Everything another process needs to open a network: its path, its name within a folder, and how to read it.

    ``base``, ``adapter`` : paths of a network to subtract, and of a LoRA adapter to add first.
    """

    path: str
    name: str | None = None
    base: str | None = None
    key: str | None = None
    non_finite: str = "refuse"
    adapter: str | None = None

    def open(self) -> Checkpoint:
        """Open the checkpoint, with its adapter and minus its base if there are any."""
        if self.name is None:
            return self.used(read_checkpoint(self.path, key=self.key, non_finite=self.non_finite))
        folder = read_folder(self.path, key=self.key, non_finite=self.non_finite).checkpoints
        (found,) = (each for each in folder if each.name == self.name)
        return self.used(found)

    def used(self, found: Checkpoint) -> Checkpoint:
        """The weights of an open checkpoint as they are used, minus those of the base if there is one."""
        return used(found, self.base_checkpoint(), self._read(self.adapter))

    def base_checkpoint(self) -> Checkpoint | None:
        """The base, with names as :meth:`open` gives them, or None if there is no base."""
        found = self._read(self.base)
        return None if found is None else used(found)

    def _read(self, path: str | None) -> Checkpoint | None:
        return None if path is None else read_checkpoint(path, key=self.key, non_finite=self.non_finite)


def used(found: Checkpoint, base: Checkpoint | None = None, adapter: Checkpoint | None = None) -> Checkpoint:
    """The weights as layers use them: without the names of wrappers, with an adapter, and minus a base if given.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> [*used(of_arrays({"module.fc.weight": np.eye(2)}))]
    ['fc.weight']
    """
    found = with_adapters(unwrapped(found))
    found = found if adapter is None else adapted(found, unwrapped(adapter))
    return found if base is None else difference(found, base)


def difference(checkpoint: Checkpoint, base: Checkpoint) -> Checkpoint:
    """Subtract the base: W − W₀ for each tensor that both have. For a LoRA adapter, the products that it adds.

    Names of wrappers do not count. Raises ``CheckpointError`` if no tensor matches, or if the base lacks a layer that
    an adapter changes.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> found = difference(of_arrays({"fc": np.full((2, 2), 3.0)}), of_arrays({"fc": np.ones((2, 2))}))
    >>> found["fc"].tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    checkpoint, base = unwrapped(checkpoint), unwrapped(base)
    name, tensors = f"{checkpoint.name} - {base.name}", {}

    def digest(step: Step) -> dict[str, str]:
        return {f"{each.name} ({i})": each.sha256 for i, each in enumerate((checkpoint, base))}

    if any("lora_" in each for each in checkpoint):
        lora_products(checkpoint, base)  # raises if they do not fit
        return replace(lora_products(checkpoint), name=name, digest=digest)
    for tensor in checkpoint.tensors.values():
        other = base.tensors.get(tensor.name)
        fits = other is not None and other.shape == tensor.shape
        if fits and other is not None and tensor.is_real and other.is_real:
            kind = "float64" if "float64" in (tensor.dtype, other.dtype) else "float32"
            moved = replace(tensor, dtype=kind, values=partial(_subtract, tensor, other, kind), one=None)
            tensors[tensor.name] = moved
        elif tensor.is_real:
            found = f"there {other.shape}" if other is not None else "not there"
            tensors[tensor.name] = replace(tensor, unread=f"No difference from {base.name}: {found}.")
        else:
            tensors[tensor.name] = tensor
    if not any(tensor.is_real for tensor in tensors.values()):
        raise CheckpointError(f"{base.name}: found no tensor of {checkpoint.name}, expected its base. Compare names.")
    return replace(checkpoint, name=name, tensors=tensors, digest=digest)


def _subtract(tensor: Tensor, other: Tensor, kind: str) -> np.ndarray:
    return tensor.read().astype(kind) - other.read().astype(kind)
