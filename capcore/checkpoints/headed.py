"""An ``.npz`` archive of arrays with a JSON header: how results are kept in a file.

The header is the array ``header``: bytes (uint8) of JSON in UTF-8. All other members are plain numbers, uncompressed.
NumPy alone reads them: ``numpy.load(path)["header"].tobytes()``. Reading executes nothing, and checks every stated size
against the file first (:mod:`capcore.checkpoints.numpy_files`). Equal contents give the same bytes.
"""

from __future__ import annotations

import json
import os
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from capcore.checkpoints.files import strict_json
from capcore.checkpoints.opening import read_file
from capcore.checkpoints.tensors import Checkpoint, CheckpointError

HEADER = "header"
LONGEST_HEADER = 100_000_000  # bytes: parsed JSON takes up to twenty times as much memory
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip archive can state


def write_headed(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write header and arrays. A file that exists is replaced at the end, in one step: nothing is lost on the way.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    IsADirectoryError
        If the path is a folder.
    """
    place = Path(path)
    place = place.resolve() if place.is_symlink() else place  # what a link leads to is replaced, and not the link
    if place.is_dir():
        raise IsADirectoryError(f"path: found the folder {path}, expected the name of a file. Add one.")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"path: found no folder {place.parent}, expected one that exists. Make it first.")
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    members = {HEADER: np.frombuffer(text, np.uint8), **arrays}
    draft = place.with_name(f".draft-{secrets.token_hex(8)}")
    try:
        with open(draft, "xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                for name, values in members.items():
                    with archive.open(zipfile.ZipInfo(f"{name}.npy", EPOCH), "w", force_zip64=True) as member:
                        npy.write_array(member, np.asanyarray(values), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)


def read_headed(path: str | Path) -> tuple[dict[str, Any], Checkpoint]:
    """The header, and the arrays by name, each read when it is asked for.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, holds Python objects, expands to far more than its size, or has no such header.
    """
    arrays = read_file(path)
    stated = arrays.tensors.get(HEADER)
    if stated is None or stated.dtype != "uint8" or len(stated.shape) != 1 or stated.size > LONGEST_HEADER:
        raise CheckpointError(
            f"{path}: found an archive without the header of a saved result, expected a file that save(path) wrote. "
            "Open checkpoints with capcore.read_checkpoint, other arrays with numpy.load."
        )
    header = strict_json(stated.read().tobytes(), f"{path}: its header")
    if not isinstance(header, dict):
        raise CheckpointError(f"{path}: found a header of type {type(header).__name__}, expected names and values.")
    return header, arrays
