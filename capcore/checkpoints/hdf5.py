"""HDF5 files of Keras (``.h5``, ``.hdf5``, ``.keras``), read through the optional package ``h5py``.

A ``.keras`` file is a zip archive that holds such a file. Keras stores kernels as (*kernel, in, out); they are turned
to (out, in, *kernel), as all other readers give them. Which parameter a number in a name stands for depends on the
class of the layer, so kernels are recognised by their axes, and depthwise ones by the name of their layer. Two bytes of
no type are bfloat16, which HDF5 has no name for.

A file can refer to other files, through external links, external storage and virtual datasets, and to filters, which
are libraries. Links are not followed, and the others are refused.
"""

import math
import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np

from capcore.checkpoints.files import File, check_expansion, guarded, open_archive, package
from capcore.checkpoints.number_types import bfloat16, is_bfloat16
from capcore.checkpoints.tensors import CheckpointError, Tensor

INSIDE = "model.weights.h5"
"""Name of the weights within a ``.keras`` file."""
FILTERS = (None, "gzip", "lzf")
_DEPTHWISE = r"(^|/)(depthwise_conv|separable_conv)[^/]*/(vars/)?(0|depthwise_kernel(:0)?)$|depthwise_kernel"
_ASIDE = {
    "State of an optimiser.": r"^(optimizer_weights|optimizer|optimizer_variables)(/|$)",
    "No matrix: a depthwise kernel, of which every channel has its own.": _DEPTHWISE,
    "A bias, though of several axes: it is added.": r"(query|key|value)_dense/vars/1$",
}


def read_hdf5(file: File) -> Iterator[Tensor]:
    """Arrays of an HDF5 file of Keras by their path in the file.

    Raises ``CheckpointError`` for files that are damaged, refer to other files, or expand to far more than their size.
    """
    h5py = package(file.path, "h5py")
    inside = _inside(file) if file.path.suffix.lower() == ".keras" else b""

    def open_file() -> Any:
        file.read(0, 1)  # raises if the file has changed
        return h5py.File(BytesIO(inside) if inside else str(file.path), "r")

    datasets = {}
    with open_file() as content:
        content.visititems(lambda name, item: datasets.update({name: item}) if isinstance(item, h5py.Dataset) else None)
        check_expansion(file, sum(int(d.dtype.itemsize) * math.prod(d.shape or ()) for d in datasets.values()))
        for name, dataset in datasets.items():
            yield _tensor(file, open_file, name, dataset)


def _inside(file: File) -> bytes:
    with open_archive(file) as archive:
        if INSIDE not in archive.namelist():
            raise CheckpointError(f"{file.path}: found no {INSIDE} in the archive, expected a file that Keras saved.")
        return archive.read(INSIDE)


def _tensor(file: File, open_file: Any, name: str, dataset: Any) -> Tensor:
    where, shape = f"{file.path}: {name!r}", dataset.shape
    brain = is_bfloat16(dataset.dtype)
    if shape is None or (dataset.dtype.kind not in "fiubc" and not brain):
        return Tensor(name, "no array", (), unread="Not numbers: ignored.")
    if dataset.is_virtual or dataset.external or dataset.compression not in FILTERS:
        raise CheckpointError(f"{where}: found values in another file or in an unusual filter, expected them in place.")
    order = [*range(len(shape))]
    if 2 <= len(shape) <= 5 and not (len(shape) == 2 and "embed" in name.lower()):
        order = [*order[:-3:-1], *order[:-2]]  # tables and vectors stay as they are

    @guarded(where)
    def values() -> np.ndarray:
        with open_file() as content:
            array = np.asarray(content[name][()]).transpose(order)
        return bfloat16(array.view("<u2")) if brain else array

    aside = next((reason for reason, pattern in _ASIDE.items() if re.search(pattern, name)), "")
    stored = "" if order == sorted(order) else f"Keras {' × '.join(map(str, shape))}"
    dtype = "bfloat16" if brain else dataset.dtype.name
    return Tensor(name, dtype, tuple(shape[i] for i in order), values, aside=aside, stored=stored)
