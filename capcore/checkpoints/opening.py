"""Opening checkpoints in four steps: list the files, open each by its format, join the parts, and finish.

Listing uses file names and the indices of checkpoints in several files. Folders from model hubs hold more than weights:
optimisers, tokenizers, and the same weights in a second format. Files whose names show that they hold no network are
ignored, and so are files that hold no weights when opened. Finishing converts quantised and parametrised weights to the
weights that the layers apply.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from capcore.checkpoints.archives import read_npy, read_npz
from capcore.checkpoints.arrays import Arrays, Module, of_arrays
from capcore.checkpoints.files import File, strict_json
from capcore.checkpoints.gguf import read_gguf
from capcore.checkpoints.hdf5 import read_hdf5
from capcore.checkpoints.onnx import read_onnx
from capcore.checkpoints.parametrised import computed, tied_by_value
from capcore.checkpoints.quantised import dequantised
from capcore.checkpoints.safetensors import read_safetensors
from capcore.checkpoints.tensors import (
    DAMAGED,
    Checkpoint,
    CheckpointError,
    NoWeightsError,
    Step,
    Tensor,
    brief,
    damaged,
    finite_only,
    shown,
)
from capcore.checkpoints.torch_files import read_torch
from capcore.checks.arguments import of_kind, one_of
from capcore.results.notebook import as_table

Weights: TypeAlias = str | os.PathLike[str] | Arrays
"""Where weights are: a path, a state dict, one array, or a module."""

PLAIN: Mapping[str, Callable[[Path], Checkpoint]] = {
    ".safetensors": read_safetensors,
    ".npz": read_npz,
    ".npy": read_npy,
    ".onnx": read_onnx,
    ".gguf": read_gguf,
}
"""Suffix → reader, none of which needs PyTorch."""
TORCH = (".pt", ".pth", ".th", ".tar", ".bin", ".ckpt")
"""Suffixes of PyTorch files."""
HDF5 = (".h5", ".hdf5", ".keras")
"""Suffixes of Keras' files. In a folder they are read only if it has no others, because hubs add them as copies."""
INDEX = re.compile(r"\.index(\.[\w-]+)?\.json$")
PICKLES = "Other pickles are not opened: they can execute code. Save the weights as safetensors or with numpy.savez."
KERAS = "Load it with Keras and save its weights as .weights.h5, which is read through h5py."
OTHERS = {
    **dict.fromkeys((".pkl", ".pickle", ".joblib", ".dill", ".mar"), PICKLES),
    **dict.fromkeys((".pb", ".tflite"), KERAS),
    ".msgpack": "Load it with Flax and save its parameters by name with numpy.savez, joined by dots.",
}
"""Suffix → advice for a format that is not supported."""
LARGEST_INDEX = 100_000_000  # bytes
USUAL = ("model", "pytorch_model", "diffusion_pytorch_model", "consolidated", "adapter_model", "weights")
"""File names that do not identify a network, so the folder's name is used. Such files hold the same weights."""
_PART = re.compile(r"[-_.]\d+([-_]of[-_]\d+)?$")
_NO_NETWORK = re.compile(
    r"^(training_args|optimizer|scheduler|scaler|rng_state|random_states|tokenizer|sampler|zero_pp_rank|bf16_zero|mp_rank)"
    r"|_(optim_states|args)\.pt$|^events\.out|^group\d+-shard(?!1of)\d+of\d+"
)


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
    source : path, mapping, array or Module
        Either a path: a ``.safetensors``, ``.npz`` or ``.npy`` file; with PyTorch also ``.pt``, ``.pth``, ``.th``,
        ``.tar``, ``.bin`` or ``.ckpt``; ``.onnx`` and ``.gguf`` with the packages of these names; ``.h5``, ``.hdf5``
        and ``.keras`` with h5py; the ``.index.json`` of a checkpoint in several files; or a folder with one checkpoint.
        Or weights in memory: a mapping from names to arrays or PyTorch tensors (a state dict), whose nested names are
        joined by dots; one array; or an object with a ``state_dict``, such as a PyTorch module.
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
    checkpoints, refused = [], {}
    found = sources(Path(path))
    for file in found:
        try:
            checkpoint = _finished(file, _whole(file, key), non_finite)
        except NoWeightsError:
            continue
        except CheckpointError as error:
            refused[shown(file.name)] = str(error)
        else:
            checkpoints.append(named(checkpoint, file) if len(found) == 1 else checkpoint)
    if not checkpoints and not refused:
        raise CheckpointError(
            f"{path}: found no file of weights among {len(found)}, expected the weights of a network."
        )
    return Folder(tuple(checkpoints), refused)


