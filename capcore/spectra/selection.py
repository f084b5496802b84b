"""Which layers of a checkpoint are analysed, by patterns of their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase

from capcore.checkpoints.tensors import Checkpoint


def selected(
    checkpoint: Checkpoint, layers: Sequence[str] = (), skip: Sequence[str] = (), *, drop: bool = False
) -> Checkpoint:
    """Set aside, with the reason, the tensors that ``layers`` and ``skip`` exclude.

    Parameters
    ----------
    checkpoint : Checkpoint
    layers, skip : sequence of str
        Shell patterns such as ``layer1.*``, with or without ``.weight`` at the end. No ``layers`` means all.
    drop : bool
        Drop them instead of setting them aside.

    Raises
    ------
    ValueError
        If a pattern fits no tensor.

    Examples
    --------
    >>> from capcore.spectra import of_arrays
    >>> found = selected(of_arrays({"a.weight": [[1.0]], "b.weight": [[2.0]]}), ["a"])
    >>> [tensor.aside for tensor in found.tensors.values()]
    ['', 'Left out by the choice of layers.']
    """
    if not (layers or skip):
        return checkpoint
    for name, patterns in (("layers", layers), ("skip", skip)):
        for pattern in patterns:
            if not any(_fits(tensor, pattern) for tensor in checkpoint):
                raise ValueError(
                    f"{name}: found no tensor that matches {pattern!r}, expected {_such(checkpoint, pattern)}."
                )
    tensors = {}
    for name, tensor in checkpoint.tensors.items():
        wanted = not layers or any(_fits(name, pattern) for pattern in layers)
        wanted &= not any(_fits(name, pattern) for pattern in skip)
        if wanted or not drop:
            tensors[name] = tensor if wanted else replace(tensor, aside="Left out by the choice of layers.")
    return replace(checkpoint, tensors=tensors)


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name.removesuffix(".weight"), pattern)


def _such(checkpoint: Checkpoint, pattern: str) -> str:
    matrices = [name for name, tensor in checkpoint.tensors.items() if len(tensor.shape) > 1] or [*checkpoint]
    return "a name such as " + ", ".join(map(repr, get_close_matches(pattern, matrices, 3, 0.3) or matrices[:3]))
