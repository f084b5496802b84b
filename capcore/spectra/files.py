"""Files as bytes that can be looked at without being executed or held in memory."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from capcore.spectra.tensors import CheckpointError


def map_file(path: Path) -> np.ndarray:
    """(n,) bytes of a file, mapped rather than read. It must not be cut short while the array is in use.

    Raises ``CheckpointError`` for what is not a file, is empty, or may not be read.
    """
    if not path.is_file():  # also keeps pipes and devices out, which never end
        found = "no such file" if not path.exists() else "something that is not a file"
        raise CheckpointError(f"{path}: found {found}, expected a file of weights. Check the path.")
    if not os.path.getsize(path):
        raise CheckpointError(f"{path}: found an empty file, expected weights. Fetch it again.")
    try:
        return np.memmap(path, np.uint8, "r").view(np.ndarray)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: the file cannot be opened ({error}). Check who may read it.") from None


def sha256(values: np.ndarray) -> str:
    """SHA-256 of a contiguous array's bytes, in hexadecimal.

    >>> sha256(np.frombuffer(b"abc", np.uint8))[:8]
    'ba7816bf'
    """
    return hashlib.sha256(values.data).hexdigest()


def strict_json(text: bytes, where: str) -> Any:
    """Parsed UTF-8 JSON. Raises ``CheckpointError`` for a name that stands twice, NaN, deep nesting, bad text."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
            raise ValueError(f"the name {twice[:60]!r} stands twice")
        return found

    def number(text: str) -> float:
        raise ValueError(f"{text} is no number of JSON")

    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=unique, parse_constant=number)
    except (ValueError, RecursionError, MemoryError) as error:
        found = "lists nested too deeply" if not isinstance(error, ValueError) else str(error)
        raise CheckpointError(
            f"{where}: expected well-formed JSON in UTF-8, found something else ({found}). "
            "The file is damaged, or made to mislead: fetch it again from a source you trust."
        ) from None
