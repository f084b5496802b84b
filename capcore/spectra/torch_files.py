"""PyTorch's files through PyTorch itself, weights only: the one format here that needs an optional library.

Such a file is a pickle, and unpickling runs what the file says. With ``weights_only=True`` PyTorch builds tensors and
plain containers and refuses every other class. Releases before 2.6 could be led around that, so they are not used.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Hashable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from capcore.spectra.archives import File, Guarded, open_archive
from capcore.spectra.memory import of_torch as of_torch
from capcore.spectra.memory import tied, torch_place, torch_tensor
from capcore.spectra.tensors import Checkpoint, CheckpointError, brief, checked_name, shown

KEYS = ("state_dict", "model_state_dict", "model", "net", "weights", "params")
"""Where a training script puts the weights, in this order. Optimisers stand beside them: no weights."""
CONVERT = (
    "Where you trust the file, load it with the code that wrote it and save model.state_dict() with "
    "safetensors.torch.save_file: a safetensors file is read without PyTorch."
)


def read_torch(path: str | Path, key: str | None = None) -> Checkpoint:
    """Tensors of a ``.pt``, ``.pth``, ``.th``, ``.tar`` or ``.bin`` file, loaded as weights only.

    key : name of the mapping in the file that holds the weights; by default the first of ``KEYS``, or the file itself.
    Raises ``CheckpointError`` without PyTorch 2.6 or newer, for pickled classes, and for anything that it cannot load.
    """
    path = Path(path)
    file = File(path)
    torch = _torch(path)
    with Guarded(str(path)):
        if zipfile.is_zipfile(path):
            open_archive(path).close()
        try:
            loaded = torch.load(path, map_location="cpu", weights_only=True)
        except UnpicklingError as error:
            raise _refusal(path, str(error)) from None
        found, weights = _weights(path, torch, loaded, key)
        tensors, first = {}, dict[Hashable, str]()
        for name, value in weights.items():
            tensor, same = torch_tensor(f"{path}: {name!r}", name, value), first.setdefault(torch_place(value), name)
            tensors[name] = tensor if same == name or not tensor.size else tied(tensor, same)
    metadata = {"weights found in": found} if found else {}
    return Checkpoint(shown(path.name), "torch", file.digest, file.size, tensors, metadata)


def _torch(path: Path) -> Any:
    if find_spec("torch") is None:
        raise CheckpointError(
            f"{path}: found a file of PyTorch's and no PyTorch, expected both: pip install 'capcore[torch]'. "
            "A safetensors file of the same weights needs no PyTorch."
        )
    torch = import_module("torch")
    version = tuple(int(part) for part in re.findall(r"\d+", str(torch.__version__))[:2])
    if version < (2, 6):
        raise CheckpointError(
            f"{path}: found PyTorch {torch.__version__}, expected 2.6 or newer: before, a file could execute code "
            "even when loaded as weights only. Upgrade it, or use a safetensors file."
        )
    return torch


def _refusal(path: Path, reason: str) -> CheckpointError:
    named = re.search(r"GLOBAL ([\w.]+)", reason)
    what = f"the pickled class or function {named[1]}" if named else "something that is no weights-only pickle"
    return CheckpointError(
        f"{path}: found {what}, which could execute code; expected tensors in plain containers. {CONVERT}"
    )


def _weights(path: Path, torch: Any, loaded: Any, key: str | None) -> tuple[str, dict[str, Any]]:
    """The mapping with the weights, and the key it stood under; nested mappings are joined by dots."""
    if isinstance(loaded, torch.Tensor):
        return "", {checked_name(path.stem, str(path)): loaded}
    if not isinstance(loaded, Mapping):
        raise CheckpointError(f"{path}: found a {type(loaded).__name__}, expected tensors by name. {CONVERT}")
    if key is not None:
        if not isinstance(loaded.get(key), Mapping):
            raise CheckpointError(f"{path}: found no tensors under {key!r}, expected one of {brief([*loaded])}.")
        return key, _flat(path, torch, loaded[key])
    for candidate in KEYS:
        inner = loaded.get(candidate)
        if isinstance(inner, Mapping) and (weights := _flat(path, torch, inner)):
            return candidate, weights
    return "", _flat(path, torch, loaded, nested=False)


def _flat(path: Path, torch: Any, found: Mapping[Any, Any], prefix: str = "", nested: bool = True) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in found.items():
        if isinstance(value, torch.Tensor):
            inner = {checked_name(f"{prefix}{name}", str(path)): value}
        else:
            inner = _flat(path, torch, value, f"{prefix}{name}.") if nested and isinstance(value, Mapping) else {}
        if inner.keys() & result.keys():
            raise CheckpointError(f"{path}: found two tensors {min(inner.keys() & result.keys())!r}, expected one.")
        result |= inner
    return result
