"""Opening checkpoints: list the files, open each by its format, join the parts, and finish.

Every format has one function that yields its tensors one by one, whose values are read later. What all formats share
is done here: names, shapes and duplicates are checked, quantised and parametrised weights are converted to the weights
that the layers apply.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from capcore.checkpoints import folders
from capcore.checkpoints.arrays import of_arrays
from capcore.checkpoints.files import File, guarded
from capcore.checkpoints.foreign import refuse, refuse_folder
from capcore.checkpoints.gguf import read_gguf
from capcore.checkpoints.hdf5 import read_hdf5
from capcore.checkpoints.numpy_files import read_npy, read_npz
from capcore.checkpoints.onnx import read_onnx
from capcore.checkpoints.parametrised import computed, tied_by_value
from capcore.checkpoints.quantised import dequantised
from capcore.checkpoints.safetensors import read_safetensors
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, NoWeightsError, Tensor, finite_only, named, shown
from capcore.checkpoints.torch_files import read_torch
from capcore.checks.arguments import of_kind, one_of
from capcore.results.notebook import as_table

Weights = Any
"""A path, a module, a state dict, nested dictionaries and lists of arrays, one array, or a pytree of JAX."""
READERS: dict[str, Any] = {
    "safetensors": read_safetensors, "npz": read_npz, "npy": read_npy, "onnx": read_onnx, "gguf": read_gguf,
    "hdf5": read_hdf5, "torch": read_torch,
}  # fmt: skip
"""Format → the function that yields the tensors of a file."""
_FORMATS = {**dict.fromkeys(folders.TORCH, "torch"), **dict.fromkeys(folders.HDF5, "hdf5")}


@dataclass(frozen=True)
class Folder:
    """The checkpoints of a folder, and for each file that was refused, by name, the reason."""

    checkpoints: tuple[Checkpoint, ...]
    refused: Mapping[str, str]

    _repr_html_ = as_table


def read_checkpoint(source: Weights, *, key: str | None = None, non_finite: str = "refuse") -> Checkpoint:
    """Open the checkpoint in a file or folder, or make one of arrays in memory.

    Parameters
    ----------
    source : path or arrays
        Either a path: a ``.safetensors``, ``.npz`` or ``.npy`` file; with PyTorch also ``.pt``, ``.pth``, ``.th``,
        ``.tar``, ``.bin`` or ``.ckpt``; ``.onnx`` and ``.gguf`` with the packages of these names; ``.h5``, ``.hdf5``
        and ``.keras`` with h5py; the ``.index.json`` or the first part of a checkpoint in several files; or a folder
        with one checkpoint.
        Or weights in memory, as :func:`~capcore.checkpoints.arrays.of_arrays` takes them: a state dict, an object with
        a ``state_dict`` such as a PyTorch module, nested dictionaries and lists of arrays, or one array.
    key : str, optional
        Name of the mapping that holds the weights within a PyTorch file.
    non_finite : str
        What to do about NaN and infinity among the weights. ``refuse`` rejects the checkpoint. ``keep`` lists the
        affected layers as not analysed and analyses the others. Tensors of more than 65,536 entries are checked only
        when they are read, so that large files open quickly.

    Raises
    ------
    CheckpointError
        If the weights cannot be read. The message says what was found, what was expected, and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> checkpoint = read_checkpoint({"fc.weight": np.eye(3, dtype=np.float32)})
    >>> [(tensor.name, tensor.dtype, tensor.shape) for tensor in checkpoint.tensors.values()]
    [('fc.weight', 'float32', (3, 3))]
    """
    one_of(non_finite, "non_finite", ("refuse", "keep"))
    if isinstance(source, str | os.PathLike):
        return _finished(Path(source), _checkpoint_at(Path(source), key), non_finite)
    return _checked(computed(dequantised(of_arrays(source))), non_finite)


def read_folder(path: str | os.PathLike[str], *, key: str | None = None, non_finite: str = "refuse") -> Folder:
    """Open all checkpoints of a folder. If one is split over several files, they are joined by their index.

    If several files hold the same weights, the one that does not need PyTorch is read. Subfolders and other files, such
    as optimisers and tokenizers, are ignored. If the folder holds a single checkpoint with a generic name such as
    ``model``, it is named after the folder.

    Parameters
    ----------
    path : path
        The folder.
    key : str, optional
        As for :func:`~capcore.checkpoints.opening.read_checkpoint`.
    non_finite : str
        As for :func:`~capcore.checkpoints.opening.read_checkpoint`.

    Raises
    ------
    CheckpointError
        If the folder holds no file of weights.
    """
    of_kind(path, "path", str | os.PathLike)
    files, checkpoints, refused = folders.sources(Path(path)), [], {}
    for file in files:
        try:
            checkpoint = _finished(file, _checkpoint_at(file, key), non_finite)
        except NoWeightsError:
            continue
        except CheckpointError as error:
            refused[shown(file.name)] = str(error)
        else:
            checkpoints.append(_named(checkpoint, file) if len(files) == 1 else checkpoint)
    if not checkpoints and not refused:
        refuse_folder(Path(path))
        raise CheckpointError(f"{path}: found no file of weights among {len(files)}, expected those of a network.")
    return Folder(tuple(checkpoints), refused)


def read_file(path: str | os.PathLike[str], key: str | None = None) -> Checkpoint:
    """Open one file, without checking or converting any values. key : as for :func:`read_checkpoint`.

    Raises ``CheckpointError`` for unknown suffixes, including those of other pickles.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in folders.KNOWN:
        if not os.path.exists(path):
            raise CheckpointError(f"{path}: found no such file or folder. Check the path: no model hub is asked.")
        refuse([path.name], path.parent)
        expected = f"expected one of {', '.join(folders.KNOWN)}; other pickles can execute code"
        advice = "Save the weights as safetensors or with numpy.savez."
        raise CheckpointError(f"{path}: found the suffix {suffix!r}, {expected}. {advice}")
    file, kind = File(path), _FORMATS.get(suffix, suffix[1:])
    with guarded(str(path)):
        tensors = named(READERS[kind](file, key) if kind == "torch" else READERS[kind](file), path)
    size = file.size + sum(part.size for part in file.neighbours.values())
    return Checkpoint(shown(path.name), kind, file.digest, size, tensors)


