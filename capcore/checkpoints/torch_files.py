"""PyTorch files, read by PyTorch itself, weights only.

Such a file is a pickle, and unpickling can execute code. With ``weights_only=True`` PyTorch builds only tensors and
plain containers and refuses every other class. Before version 2.6 this could be bypassed, so older ones are refused.
"""

import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np

from capcore.checkpoints.arrays import leaves, set_aside_ties, torch_place, torch_tensor
from capcore.checkpoints.files import File, open_archive, package
from capcore.checkpoints.tensors import CheckpointError, NoWeightsError, Tensor, brief

KEYS = ("state_dict", "model_state_dict", "model", "net", "weights", "params")
"""Keys under which training scripts save weights, tried in this order. Optimisers have other keys."""
_BESIDE = re.compile(r"optim|sched|scaler|^ema|rng|^state$|^param_groups$")
"""Names of what training scripts save beside the weights."""
_NETWORK = re.compile(r"(\w*_)?(model|net|network|module|generator)(_?(state|dict|weights|params))*")
"""Names of a container that is taken as the network if it is the only candidate."""
LARGE = 2**30  # bytes; the tensors of larger files are read one at a time, like those of safetensors
CONVERT = "If you trust it, load it with the code that wrote it, and write its state_dict() with safetensors."


def read_torch(file: File, key: str | None = None) -> Iterator[Tensor]:
    """Tensors of a file of PyTorch, loaded as weights only.

    key : name of the mapping that holds the weights within the file; by default the first of ``KEYS``, or the file
    itself. Raises ``CheckpointError`` if PyTorch 2.6 or newer is missing, for pickled classes, and for anything else
    that it cannot load.
    """
    torch, large = package(file.path, "torch"), _is_large(file)
    if [int(part) for part in re.findall(r"\d+", str(torch.__version__))[:2]] < [2, 6]:
        expected = "expected 2.6 or newer, since earlier ones could execute code in a file even as weights only"
        raise CheckpointError(f"{file.path}: found PyTorch {torch.__version__}, {expected}. Upgrade it.")
    try:  # torch's warnings are shown: hiding them would affect all threads of the process
        content = torch.load(file.path, map_location="cpu", weights_only=True, mmap=large)
    except UnpicklingError as error:
        raise _refusal(file.path, str(error)) from None
    weights = weights_in(content, torch.Tensor, file.path, key)
    pairs = [(torch_tensor(f"{file.path}: {name!r}", name, value), torch_place(value)) for name, value in weights]
    for tensor in set_aside_ties(pairs):
        yield _copied(file, tensor) if large else tensor


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

    def values() -> np.ndarray:
        file.read(0, 1)  # raises if the file has changed
        return tensor.values().copy()

    return replace(tensor, values=values)


def _refusal(path: Path, reason: str) -> CheckpointError:
    named = re.search(r"GLOBAL ([\w.]+)", reason)
    what = f"the pickled class or function {named[1]}" if named else "something that is not a weights-only pickle"
    return CheckpointError(f"{path}: found {what}, which could execute code; expected plain tensors. {CONVERT}")


def weights_in(content: Any, kind: type, path: Path, key: str | None = None) -> list[tuple[str, Any]]:
    """The tensors among the loaded content that are the network's, with their names.

    kind : of a tensor. Raises ``NoWeightsError`` if there is none, and ``CheckpointError`` if several containers could
    be the network.
    """

    def tensors(container: Any) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in leaves(container) if isinstance(value, kind)]

    if isinstance(content, kind):
        return [(path.stem, content)]
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
    advice = f"key={mappings[0]!r}, or --key {mappings[0]} in a shell"
    raise CheckpointError(f"{path}: found tensors only under {brief(mappings)}, expected one to be named: {advice}.")
