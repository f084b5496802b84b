"""Which reader a file gets, by its suffix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from capcore.spectra.archives import read_npy, read_npz
from capcore.spectra.safetensors import read_safetensors
from capcore.spectra.tensors import Checkpoint, CheckpointError
from capcore.spectra.torch_files import read_torch

PLAIN: Mapping[str, Callable[[Path], Checkpoint]] = {
    ".safetensors": read_safetensors,
    ".npz": read_npz,
    ".npy": read_npy,
}
"""Suffix → reader that needs NumPy alone."""
TORCH = (".pt", ".pth", ".th", ".tar", ".bin", ".ckpt")
"""Suffixes of PyTorch's files."""


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