def sources(folder: Path) -> list[Path]:
    """The files of a folder to open: indices, and files that no index names.

    If several hold the same weights, only those that do not need PyTorch are listed. Raises ``CheckpointError`` for a
    folder without any.
    """
    if not os.path.isdir(folder):
        raise CheckpointError(f"{folder}: found no folder, expected one with files of weights. Check the path.")
    files = sorted(file for file in folder.iterdir() if file.is_file() and not _NO_NETWORK.match(file.name))
    indices = [file for file in files if INDEX.search(file.name)]
    parts = {part for index in indices for part in _parts(index)}
    files = [file for file in files if file.name not in parts]
    plain = [file for file in files if file.suffix.lower() in PLAIN]
    plain_indices = [file for file in indices if ".safetensors" in file.name]
    stems = {_network(file.name) for file in (*plain, *plain_indices)}
    torch = [file for file in files if file.suffix.lower() in TORCH] + [i for i in indices if i not in plain_indices]
    found = sorted([*plain, *plain_indices, *(file for file in torch if _network(file.name) not in stems)])
    later = {name for file in found for name in _later(file)}
    found = [file for file in found if file.name not in later]
    found = found or [file for file in files if file.suffix.lower() in HDF5]
    if not found:
        known = ", ".join([*PLAIN, *TORCH, *HDF5])
        raise CheckpointError(f"{folder}: found no file of weights, expected one of {known}.")
    return found


def parts_of(path: Path) -> list[str]:
    """Names of all parts of a checkpoint without an index, given the first part, such as ``w-00001-of-00002.gguf``.

    Raises ``CheckpointError`` if a part is missing.
    """
    found = re.match(r"(.*[-_.])(0*1)([-_]of[-_])(\d{1,5})(\..*)$", path.name)
    if found is None or int(found[4]) < 2:
        return []
    width = len(found[2])
    names = [f"{found[1]}{i:0{width}}{found[3]}{found[4]}{found[5]}" for i in range(1, int(found[4]) + 1)]
    missing = [name for name in names[:1000] if not (path.parent / name).is_file()]
    if missing:
        raise CheckpointError(
            f"{path}: found no {missing[0]} beside it, expected all {found[4]} parts. Fetch the others."
        )
    return names


def _later(path: Path) -> list[str]:
    try:
        return parts_of(path)[1:]
    except CheckpointError:  # raised again when the file is read
        return []


def weight_map(index: Path) -> dict[str, str]:
    """Tensor → name of the file that holds it, in the folder of the index.

    Raises ``CheckpointError`` for an index that is malformed or names files in another folder.
    """
    file = File(index)
    if file.size > LARGEST_INDEX:
        raise CheckpointError(f"{index}: found {file.size} bytes, expected at most {LARGEST_INDEX}. {DAMAGED}")
    found = strict_json(file.read(0, file.size).tobytes(), str(index))
    weights = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(weights, dict) or not weights or not all(isinstance(part, str) for part in weights.values()):
        raise CheckpointError(f"{index}: found {brief(found)}, expected a weight_map from tensors to files. {DAMAGED}")
    suffixes = TORCH if ".bin" in index.name or ".pt" in index.name else (".safetensors",)
    for part in set(weights.values()):
        if Path(part).name != part or not part.endswith(suffixes) or not part.isprintable():
            expected = "PyTorch's" if suffixes is TORCH else "safetensors"
            raise CheckpointError(
                f"{index}: found the file {brief(part)}, expected {expected} files beside the index. {DAMAGED}"
            )
    return weights


def _parts(index: Path) -> set[str]:
    try:
        return set(weight_map(index).values())
    except CheckpointError:  # raised again when the index is read
        return set()


def stem(name: str) -> str:
    """A file's name without its known suffixes.

    >>> stem("resnet20.pth.tar")
    'resnet20'
    """
    name = INDEX.sub("", name)
    while Path(name).suffix.lower() in {*PLAIN, *TORCH, *HDF5}:
        name = Path(name).stem
    return name


def _network(name: str) -> str:
    """A name that is the same for all files of the same weights."""
    found = _PART.sub("", stem(name))
    return USUAL[0] if found in USUAL else stem(name)


def named(checkpoint: Checkpoint, path: Path) -> Checkpoint:
    """Name the checkpoint after its folder if the file's name is generic."""
    folder = path.absolute().parent.resolve().name
    return replace(checkpoint, name=shown(folder)) if folder and _network(path.name) == USUAL[0] else checkpoint


