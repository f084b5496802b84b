"""Checkpoints: the tensors of a trained network by name, from a file of any format, a folder, or arrays in memory.

No file can execute code: pickles are read by PyTorch's weights-only loader or not at all
(:mod:`capcore.spectra.torch_files`), everything else by parsers that check what a file says against what it is
(:mod:`capcore.spectra.safetensors`, :mod:`capcore.spectra.archives`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from capcore.spectra.archives import read_npy, read_npz
from capcore.spectra.safetensors import INDEX, read_safetensors, read_shards, weight_map
from capcore.spectra.tensors import Checkpoint, CheckpointError, Tensor, checked_name
from capcore.spectra.torch_files import of_torch, read_torch
from capcore.validation import one_of

Weights: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | np.ndarray
"""Where weights are: a path, a state dict, or one array."""
PLAIN: Mapping[str, Callable[[Path], Checkpoint]] = {
    ".safetensors": read_safetensors,
    ".npz": read_npz,
    ".npy": read_npy,
}
"""Suffix → reader that needs NumPy alone."""
TORCH = (".pt", ".pth", ".th", ".tar", ".bin", ".ckpt")
"""Suffixes of PyTorch's files."""
CHUNK = 2**20  # entries looked at together


@dataclass(frozen=True)
class Folder:
    """Checkpoints of a folder, and why each other file of weights in it was refused, by name."""

    checkpoints: tuple[Checkpoint, ...]
    refused: Mapping[str, str]


def read_checkpoint(source: Weights, *, key: str | None = None, non_finite: str = "refuse") -> Checkpoint:
    """The checkpoint in a file, or of arrays in memory.

    Parameters
    ----------
    source : path, mapping or array
        A ``.safetensors``, ``.npz`` or ``.npy`` file; with PyTorch also ``.pt``, ``.pth``, ``.th``, ``.tar``, ``.bin``
        or ``.ckpt``; the ``.index.json`` of a checkpoint in several files; a folder with one checkpoint; a mapping
        from names to arrays or PyTorch tensors (a state dict), nested ones joined by dots; or one array.
    key : str, optional
        Of the mapping that holds the weights within a file of PyTorch's.
    non_finite : str
        What to do about NaN and infinity among the weights: ``refuse`` the checkpoint, or ``keep`` them, so that these
        layers are listed as not analysed, and the others are analysed.

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
    folder, are left alone.

    Parameters
    ----------
    path : path
        Of the folder.
    key : str, optional
        As for :func:`~capcore.spectra.checkpoints.read_checkpoint`.
    non_finite : str
        As there.

    Raises
    ------
    CheckpointError
        If the folder holds no file of weights.
    """
    checkpoints, refused = [], {}
    for file in _sources(Path(path)):
        try:
            checkpoints.append(read_checkpoint(file, key=key, non_finite=non_finite))
        except CheckpointError as error:
            refused[file.name] = str(error)
    return Folder(tuple(checkpoints), refused)


def read_file(path: Path, key: str | None = None) -> Checkpoint:
    """The checkpoint in one file; its values have not been looked at. key : of the weights, see
    :func:`~capcore.spectra.torch_files.read_torch`.

    Raises ``CheckpointError`` for other suffixes, among them those of other pickles.
    """
    suffix = path.suffix.lower()
    if suffix in PLAIN:
        return PLAIN[suffix](path)
    if suffix in TORCH:
        return read_torch(path, key)
    raise CheckpointError(
        f"{path}: found the suffix {suffix!r}, expected one of {', '.join([*PLAIN, *TORCH])}. "
        "Save the weights as safetensors or with numpy.savez. Other pickles are not opened: they can execute code."
    )


def stem(name: str) -> str:
    """A file's name without its known suffixes.

    >>> stem("resnet20.pth.tar")
    'resnet20'
    """
    while Path(name).suffix.lower() in {*PLAIN, *TORCH}:
        name = Path(name).stem
    return name


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
