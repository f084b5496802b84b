"""How the files of eleven trained residual networks are found and read.

Each original is found in a folder or fetched, checked by its hash, and read without executing anything.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Self

import numpy as np

from capcore.checkpoints import files as weight_files
from capcore.checkpoints.folders import TORCH, stem
from capcore.checkpoints.opening import read_checkpoint
from capcore.checkpoints.tensors import Checkpoint, CheckpointError
from chapters.shared.resnets import NetworkSource

PLACEHOLDERS = ("distiller.thinning.ThinningRecipe", "torch.optim.sgd.SGD")
"""Classes that three of the files hold beside their weights: a record of what was cut away, and an optimiser."""
PREFIX = "module."
"""What data-parallel training writes before every name."""


def weights_hash(checkpoint: Checkpoint) -> str:
    """SHA-256 of all matrices and kernels of a network by name, the same for every file format.

    Names are sorted and lose their ``module.``; values are hashed as little-endian float32.

    >>> first = weights_hash(read_checkpoint({"module.fc": np.eye(2)}))
    >>> first == weights_hash(read_checkpoint({"fc": np.eye(2), "fc.bias": np.zeros(2)}))
    True
    """
    digest = hashlib.sha256()
    for name in sorted(checkpoint.tensors, key=bare):
        tensor = checkpoint.tensors[name]
        if tensor.is_real and len(tensor.shape) > 1:
            digest.update(repr((bare(name), tensor.shape)).encode())
            digest.update(np.ascontiguousarray(tensor.read(), "<f4").tobytes())
    return digest.hexdigest()


def bare(name: str) -> str:
    """A tensor's name without ``module.``.

    >>> bare("module.fc.weight")
    'fc.weight'
    """
    return name.removeprefix(PREFIX)


def find_file(source: NetworkSource, folder: str | Path) -> Path:
    """The file in a folder or below it: the original, or one with the same stem that needs no PyTorch, which is taken.

    Raises ``CheckpointError`` where there is none.
    """
    root = Path(folder)
    paths = [path for path in sorted(root.rglob(f"{stem(source.file)}.*")) if stem(path.name) == stem(source.file)]
    suitable = [path for path in paths if path.suffix == ".safetensors"] or [p for p in paths if p.name == source.file]
    if not suitable:
        raise CheckpointError(
            f"{root}: found neither {source.file} nor {stem(source.file)}.safetensors, expected one of them there or "
            "in a folder below. Leave --folder out to fetch the original."
        )
    return suitable[0]


def fetch_file(source: NetworkSource, cache: str | Path) -> Path:
    """The original file, fetched into a folder unless it lies there already. Needs pooch.

    Raises ``CheckpointError`` where it cannot be fetched, or is not the file that was analysed.
    """
    pooch = import_module("pooch")  # has no types

    address = source.address()
    try:
        return Path(pooch.retrieve(address, f"sha256:{source.sha256}", fname=source.file, path=cache))
    except (OSError, ValueError) as error:  # of requests, and pooch's word for another hash
        raise CheckpointError(
            f"{address}: could not be fetched as the file that was analysed ({error}). Nothing of it was kept or "
            "opened. Check the connection, or fetch it by hand and use --folder."
        ) from None


def read_network(source: NetworkSource, path: str | Path) -> Checkpoint:
    """The checkpoint in a file of :func:`find_file` or :func:`fetch_file`, if it is the one that was analysed.

    Original files are compared by their hash *before* they are opened, conversions by the hash of their weights.
    Three originals hold classes beside their weights. Their names are given to PyTorch's weights-only loader with
    classes that do nothing in their place, so that nothing is looked up, imported or called; other classes are refused.
    Raises ``CheckpointError``.
    """
    path = Path(path)
    if path.suffix in TORCH and (own := weight_files.sha256(path)) != source.sha256:
        raise CheckpointError(
            f"{path}: found a file with SHA-256 {own[:12]}…, expected {source.sha256[:12]}…, the one that was "
            "analysed. It was not opened: fetch it again."
        )
    with placeholders():
        checkpoint = read_checkpoint(path)
    weights = weights_hash(checkpoint)
    if weights != source.weights_sha256:
        raise CheckpointError(
            f"{path}: found weights with SHA-256 {weights[:12]}…, expected {source.weights_sha256[:12]}…, those of "
            f"{source.repository}/{source.path}. Convert that file again, or use it as it is."
        )
    return checkpoint


class _Inert:
    """Stands where a pickle names a class that is of no interest: takes whatever it is given and does nothing."""

    def __new__(cls, *_: object, **__: object) -> Self:
        return object.__new__(cls)

    def __setstate__(self, state: object) -> None:
        """Forget the state."""


@contextmanager
def placeholders() -> Iterator[None]:
    """While it lasts, PyTorch's weights-only loader puts inert objects in place of ``PLACEHOLDERS``.

    Without PyTorch nothing happens: the reader says that it is missing.
    """
    if find_spec("torch") is None:
        yield
        return
    with import_module("torch.serialization").safe_globals([(type("Inert", (_Inert,), {}), n) for n in PLACEHOLDERS]):
        yield
