"""PyTorch files, read by PyTorch itself, weights only.

Such a file is a pickle, and unpickling can execute code. With ``weights_only=True`` PyTorch builds only tensors and
plain containers and refuses every other class. Before version 2.6 this could be bypassed, so older ones are refused.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np

from capcore.checkpoints.arrays import leaves, tied, torch_place, torch_tensor
from capcore.checkpoints.files import File, open_archive
from capcore.checkpoints.tensors import CheckpointError, NoWeightsError, Tensor, brief, checked_name

KEYS = ("state_dict", "model_state_dict", "model", "net", "weights", "params")
"""Keys under which training scripts save weights, tried in this order. Optimisers have other keys."""
_BESIDE = re.compile(r"optim|sched|scaler|^ema|rng|^state$|^param_groups$")
"""Names of what training scripts save beside the weights."""
_NETWORK = re.compile(r"(\w*_)?(model|net|network|module|generator)(_?(state|dict|weights|params))*")
"""Names of a container that is taken as the network if it is the only candidate."""
LARGE = 2**30  # bytes; the tensors of larger files are read one at a time, like those of safetensors
CONVERT = (
    "If you trust the file, load it with the code that wrote it and save model.state_dict() with "
    "safetensors.torch.save_file: a safetensors file is read without PyTorch."
)
_SHARD = re.compile(r"^group\d+-shard\d+of\d+(\.bin)?$")
CTRANSLATE2 = (
    "found a model of CTranslate2, whose weights are quantised and fused for its own kernels; "
    "expected tensors as a network has them. Analyse the checkpoint that it was converted from."
)
TENSORFLOW_JS = (
    "found weights of TensorFlow.js, bytes without names or shapes, which are in its model.json; expected tensors by "
    "name. Convert it to Keras (tensorflowjs_converter) and analyse the .h5 file."
)


def read_torch(file: File, key: str | None = None) -> Iterator[Tensor]:
    """Tensors of a file of PyTorch, loaded as weights only.

    key : name of the mapping that holds the weights within the file; by default the first of ``KEYS``, or the file
    itself. Raises ``CheckpointError`` if PyTorch 2.6 or newer is missing, for pickled classes, and for anything else
    that it cannot load.
    """
    if reason := written_elsewhere(file):
        raise CheckpointError(f"{file.path}: {reason}")
    torch = _torch(file.path)
    large = _is_large(file)
    try:  # torch's warnings are shown: hiding them would affect all threads of the process
        content = torch.load(file.path, map_location="cpu", weights_only=True, mmap=large)
    except UnpicklingError as error:
        raise _refusal(file.path, str(error)) from None
    first = dict[Hashable, str]()
    for name, value in weights_in(content, torch.Tensor, file.path, key).items():
        tensor = torch_tensor(f"{file.path}: {name!r}", name, value)
        tensor = tied(tensor, first.setdefault(torch_place(value), name) if tensor.size else name)
        yield _copied(file, tensor) if large else tensor


def written_elsewhere(file: File) -> str:
    """Why a ``.bin`` file is not one of PyTorch's, or an empty string if nothing says so."""
    if file.path.suffix.lower() != ".bin":
        return ""
    if _SHARD.match(file.path.name):
        return TENSORFLOW_JS
    head = file.read(0, min(file.size, 106)).tobytes()  # version, length of the specification's name, and the name
    version, length = int.from_bytes(head[:4], "little"), int.from_bytes(head[4:6], "little")
    name = head[6 : 6 + length]
    is_spec = 0 < version <= 1000 and 1 < length <= 100 and name[-1:] == b"\0" and name[:-1].isalnum()
    return CTRANSLATE2 if is_spec else ""


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


def _is_large(file: File) -> bool:
    """Whether the file is so large that its tensors are read one at a time. Archives that hold code are refused."""
    if not zipfile.is_zipfile(file.path):
        return False
    with open_archive(file) as archive:
        infos = archive.infolist()
    if any("/code/" in info.filename for info in infos):
        raise CheckpointError(f"{file.path}: found a TorchScript archive, which holds code. {CONVERT}")
    return file.size > LARGE and not any(info.compress_type for info in infos)


def _copied(file: File, tensor: Tensor) -> Tensor:
    """A tensor whose values are copied from the mapped file, as truncating that later would kill the process."""

    def codes(i: int | None = None) -> np.ndarray:
        file.read(0, 1)  # raises if the file has changed
        return tensor.codes(i).copy()

    return replace(tensor, values=codes, one=codes)


def _refusal(path: Path, reason: str) -> CheckpointError:
    named = re.search(r"GLOBAL ([\w.]+)", reason)
    what = f"the pickled class or function {named[1]}" if named else "something that is not a weights-only pickle"
    return CheckpointError(
        f"{path}: found {what}, which could execute code; expected tensors in plain containers. {CONVERT}"
    )


def weights_in(content: Any, kind: type, path: Path, key: str | None = None) -> dict[str, Any]:
    """The tensors among the loaded content that are the network's, by name.

    kind : of a tensor. Raises ``NoWeightsError`` if there is none, and ``CheckpointError`` if several containers could
    be the network.
    """

    def tensors(container: Any) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in leaves(container):
            if isinstance(value, kind):
                if checked_name(name, str(path)) in values:
                    raise CheckpointError(f"{path}: found two tensors {name!r}, expected one.")
                values[name] = value
        return values

    if isinstance(content, kind):
        return {path.stem: content}
    if not isinstance(content, Mapping):
        raise CheckpointError(f"{path}: found a {type(content).__name__}, expected tensors by name. {CONVERT}")
    if key is not None:
        if not isinstance(content.get(key), Mapping):
            raise CheckpointError(f"{path}: found no tensors under {key!r}, expected one of {brief([*content])}.")
        return tensors(content[key])
    for candidate in KEYS:
        if isinstance(content.get(candidate), Mapping) and (weights := tensors(content[candidate])):
            return weights
    own = {name: value for name, value in content.items() if not _BESIDE.search(str(name))}
    if any(isinstance(value, kind) for value in content.values()):
        return tensors(own)
    holders = [name for name, value in content.items() if tensors(value)]
    mappings = [name for name in holders if isinstance(content[name], Mapping)]
    if not mappings or {"state", "param_groups"} <= {*content}:
        what = "an optimiser's state" if mappings else f"no tensors among {brief([*map(str, content)][:9])}"
        raise NoWeightsError(f"{path}: found {what}, expected the weights of a network.")
    networks = [name for name in holders if name in own]
    if len(networks) == 1 and networks[0] in mappings and _NETWORK.fullmatch(str(networks[0])):
        return tensors(content[networks[0]])
    raise CheckpointError(
        f"{path}: found no tensors at the top but under {brief(mappings)}, expected one to be named: "
        f"key={mappings[0]!r}, or --key {mappings[0]} in a shell."
    )
