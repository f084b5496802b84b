"""Checkpoints: the tensors of a trained network by name, wherever they come from, and where that was.

No file can execute code: pickles are read by PyTorch's weights-only loader or not at all
(:mod:`capcore.spectra.torch_files`), everything else by parsers that check what a file says against what it is
(:mod:`capcore.spectra.safetensors`, :mod:`capcore.spectra.archives`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from capcore.spectra.arrays import of_arrays
from capcore.spectra.formats import PLAIN, TORCH, read_file, stem
from capcore.spectra.shards import INDEX, read_shards, weight_map
from capcore.spectra.tensors import Checkpoint, CheckpointError
from capcore.validation import one_of

CHUNK = 2**20  # entries looked at together


@dataclass(frozen=True)
class Folder:
    """Checkpoints of a folder, and why each other file of weights in it was refused, by name."""

    checkpoints: tuple[Checkpoint, ...]
    refused: Mapping[str, str]


def read_checkpoint(
    source: str | os.PathLike[str] | Mapping[str, Any] | np.ndarray,
    *,
    key: str | None = None,
    non_finite: str = "refuse",
) -> Checkpoint:
    """The checkpoint in a file, or of arrays in memory.

    Parameters
    ----------
    source : a ``.safetensors``, ``.npz`` or ``.npy`` file; with PyTorch also ``.pt``, ``.pth``, ``.th``, ``.tar``,
        ``.bin`` or ``.ckpt``; the ``.index.json`` of a checkpoint in several files; a folder with one checkpoint; a
        mapping from names to arrays or PyTorch tensors (a state dict), nested ones joined by dots; or one array.
    key : of the mapping that holds the weights within a file of PyTorch's.
    non_finite : what to do about NaN and infinity among the weights: ``refuse`` the checkpoint, or ``keep`` them, so
        that these layers are listed as not analysed, and the others are analysed.

    Raises ``CheckpointError``, which says what was found, what was expected, and what to do.

    >>> checkpoint = read_checkpoint({"fc.weight": np.eye(3, dtype=np.float32)})
    >>> [(tensor.name, tensor.dtype, tensor.shape) for tensor in checkpoint.tensors.values()]
    [('fc.weight', 'float32', (3, 3))]
    """
    one_of(non_finite, "non_finite", ("refuse", "keep"))
    if isinstance(source, Mapping | np.ndarray):
        checkpoint = of_arrays(source)
    elif isinstance(source, str | os.PathLike):
        path = _only(Path(source)) if Path(source).is_dir() else Path(source)
        checkpoint = read_shards(path) if path.name.endswith(INDEX) else read_file(path, key)
    else:
        raise CheckpointError(f"source: found a {type(source).__name__}, expected a path, a mapping or an array.")
    if not checkpoint.tensors:
        raise CheckpointError(f"{checkpoint.name}: found no tensors, expected the weights of a network.")
    if non_finite == "refuse":
        _refuse_non_finite(checkpoint)
    return checkpoint


def read_folder(path: str | os.PathLike[str], *, key: str | None = None, non_finite: str = "refuse") -> Folder:
    """All checkpoints of a folder, by name. Parts of a checkpoint in several files are joined by their index.

    Of files that differ in suffix only, the one that needs no PyTorch is read. Other files, and folders within the
    folder, are left alone. Raises ``CheckpointError`` if the folder holds no file of weights.
    """
    checkpoints, refused = [], {}
    for file in _sources(Path(path)):
        try:
            checkpoints.append(read_checkpoint(file, key=key, non_finite=non_finite))
        except CheckpointError as error:
            refused[file.name] = str(error)
    return Folder(tuple(checkpoints), refused)


def non_finite_count(values: np.ndarray) -> int:
    """Number of entries that are NaN or infinite, counted in pieces, so that a mapped file stays out of memory.

    >>> non_finite_count(np.array([1, np.nan, -np.inf]))
    2
    """
    flat = values.reshape(-1, order="A")
    return sum(int(np.count_nonzero(~np.isfinite(flat[i : i + CHUNK]))) for i in range(0, flat.size, CHUNK))


def _refuse_non_finite(checkpoint: Checkpoint) -> None:
    for tensor in checkpoint.tensors.values():
        bad = non_finite_count(tensor.read()) if tensor.is_real else 0
        if bad:
            raise CheckpointError(
                f"{checkpoint.name}: found {bad} value(s) that are NaN or infinite in {tensor.name!r}, expected finite "
                "weights. Training diverged or the file is damaged; non_finite='keep' analyses the other layers."
            )


def _only(folder: Path) -> Path:
    found = _sources(folder)
    if len(found) > 1:
        raise CheckpointError(
            f"{folder}: found {len(found)} checkpoints, expected one. Name a file, or read all with read_folder."
        )
    return found[0]


def _sources(folder: Path) -> list[Path]:
    """Indices, files that no index names, and of equal stems those that NumPy alone can read."""
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: found no folder, expected one with files of weights. Check the path.")
    files = sorted(file for file in folder.iterdir() if file.is_file())
    indices = [file for file in files if file.name.endswith(INDEX)]
    parts = {part for index in indices for part in _parts(index)}
    plain = [file for file in files if file.suffix.lower() in PLAIN and file.name not in parts]
    stems = {stem(file.name.removesuffix(INDEX)) for file in (*plain, *indices)}
    torch = [file for file in files if file.suffix.lower() in TORCH and stem(file.name) not in stems]
    found = sorted([*indices, *plain, *torch])
    if not found:
        raise CheckpointError(f"{folder}: found no file of weights, expected one of {', '.join([*PLAIN, *TORCH])}.")
    return found


def _parts(index: Path) -> set[str]:
    try:
        return set(weight_map(index).values())
    except CheckpointError:  # said again when the index is read
        return set()
