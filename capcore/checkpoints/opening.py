"""Checkpoints: the tensors of a trained network by name, from a file of any format, a folder, or arrays in memory.

No file can execute code: pickles are read by PyTorch's weights-only loader or not at all
(:mod:`capcore.checkpoints.torch_files`), everything else by parsers that check what a file says against what it is
(:mod:`capcore.checkpoints.safetensors`, :mod:`capcore.checkpoints.archives`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from capcore.checkpoints import folders
from capcore.checkpoints.archives import read_npy, read_npz
from capcore.checkpoints.arrays import Arrays, Module, of_arrays
from capcore.checkpoints.folders import INDEX, TORCH, joined, weight_map
from capcore.checkpoints.folders import stem as stem
from capcore.checkpoints.foreign import read_gguf, read_onnx
from capcore.checkpoints.parametrised import computed
from capcore.checkpoints.quantised import dequantised
from capcore.checkpoints.safetensors import read_safetensors
from capcore.checkpoints.tensors import (
    Checkpoint,
    CheckpointError,
    NonFiniteError,
    NoWeightsError,
    Tensor,
    non_finite_count,
    shown,
)
from capcore.checkpoints.torch_files import read_torch
from capcore.gate import of_kind
from capcore.validation import one_of

Weights: TypeAlias = str | os.PathLike[str] | Arrays
"""Where weights are: a path, a state dict, one array, or a module."""
PLAIN: Mapping[str, Callable[[Path], Checkpoint]] = {
    ".safetensors": read_safetensors,
    ".npz": read_npz,
    ".npy": read_npy,
    ".onnx": read_onnx,
    ".gguf": read_gguf,
}
"""Suffix → reader that needs no PyTorch."""
PICKLES = "Other pickles are not opened: they can execute code. Save the weights as safetensors or with numpy.savez."
KERAS = "Load it with Keras and save its weights by name with numpy.savez; then --layout channels-last reads them."
OTHERS = {
    **dict.fromkeys((".pkl", ".pickle", ".joblib", ".dill", ".mar"), PICKLES),
    **dict.fromkeys((".h5", ".hdf5", ".keras", ".pb", ".tflite"), KERAS),
    ".msgpack": "Load it with Flax and save its parameters by name with numpy.savez, joined by dots.",
}
"""Suffix → what to do with a file that is not read."""
SMALL = 2**16  # entries: vectors and the like are looked at when a checkpoint is opened


@dataclass(frozen=True)
class Folder:
    """Checkpoints of a folder, and why each other file of weights in it was refused, by name."""

    checkpoints: tuple[Checkpoint, ...]
    refused: Mapping[str, str]


def read_checkpoint(source: Weights, *, key: str | None = None, non_finite: str = "refuse") -> Checkpoint:
    """The checkpoint in a file, or of arrays in memory.

    Parameters
    ----------
    source : path, mapping, array or Module
        A ``.safetensors``, ``.npz`` or ``.npy`` file; with PyTorch also ``.pt``, ``.pth``, ``.th``, ``.tar``, ``.bin``
        or ``.ckpt``, and with the packages of these names ``.onnx`` and ``.gguf``; the ``.index.json`` of a checkpoint
        in several files; a folder with one checkpoint; a mapping from names to arrays or PyTorch tensors (a state
        dict), nested ones joined by dots; one array; or what has a ``state_dict``, such as a PyTorch module.
    key : str, optional
        Of the mapping that holds the weights within a file of PyTorch's.
    non_finite : str
        What to do about NaN and infinity among the weights: ``refuse`` the checkpoint, or ``keep`` them, so that these
        layers are listed as not analysed, and the others are analysed. Tensors of more than 65,536 entries are refused
        when they are read, so that opening a large file takes no time.

    Raises
    ------
    CheckpointError
        Which says what was found, what was expected, and what to do.

    Examples
    --------
    >>> checkpoint = read_checkpoint({"fc.weight": np.eye(3, dtype=np.float32)})
    >>> [(tensor.name, tensor.dtype, tensor.shape) for tensor in checkpoint.tensors.values()]
    [('fc.weight', 'float32', (3, 3))]
    """
    one_of(non_finite, "non_finite", ("refuse", "keep"))
    if isinstance(source, Mapping | np.ndarray | Module):
        checkpoint = computed(dequantised(of_arrays(source)))
    elif isinstance(source, str | os.PathLike):
        return _finished(Path(source), _opened(Path(source), key), non_finite)
    else:
        found = type(source).__name__
        raise CheckpointError(f"source: found a {found}, expected a path, a mapping, an array or a module.")
    return _checked(checkpoint, non_finite)


def _finished(path: Path, checkpoint: Checkpoint, non_finite: str) -> Checkpoint:
    """What was opened, its weights as the layers take them, with what the files beside it say: how it is quantised, and
    how an adapter is scaled."""
    checkpoint = folders.tied_by_value(computed(dequantised(checkpoint, lambda: _quantisation(path))))
    if any("lora_" in name for name in checkpoint) and (said := folders.settings(path, "adapter_config.json")):
        checkpoint = replace(checkpoint, metadata={**checkpoint.metadata, "adapter_config": json.dumps(said)})
    return _checked(checkpoint, non_finite)


def _checked(checkpoint: Checkpoint, non_finite: str) -> Checkpoint:
    if not checkpoint.tensors:
        raise NoWeightsError(f"{checkpoint.name}: found no tensors, expected the weights of a network.")
    return _refusing(checkpoint) if non_finite == "refuse" else checkpoint


def _quantisation(path: Path) -> Mapping[str, Any]:
    """How the configuration beside a checkpoint says that it is quantised."""
    said = folders.settings(path, "config.json").get("quantization_config")
    return said if isinstance(said, dict) else folders.settings(path, "quantize_config.json")


def _opened(path: Path, key: str | None) -> Checkpoint:
    """The checkpoint of a file, an index or a folder; its values have not been looked at."""
    if os.path.isdir(path):
        found = folders.sources(path)
        if len(found) > 1:
            raise CheckpointError(
                f"{path}: found {len(found)} checkpoints, expected one. Name a file, or read all with read_folder."
            )
        return folders.named(_whole(found[0], key), found[0])
    if INDEX.search(path.name):
        weights = weight_map(path)
        parts = {name: read_file(path.parent / name, key) for name in sorted(set(weights.values()))}
        return joined(path, parts, weights)
    return read_file(path, key)


def _whole(path: Path, key: str | None) -> Checkpoint:
    """The checkpoint of a file of a folder, with its other parts where it is the first of several without an index."""
    names = folders.parts_of(path)
    if not names:
        return _opened(path, key)
    parts = {name: read_file(path.parent / name, key) for name in names}
    return joined(path, parts, {name: part for part, each in parts.items() for name in each})


def read_folder(path: str | os.PathLike[str], *, key: str | None = None, non_finite: str = "refuse") -> Folder:
    """All checkpoints of a folder, by name. Parts of a checkpoint in several files are joined by their index.

    Of files of the same weights the one that needs no PyTorch is read. Other files, such as those of optimisers and
    tokenizers, and folders within the folder, are left alone. A checkpoint called ``model`` or the like is named after
    the folder.

    Parameters
    ----------
    path : path
        Of the folder.
    key : str, optional
        As for :func:`~capcore.checkpoints.opening.read_checkpoint`.
    non_finite : str
        As there.

    Raises
    ------
    CheckpointError
        If the folder holds no file of weights.
    """
    of_kind(path, "path", str | os.PathLike)
    checkpoints, refused = [], {}
    found = folders.sources(Path(path))
    for file in found:
        try:
            checkpoint = _finished(file, _whole(file, key), non_finite)
        except NoWeightsError:
            continue
        except CheckpointError as error:
            refused[shown(file.name)] = str(error)
        else:
            checkpoints.append(folders.named(checkpoint, file) if len(found) == 1 else checkpoint)
    if not checkpoints and not refused:
        raise CheckpointError(
            f"{path}: found no file of weights among {len(found)}, expected the weights of a network."
        )
    return Folder(tuple(checkpoints), refused)


def read_file(path: Path, key: str | None = None) -> Checkpoint:
    """The checkpoint in one file; its values have not been looked at. key : of the weights, see
    :func:`~capcore.checkpoints.torch_files.read_torch`.

    Raises ``CheckpointError`` for other suffixes, among them those of other pickles.
    """
    suffix = path.suffix.lower()
    if suffix in PLAIN:
        return PLAIN[suffix](path)
    if suffix in TORCH:
        return read_torch(path, key)
    if not os.path.exists(path):
        raise CheckpointError(
            f"{path}: found no such file or folder. Check the path; those on a model hub are not fetched."
        )
    known = ", ".join([*PLAIN, *TORCH])
    raise CheckpointError(
        f"{path}: found the suffix {suffix!r}, expected one of {known}. "
        f"{OTHERS.get(suffix, 'Save the weights as safetensors or with numpy.savez.')}"
    )


def _refusing(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint, which raises ``NonFiniteError`` where such weights are read; small tensors are read here."""

    def checked(tensor: Tensor, values: np.ndarray) -> np.ndarray:
        if bad := non_finite_count(values):
            raise NonFiniteError(
                f"{checkpoint.name}: found {bad} value(s) that are NaN or infinite in {tensor.name!r}, expected finite "
                "weights. Training diverged or the file is damaged; non_finite='keep' analyses the other layers."
            )
        return values

    def refusing(tensor: Tensor) -> Tensor:
        one = (lambda i: checked(tensor, tensor.read_one(i))) if tensor.one else None
        return replace(tensor, values=lambda: checked(tensor, tensor.values()), one=one)

    found = {name: refusing(tensor) if tensor.is_real else tensor for name, tensor in checkpoint.tensors.items()}
    for tensor in found.values():
        if tensor.is_real and tensor.size <= SMALL:
            tensor.read()
    return replace(checkpoint, tensors=found)
