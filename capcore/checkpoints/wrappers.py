"""Names without what wrappers of a module put before them, so that a wrapped checkpoint has the names of its base.

``torch.compile``, ``DistributedDataParallel``, fully sharded training and activation checkpointing wrap a module, whose
parameters then have longer names. Scripts that save ``{"state_dict": …}`` flat do the same.
"""

from __future__ import annotations

import re
from dataclasses import replace

from capcore.checkpoints.tensors import Checkpoint, Tensor

ANYWHERE = re.compile(r"(?:^|(?<=\.))(?:_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.")
"""Names that no layer has, so they are dropped wherever a wrapped part stands."""
IN_FRONT = ("module.", "state_dict.")
"""Names that could be those of a part, so they are dropped only if all tensors have them in front."""


def unwrapped(checkpoint: Checkpoint) -> Checkpoint:
    """Drop the names of wrappers from the names of tensors, unless two tensors would then have the same name.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> [*unwrapped(of_arrays({"module._orig_mod.fc.weight": [[1.0]], "module.fc.bias": [1.0]}))]
    ['fc.weight', 'fc.bias']
    """
    names = [ANYWHERE.sub("", name) for name in checkpoint]
    while prefix := next((each for each in IN_FRONT if names and all(name.startswith(each) for name in names)), ""):
        names = [name.removeprefix(prefix) for name in names]
    if names == [*checkpoint] or len({*names}) < len(names) or not all(names):
        return checkpoint
    tensors: dict[str, Tensor] = {}
    for name, tensor in zip(names, checkpoint.tensors.values(), strict=True):
        tensors[name] = replace(tensor, name=name)
    return replace(checkpoint, tensors=tensors)
