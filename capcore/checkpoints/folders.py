"""Which files of a folder are networks, and which files belong to one checkpoint. Only names and indices are read.

Folders from model hubs hold more than weights: optimisers, tokenizers, and the same weights in a second format.
"""

import os
import re
from pathlib import Path
from typing import Any

from capcore.checkpoints.files import File, strict_json
from capcore.checkpoints.foreign import refuse_folder
from capcore.checkpoints.tensors import DAMAGED, CheckpointError, brief, damaged

PLAIN = (".safetensors", ".npz", ".npy", ".onnx", ".gguf")
"""Suffixes of files that are read without PyTorch."""
TORCH = (".pt", ".pth", ".th", ".tar", ".bin", ".ckpt")
"""Suffixes of PyTorch files."""
HDF5 = (".h5", ".hdf5", ".keras")
"""Suffixes of Keras' files. In a folder they are read only if it has no others, because hubs add them as copies."""
KNOWN = (*PLAIN, *TORCH, *HDF5)
INDEX = re.compile(r"\.index(\.[\w-]+)?\.json$")
LARGEST_JSON = 100_000_000  # bytes
USUAL = ("model", "pytorch_model", "diffusion_pytorch_model", "consolidated", "adapter_model", "weights")
"""File names that do not identify a network, so the folder's name is used. Such files hold the same weights."""
_PART = re.compile(r"[-_.]\d+([-_]of[-_]\d+)?$")
_FIRST = re.compile(r"(.*[-_.])(0*1)([-_]of[-_])(\d{1,5})(\..*)$")
_NO_NETWORK = re.compile(
    r"^(training_args|optimizer|scheduler|scaler|rng_state|random_states|tokenizer|sampler|zero_pp_rank|bf16_zero|mp_rank)"
    r"|_(optim_states|args)\.pt$|^events\.out"
)


def sources(folder: Path) -> list[Path]:
    """The files of a folder to open: indices, first parts, and files that are no part.

    If several hold the same weights, only those that do not need PyTorch are listed. Raises ``CheckpointError`` for a
    folder without any.
    """
    if not os.path.isdir(folder):
        raise CheckpointError(f"{folder}: found no folder, expected one with files of weights. Check the path.")
    files = sorted(file for file in folder.iterdir() if file.is_file() and not _NO_NETWORK.match(file.name))
    parts = {name for file in files for name in _other_parts(file)}
    files = [file for file in files if file.name not in parts]
    plain = [file for file in files if _suffix(file) in PLAIN]
    stems = {network_name(file.name) for file in plain}
    torch = [file for file in files if _suffix(file) in TORCH and network_name(file.name) not in stems]
    networks = sorted([*plain, *torch]) or [file for file in files if _suffix(file) in HDF5]
    if not networks:
        refuse_folder(folder)
        raise CheckpointError(f"{folder}: found no file of weights, expected one of {', '.join(KNOWN)}.")
    return networks


def _suffix(file: Path) -> str:
    """The suffix of a file, and that of its parts for an index."""
    if INDEX.search(file.name):
        return ".safetensors" if ".safetensors" in file.name else ".bin"
    return file.suffix.lower()


def _other_parts(file: Path) -> set[str]:
    """Names of the files that are read together with this one. What is wrong with them is said when it is read."""
    try:
        return {*parts_of(file)} - {file.name}
    except CheckpointError:
        return set()


def parts_of(path: Path) -> list[str]:
    """Names of all parts of a checkpoint, given its index, or the first of parts such as ``w-00001-of-00002.gguf``.

    Raises ``CheckpointError`` if a part is missing, or as :func:`weight_map` does.
    """
    if INDEX.search(path.name):
        return sorted({*weight_map(path).values()})
    first = _FIRST.match(path.name)
    if first is None or int(first[4]) < 2:
        return []
    begin, number, of, total, end = first.groups()
    names = [f"{begin}{i:0{len(number)}}{of}{total}{end}" for i in range(1, int(total) + 1)]
    missing = next((name for name in names if not (path.parent / name).is_file()), "")
    if missing:
        raise CheckpointError(f"{path}: found no {missing} beside it, expected all {total} parts. Fetch the others.")
    return names


def weight_map(index: Path) -> dict[str, str]:
    """Tensor → name of the file that holds it, in the folder of the index.

    Raises ``CheckpointError`` for an index that is malformed or names files in another folder.
    """
    content = read_json(index)
    weights = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(weights, dict) or not weights or not all(isinstance(part, str) for part in weights.values()):
        raise damaged(index, brief(content), "a weight_map from tensors to files")
    suffixes = TORCH if ".bin" in index.name or ".pt" in index.name else (".safetensors",)
    for part in {*weights.values()}:
        if Path(part).name != part or not part.endswith(suffixes) or not part.isprintable():
            raise damaged(index, f"the file {brief(part)}", f"{' or '.join(suffixes)} files beside the index")
    return weights


def settings(path: Path, name: str) -> dict[str, Any]:
    """Contents of a JSON file beside a checkpoint, which is a file or a folder; empty if there is none.

    Raises ``CheckpointError`` for a file that is damaged.
    """
    file = (path if os.path.isdir(path) else path.parent) / name
    content = read_json(file) if file.is_file() else {}
    return content if isinstance(content, dict) else {}


def read_json(path: Path) -> Any:
    """The contents of a JSON file, unless it is too long to be parsed."""
    file = File(path)
    if file.size > LARGEST_JSON:
        raise CheckpointError(f"{path}: found {file.size} bytes, expected at most {LARGEST_JSON}. {DAMAGED}")
    return strict_json(file.read(0, file.size).tobytes(), str(path))


def stem(name: str) -> str:
    """A file's name without its known suffixes.

    >>> stem("resnet20.pth.tar")
    'resnet20'
    """
    name = INDEX.sub("", name)
    while Path(name).suffix.lower() in KNOWN:
        name = Path(name).stem
    return name


def network_name(name: str) -> str:
    """A name that is the same for all files of the same weights."""
    plain = _PART.sub("", stem(name))
    return USUAL[0] if plain in USUAL else stem(name)
