"""What training changed: a checkpoint minus its base, and the paths from which another process can open both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from capcore.checkpoints.adapters import lora_products
from capcore.checkpoints.opening import read_checkpoint, read_folder
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Step, Tensor


@dataclass(frozen=True)
class Opening:
    """Everything another process needs to open a network: its path, its name within a folder, and how to read it."""

    path: str
    name: str | None = None
    base: str | None = None
    key: str | None = None
    non_finite: str = "refuse"

    def open(self) -> Checkpoint:
        """Open the checkpoint; if there is a base, return the difference from it."""
        if self.name is None:
            return self.beside_base(read_checkpoint(self.path, key=self.key, non_finite=self.non_finite))
        folder = read_folder(self.path, key=self.key, non_finite=self.non_finite).checkpoints
        (found,) = (each for each in folder if each.name == self.name)
        return self.beside_base(found)

    def beside_base(self, found: Checkpoint) -> Checkpoint:
        """Return a checkpoint that is already open; if there is a base, return the difference from it."""
        if self.base is None:
            return found
        return difference(found, read_checkpoint(self.base, key=self.key, non_finite=self.non_finite))


def difference(checkpoint: Checkpoint, base: Checkpoint) -> Checkpoint:
    """Subtract the base: W − W₀ for each tensor that both have. For a LoRA adapter, the products that it adds.

    Raises ``CheckpointError`` if no tensor matches.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> found = difference(of_arrays({"fc": np.full((2, 2), 3.0)}), of_arrays({"fc": np.ones((2, 2))}))
    >>> found["fc"].tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    name, tensors = f"{checkpoint.name} - {base.name}", {}

    def digest(step: Step) -> dict[str, str]:
        return {f"{each.name} ({i})": each.sha256 for i, each in enumerate((checkpoint, base))}

    if any("lora_" in each for each in checkpoint):
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