def _checkpoint_at(path: Path, key: str | None) -> Checkpoint:
    """Open a file, all parts of which it is the index or the first, or a folder, without converting any values."""
    if os.path.isdir(path):
        files = folders.sources(path)
        if len(files) > 1:
            advice = "Name a file, or read all with read_folder."
            raise CheckpointError(f"{path}: found {len(files)} checkpoints, expected one. {advice}")
        return _named(_checkpoint_at(files[0], key), files[0])
    names = folders.parts_of(path)
    return _joined(path, key, names) if names else read_file(path, key)


def _joined(path: Path, key: str | None, names: Sequence[str]) -> Checkpoint:
    """Join the parts of a checkpoint, which must hold exactly the tensors that an index assigns to them, each once."""
    parts = {name: read_file(path.parent / name, key) for name in names}
    weights = {name: part for part, checkpoint in parts.items() for name in checkpoint}
    weights = folders.weight_map(path) if folders.INDEX.search(path.name) else weights
    tensors: dict[str, Tensor] = {}
    for part, checkpoint in parts.items():
        stated = {name for name, place in weights.items() if place == part}
        if wrong := sorted(stated ^ {*checkpoint}):
            what = f"{'no ' * (wrong[0] in stated)}{wrong[0]!r:.60} in {part}"
            raise CheckpointError(f"{path}: found {what}, expected what the index says. Fetch all parts again.")
        tensors |= checkpoint.tensors

    def digest() -> dict[str, str]:
        return {name: checkpoint.hashes[checkpoint.name] for name, checkpoint in parts.items()}

    kind, size = next(iter(parts.values())).format, sum(checkpoint.size for checkpoint in parts.values())
    return _named(Checkpoint(shown(folders.stem(path.name)), kind, digest, size, tensors), path)


def _named(checkpoint: Checkpoint, path: Path) -> Checkpoint:
    """Name the checkpoint after its folder if the file's name is generic."""
    folder, generic = path.absolute().parent.resolve().name, folders.network_name(path.name) == folders.USUAL[0]
    return replace(checkpoint, name=shown(folder)) if folder and generic else checkpoint


def _finished(path: Path, checkpoint: Checkpoint, non_finite: str) -> Checkpoint:
    """Convert weights to those that the layers apply.

    Configuration files in the same folder tell how they are quantised and how an adapter is scaled.
    """
    checkpoint = tied_by_value(computed(dequantised(checkpoint, lambda: _quantisation(path))))
    if any("lora_" in name for name in checkpoint):
        checkpoint = replace(checkpoint, adapter_config=folders.settings(path, "adapter_config.json"))
    return _checked(checkpoint, non_finite)


def _quantisation(path: Path) -> Mapping[str, Any]:
    """The quantisation settings in the configuration beside a checkpoint."""
    said = folders.settings(path, "config.json").get("quantization_config")
    return said if isinstance(said, dict) else folders.settings(path, "quantize_config.json")


def _checked(checkpoint: Checkpoint, non_finite: str) -> Checkpoint:
    if not checkpoint.tensors:
        raise NoWeightsError(f"{checkpoint.name}: found no tensors, expected the weights of a network.")
    return finite_only(checkpoint) if non_finite == "refuse" else checkpoint
