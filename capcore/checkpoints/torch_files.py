"""PyTorch files, read by PyTorch itself, weights only.

Such a file is a pickle, and unpickling can execute code. With ``weights_only=True`` PyTorch builds only tensors and
plain containers and refuses every other class. Before version 2.6 this could be bypassed, so older ones are refused.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np

from capcore.checkpoints.arrays import of_torch as of_torch
from capcore.checkpoints.arrays import tied, torch_place, torch_tensor
from capcore.checkpoints.files import File, Guarded, open_archive
from capcore.checkpoints.number_types import CODES, bfloat16
from capcore.checkpoints.other_bins import written_elsewhere
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, NoWeightsError, Tensor, brief, checked_name, shown

KEYS = ("state_dict", "model_state_dict", "model", "net", "weights", "params")
"""Keys under which training scripts save weights, tried in this order. Optimisers have other keys."""
_BESIDE = re.compile(r"optim|sched|scaler|^ema|rng|^state$|^param_groups$")
"""Names of what training scripts save beside the weights."""
_NETWORK = re.compile(r"(\w*_)?(model|net|network|module|generator)(_?(state|dict|weights|params))*")
"""Names of a container that is taken as the network if it is the only candidate."""
LARGE = 2**30  # bytes; the tensors of larger files are read one at a time, like those of safetensors
MOST = 2**20  # entries of nested containers; without a limit, shared ones could exhaust memory
CONVERT = (
    "If you trust the file, load it with the code that wrote it and save model.state_dict() with "
    "safetensors.torch.save_file: a safetensors file is read without PyTorch."
)


def read_torch(path: str | Path, key: str | None = None) -> Checkpoint:
    """Tensors of a ``.pt``, ``.pth``, ``.th``, ``.tar``, ``.bin`` or ``.ckpt`` file, loaded as weights only.

    key : name of the mapping that holds the weights within the file; by default the first of ``KEYS``, or the file
    itself. Raises ``CheckpointError`` if PyTorch 2.6 or newer is missing, for pickled classes, and for anything else
    that it cannot load.
    """
    path = Path(path)
    file = File(path)
    if path.suffix.lower() == ".bin" and written_elsewhere(path):
        raise CheckpointError(f"{path}: {written_elsewhere(path)}")
    torch = _torch(path)
    with Guarded(str(path)):  # torch's warnings are shown: hiding them would affect all threads of the process
        large = False
        if zipfile.is_zipfile(path):
            with open_archive(path) as archive:
                infos = archive.infolist()
            if any("/code/" in info.filename for info in infos):
                raise CheckpointError(f"{path}: found a TorchScript archive, which holds code. {CONVERT}")
            large = file.size > LARGE and not any(info.compress_type for info in infos)
        try:
            with _no_values() if large else nullcontext():
                loaded = torch.load(path, map_location="cpu", weights_only=True)
        except UnpicklingError as error:
            raise _refusal(path, str(error)) from None
        found, weights = _weights(path, torch, loaded, key)
        tensors, first = {}, dict[Hashable, str]()
        for name, value in weights.items():
            tensor, place = torch_tensor(f"{path}: {name!r}", name, value), torch_place(value)
            begin = getattr(value.untyped_storage(), "_checkpoint_offset", None) if large else None
            if begin is not None:
                place = (begin, *(place if isinstance(place, tuple) else (place,))[1:])
                tensor = _in_file(file, begin, tensor, value)
            same = first.setdefault(place, name) if tensor.size else name
            tensors[name] = tensor if same == name else tied(tensor, same)
    metadata = {"weights found in": found} if found else {}
    return Checkpoint(shown(path.name), "torch", file.digest, file.size, tensors, metadata)


def _torch(path: Path) -> Any:
    if find_spec("torch") is None:
        raise CheckpointError(
            f"{path}: found a PyTorch file but no PyTorch, which it needs. Install it: pip install torch. "
            "A safetensors file of the same weights needs no PyTorch."
        )
    torch = import_module("torch")
    version = tuple(int(part) for part in re.findall(r"\d+", str(torch.__version__))[:2])
    if version < (2, 6):
        raise CheckpointError(
            f"{path}: found PyTorch {torch.__version__}, expected 2.6 or newer: in older versions a file could "
            "execute code even when loaded as weights only. Upgrade it, or use a safetensors file."
        )
    return torch


@contextmanager
def _no_values() -> Iterator[None]:
    """Within this context, PyTorch loads tensors without values and records where in the file the values are."""
    with import_module("torch._subclasses.fake_tensor").FakeTensorMode():
        yield


def _in_file(file: File, begin: int, tensor: Tensor, value: Any) -> Tensor:
    """Read the tensor directly from its storage, which starts at ``begin`` in the file."""
    size, strides = value.element_size(), tuple(value.stride())
    kind = {"bfloat16": "u2"}.get(tensor.dtype) or CODES.get(tensor.dtype) or tensor.dtype

    def part(shape: tuple[int, ...], steps: tuple[int, ...], first: int) -> np.ndarray:
        span = 1 + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
        at = begin + size * (value.storage_offset() + first)
        words = file.read(at, at + size * span).view(kind)
        words = bfloat16(words) if tensor.dtype == "bfloat16" else words
        return np.lib.stride_tricks.as_strided(words, shape, [step * words.itemsize for step in steps])

    if not tensor.size:
        return replace(tensor, values=lambda: np.zeros(tensor.shape, kind))
    return replace(
        tensor,
        values=lambda: part(tensor.shape, strides, 0),
        one=lambda i: part(tensor.shape[1:], strides[1:], i * strides[0]),
    )


def _refusal(path: Path, reason: str) -> CheckpointError:
    named = re.search(r"GLOBAL ([\w.]+)", reason)
    what = f"the pickled class or function {named[1]}" if named else "something that is not a weights-only pickle"
    return CheckpointError(
        f"{path}: found {what}, which could execute code; expected tensors in plain containers. {CONVERT}"
    )


def _weights(path: Path, torch: Any, loaded: Any, key: str | None) -> tuple[str, dict[str, Any]]:
    """The key under which the weights were found, and the weights, with nested names joined by dots."""
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
    if any(isinstance(value, torch.Tensor) for value in loaded.values()):
        return "", _flat(path, torch, {name: value for name, value in loaded.items() if not _BESIDE.search(str(name))})
    held = [k for k, v in loaded.items() if isinstance(v, Mapping | list | tuple) and _flat(path, torch, {"": v})]
    found = [k for k in held if isinstance(loaded[k], Mapping)]
    if not found or {"state", "param_groups"} <= {*loaded}:
        what = "an optimiser's state" if found else f"no tensors among {brief([*map(str, loaded)][:9])}"
        raise NoWeightsError(f"{path}: found {what}, expected the weights of a network.")
    networks = [k for k in held if not _BESIDE.search(str(k))]
    if networks == [k for k in found if isinstance(k, str) and _NETWORK.fullmatch(k)] and len(networks) == 1:
        return networks[0], _flat(path, torch, loaded[networks[0]])
    raise CheckpointError(
        f"{path}: found no tensors at the top but under {brief(found)}, expected one to be named: key={found[0]!r}, "
        f"or --key {found[0]} in a shell."
    )


def _flat(
    path: Path, torch: Any, found: Mapping[Any, Any], prefix: str = "", seen: Iterator[int] | None = None
) -> dict[str, Any]:
    """Tensors by name; in lists, the position is the name. ``seen`` counts the entries of all containers."""
    result: dict[str, Any] = {}
    seen = seen or count()
    for name, value in found.items():
        if next(seen) > MOST:
            raise CheckpointError(f"{path}: found containers of more than {MOST} entries, expected tensors by name.")
        inner: dict[str, Any] = {}
        if isinstance(value, torch.Tensor):
            inner = {checked_name(f"{prefix}{name}", str(path)): value}
        elif isinstance(value, Mapping | list | tuple):
            held = value if isinstance(value, Mapping) else dict(enumerate(value))
            inner = _flat(path, torch, held, f"{prefix}{name}.", seen)
        if inner.keys() & result.keys():
            raise CheckpointError(f"{path}: found two tensors {min(inner.keys() & result.keys())!r}, expected one.")
        result |= inner
    return result
