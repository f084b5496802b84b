"""HDF5 files of Keras (``.h5``, ``.hdf5``, ``.keras``), read through the optional package ``h5py``.

A ``.keras`` file is a zip archive that holds such a file. Keras stores kernels as (*kernel, in, out); they are turned
to (out, in, *kernel), as all other readers give them. Which parameter a number in a name stands for depends on the
class of the layer, so kernels are recognised by their axes, and depthwise ones by the name of their layer.

A file can refer to other files, through external links, external storage and virtual datasets, and to filters, which
are libraries. Links are not followed, and the others are refused.
"""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from capcore.checkpoints.files import ALWAYS, EXPANSION, File, Guarded, open_archive, package
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Tensor, checked_name, checked_shape, count, shown

INSIDE = "model.weights.h5"
"""Name of the weights within a ``.keras`` file."""
FILTERS = (None, "gzip", "lzf")
_OPTIMISER = re.compile(r"^(optimizer_weights|optimizer|optimizer_variables)(/|$)")
_DEPTHWISE = re.compile(
    r"(^|/)(depthwise_conv|separable_conv)[^/]*/(vars/)?(0|depthwise_kernel(:0)?)$|depthwise_kernel"
)
_TABLE = re.compile(r"embed", re.IGNORECASE)


def read_hdf5(path: str | Path) -> Checkpoint:
    """Arrays of an HDF5 file of Keras by their path in the file. Needs the package ``h5py``.

    Raises ``CheckpointError`` for files that are damaged, refer to other files, or expand to far more than their size.
    """
    file, h5py = File(path), package(Path(path), "h5py")
    held = _inside(file.path) if file.path.suffix.lower() == ".keras" else None
    most = max(ALWAYS, EXPANSION * file.size)
    tensors: dict[str, Tensor] = {}
    with Guarded(str(path)), h5py.File(BytesIO(held) if held is not None else str(path), "r") as opened:
        found: dict[str, Any] = {}
        opened.visititems(lambda name, each: found.update({name: each}) if isinstance(each, h5py.Dataset) else None)
        for name, each in found.items():
            tensor = _tensor(h5py, file, held, checked_name(name, str(path)), each)
            tensors[tensor.name] = tensor
        total = sum(int(each.dtype.itemsize) * count(tuple(each.shape or ())) for each in found.values())
    if total > most:
        raise CheckpointError(
            f"{path}: found arrays of {total} bytes in a file of {file.size}, expected at most {most}."
        )
    return Checkpoint(shown(file.path.name), "hdf5", file.digest, file.size, tensors)


def _inside(path: Path) -> bytes:
    with open_archive(path) as archive:
        if INSIDE not in archive.namelist():
            raise CheckpointError(f"{path}: found no {INSIDE} in the archive, expected a file that Keras saved.")
        with Guarded(str(path)):
            return archive.read(INSIDE)


def _tensor(h5py: Any, file: File, held: bytes | None, name: str, each: Any) -> Tensor:
    where = f"{file.path}: {name!r}"
    if each.shape is None or each.dtype.kind not in "fiub":
        return Tensor(name, "no array", (), lambda: np.zeros(0), "Not real numbers: ignored.")
    if each.is_virtual or each.external or each.compression not in FILTERS:
        raise CheckpointError(f"{where}: found values in another file or in an unusual filter, expected them in place.")
    stored = checked_shape(list(each.shape), where)
    order = _order(name, stored)

    @Guarded(where)
    def values() -> np.ndarray:
        file.read(0, 1)  # raises if the file has changed
        with h5py.File(BytesIO(held) if held is not None else str(file.path), "r") as opened:
            return np.asarray(opened[name][()]).transpose(order)

    told = "" if order == [*range(len(stored))] else f"Keras {' × '.join(map(str, stored))}"
    aside = "State of an optimiser." if _OPTIMISER.match(name) else ""
    aside = "No matrix: a depthwise kernel, of which every channel has its own." if _DEPTHWISE.search(name) else aside
    return Tensor(name, each.dtype.name, tuple(stored[i] for i in order), values, aside=aside, stored=told)


def _order(name: str, shape: tuple[int, ...]) -> list[int]:
    """Order of the axes that turns (*kernel, in, out) to (out, in, *kernel); tables and vectors stay as they are."""
    axes = [*range(len(shape))]
    if len(shape) < 2 or len(shape) > 5 or (len(shape) == 2 and _TABLE.search(name)):
        return axes
    return [axes[-1], axes[-2], *axes[:-2]]