def _opened(path: Path, key: str | None) -> Checkpoint:
    """Open a file, an index or a folder, without checking or converting any values."""
    if os.path.isdir(path):
        found = sources(path)
        if len(found) > 1:
            raise CheckpointError(
                f"{path}: found {len(found)} checkpoints, expected one. Name a file, or read all with read_folder."
            )
        return named(_whole(found[0], key), found[0])
    if INDEX.search(path.name):
        weights = weight_map(path)
        parts = {name: read_file(path.parent / name, key) for name in sorted(set(weights.values()))}
        return joined(path, parts, weights)
    return read_file(path, key)


def _whole(path: Path, key: str | None) -> Checkpoint:
    """Open a file of a folder, together with the other parts if it is the first of several without an index."""
    names = parts_of(path)
    if not names:
        return _opened(path, key)
    parts = {name: read_file(path.parent / name, key) for name in names}
    return joined(path, parts, {name: part for part, each in parts.items() for name in each})


def read_file(path: Path, key: str | None = None) -> Checkpoint:
    """Open one file, without checking or converting any values. key : as for
    :func:`~capcore.checkpoints.torch_files.read_torch`.

    Raises ``CheckpointError`` for unknown suffixes, including those of other pickles.
    """
    suffix = path.suffix.lower()
    if suffix in PLAIN:
        return PLAIN[suffix](path)
    if suffix in TORCH:
        return read_torch(path, key)
    if suffix in HDF5:
        return read_hdf5(path)
    if not os.path.exists(path):
        raise CheckpointError(
            f"{path}: found no such file or folder. Check the path; those on a model hub are not fetched."
        )
    known = ", ".join([*PLAIN, *TORCH, *HDF5])
    raise CheckpointError(
        f"{path}: found the suffix {suffix!r}, expected one of {known}. "
        f"{OTHERS.get(suffix, 'Save the weights as safetensors or with numpy.savez.')}"
    )


def joined(index: Path, parts: Mapping[str, Checkpoint], weights: Mapping[str, str]) -> Checkpoint:
    """Join the parts of a checkpoint, which must hold exactly the tensors that the index assigns to them.

    parts : checkpoint by file name. weights : as :func:`weight_map` returns it. Raises ``CheckpointError`` if the files
    and the index disagree.
    """
    tensors: dict[str, Tensor] = {}
    for part, checkpoint in parts.items():
        for name, tensor in checkpoint.tensors.items():
            if weights.get(name) != part:
                expected = f"it in {brief(weights[name])}" if name in weights else "no tensor that it does not name"
                raise damaged(index, f"{name!r} in {part}", expected)
            tensors[name] = tensor
    missing = sorted(set(weights) - set(tensors))
    if missing:
        where = weights[missing[0]]
        raise CheckpointError(f"{index}: found no {brief(missing[0])} in {where}, expected it there. {DAMAGED}")

    def digest(step: Step) -> dict[str, str]:
        return {name: checkpoint.hashes(step)[checkpoint.name] for name, checkpoint in parts.items()}

    kind, size = next(iter(parts.values())).format, sum(checkpoint.size for checkpoint in parts.values())
    return named(Checkpoint(shown(stem(index.name)), kind, digest, size, tensors), index)


def _finished(path: Path, checkpoint: Checkpoint, non_finite: str) -> Checkpoint:
    """Convert weights to those that the layers apply.

    Configuration files in the same folder tell how they are quantised and how an adapter is scaled.
    """
    checkpoint = tied_by_value(computed(dequantised(checkpoint, lambda: _quantisation(path))))
    if any("lora_" in name for name in checkpoint) and (said := settings(path, "adapter_config.json")):
        checkpoint = replace(checkpoint, metadata={**checkpoint.metadata, "adapter_config": json.dumps(said)})
    return _checked(checkpoint, non_finite)


def _quantisation(path: Path) -> Mapping[str, Any]:
    """The quantisation settings in the configuration beside a checkpoint."""
    said = settings(path, "config.json").get("quantization_config")
    return said if isinstance(said, dict) else settings(path, "quantize_config.json")


def settings(path: Path, *names: str) -> dict[str, Any]:
    """Contents of the first of these JSON files that exists beside a checkpoint, or an empty dict if none does.

    path : the checkpoint's file or folder. Raises ``CheckpointError`` for a file that is damaged.
    """
    folder = path if os.path.isdir(path) else path.parent
    for name in names:
        if (folder / name).is_file():
            file = File(folder / name)
            found = strict_json(file.read(0, min(file.size, LARGEST_INDEX)).tobytes(), str(file.path))
            return found if isinstance(found, dict) else {}
    return {}


def _checked(checkpoint: Checkpoint, non_finite: str) -> Checkpoint:
    if not checkpoint.tensors:
        raise NoWeightsError(f"{checkpoint.name}: found no tensors, expected the weights of a network.")
    return finite_only(checkpoint) if non_finite == "refuse" else checkpoint
