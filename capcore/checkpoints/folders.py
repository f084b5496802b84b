"""Which files of a folder are networks, and which of them are one: shards and their index.

A folder as model hubs have it holds much beside the weights: what trained them, tokenizers, the same weights in another
format. What is no network by its name is left alone here, and what turns out to hold no weights when it is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from capcore.checkpoints.archives import File, strict_json
from capcore.checkpoints.tensors import DAMAGED, Checkpoint, CheckpointError, Step, Tensor, brief, damaged, shown

NUMPY_ALONE = (".safetensors", ".npz", ".npy", ".gguf", ".onnx")
"""Suffixes that need no PyTorch: the last two have readers of their own."""
TORCH = (".pt", ".pth", ".th", ".tar", ".bin", ".ckpt")
"""Suffixes of PyTorch's files."""
INDEX = re.compile(r"\.index(\.[\w-]+)?\.json$")
LARGEST_INDEX = 100_000_000  # bytes
USUAL = ("model", "pytorch_model", "diffusion_pytorch_model", "consolidated", "adapter_model", "weights")
"""Names that say nothing of the network: the folder's is taken. Files of these names hold the same weights."""
_HEAD = re.compile(r"(^|\.)(lm_head|embed_out|output)\.weight$")
_TABLE = re.compile(r"(^|\.)(embed_tokens|wte|embed_in|word_embeddings|tok_embeddings|token_embd)\.weight$")
_PART = re.compile(r"[-_.]\d+([-_]of[-_]\d+)?$")
_NO_NETWORK = re.compile(
    r"^(training_args|optimizer|scheduler|scaler|rng_state|random_states|tokenizer|sampler|zero_pp_rank|bf16_zero|mp_rank)"
    r"|_(optim_states|args)\.pt$|^events\.out"
)


def sources(folder: Path) -> list[Path]:
    """Indices, files that no index names, and of files of the same weights those that need no PyTorch.

    Raises ``CheckpointError`` for a folder without any.
    """
    if not os.path.isdir(folder):
        raise CheckpointError(f"{folder}: found no folder, expected one with files of weights. Check the path.")
    files = sorted(file for file in folder.iterdir() if file.is_file() and not _NO_NETWORK.match(file.name))
    indices = [file for file in files if INDEX.search(file.name)]
    parts = {part for index in indices for part in _parts(index)}
    files = [file for file in files if file.name not in parts]
    plain = [file for file in files if file.suffix.lower() in NUMPY_ALONE]
    plain_indices = [file for file in indices if ".safetensors" in file.name]
    stems = {_network(file.name) for file in (*plain, *plain_indices)}
    torch = [file for file in files if file.suffix.lower() in TORCH] + [i for i in indices if i not in plain_indices]
    found = sorted([*plain, *plain_indices, *(file for file in torch if _network(file.name) not in stems)])
    later = {name for file in found for name in _later(file)}
    found = [file for file in found if file.name not in later]
    if not found:
        known = ", ".join([*NUMPY_ALONE, *TORCH])
        raise CheckpointError(f"{folder}: found no file of weights, expected one of {known}.")
    return found


def parts_of(path: Path) -> list[str]:
    """Names of all parts of a checkpoint without an index, of which this is the first, ``w-00001-of-00002.gguf``.

    Raises ``CheckpointError`` if one is missing.
    """
    found = re.match(r"(.*[-_.])(0*1)([-_]of[-_])(\d{1,5})(\..*)$", path.name)
    if found is None or int(found[4]) < 2:
        return []
    width = len(found[2])
    names = [f"{found[1]}{i:0{width}}{found[3]}{found[4]}{found[5]}" for i in range(1, int(found[4]) + 1)]
    missing = [name for name in names[:1000] if not (path.parent / name).is_file()]
    if missing:
        raise CheckpointError(
            f"{path}: found no {missing[0]} beside it, expected all {found[4]} parts. Fetch the others."
        )
    return names


def stem(name: str) -> str:
    """A file's name without its known suffixes.

    >>> stem("resnet20.pth.tar")
    'resnet20'
    """
    name = INDEX.sub("", name)
    while Path(name).suffix.lower() in {*NUMPY_ALONE, *TORCH}:
        name = Path(name).stem
    return name


def _network(name: str) -> str:
    """What files of the same weights have in common."""
    found = _PART.sub("", stem(name))
    return USUAL[0] if found in USUAL else stem(name)


def named(checkpoint: Checkpoint, path: Path) -> Checkpoint:
    """The checkpoint of a folder, under the folder's name where the file's says nothing."""
    folder = path.absolute().parent.resolve().name
    return replace(checkpoint, name=shown(folder)) if folder and _network(path.name) == USUAL[0] else checkpoint


def tied_by_value(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint, with the last layer of a language model set aside if it is the embedding, stored twice."""
    tensors = checkpoint.tensors
    heads, tables = ([name for name in tensors if pattern.search(name)] for pattern in (_HEAD, _TABLE))
    if len(heads) != 1 or len(tables) != 1:
        return checkpoint
    head, table = tensors[heads[0]], tensors[tables[0]]
    if (head.shape, head.dtype) != (table.shape, table.dtype) or not head.is_real or head.aside or len(head.shape) != 2:
        return checkpoint
    places = np.linspace(0, head.shape[0] - 1, 64 if head.one else 0).astype(int)
    for i in places:
        if not np.array_equal(head.read_one(i), table.read_one(i)):
            return checkpoint
    if not np.array_equal(head.read(), table.read()):
        return checkpoint
    aside = f"The same weights as {table.name!r}, stored twice."
    return replace(checkpoint, tensors={**tensors, head.name: replace(head, aside=aside)})


def joined(index: Path, parts: Mapping[str, Checkpoint], weights: Mapping[str, str]) -> Checkpoint:
    """The checkpoint of an index: every tensor where the index says, and no other.

    parts : checkpoint by name of the file. weights : of :func:`weight_map`. Raises ``CheckpointError`` where the files
    and the index disagree.
    """
    tensors: dict[str, Tensor] = {}
    for part, checkpoint in parts.items():
        for name, tensor in checkpoint.tensors.items():
            if weights.get(name) != part:
                expected = f"it in {brief(weights[name])}" if name in weights else "no tensor that it does not name"
                raise damaged(index, f"{name!r} in {part}", expected)
            tensors[name] = tensor
    missing = sorted(set(weights) - set(tensors))
    if missing:
        where = weights[missing[0]]
        raise CheckpointError(f"{index}: found no {brief(missing[0])} in {where}, expected it there. {DAMAGED}")

    def digest(step: Step) -> dict[str, str]:
        return {name: checkpoint.hashes(step)[checkpoint.name] for name, checkpoint in parts.items()}

    kind, size = next(iter(parts.values())).format, sum(checkpoint.size for checkpoint in parts.values())
    return named(Checkpoint(shown(stem(index.name)), kind, digest, size, tensors), index)


def weight_map(index: Path) -> dict[str, str]:
    """Tensor → name of the file beside the index that holds it.

    Raises ``CheckpointError`` for an index that is malformed or names files elsewhere.
    """
    file = File(index)
    if file.size > LARGEST_INDEX:
        raise CheckpointError(f"{index}: found {file.size} bytes, expected at most {LARGEST_INDEX}. {DAMAGED}")
    found = strict_json(file.read(0, file.size).tobytes(), str(index))
    weights = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(weights, dict) or not weights or not all(isinstance(part, str) for part in weights.values()):
        raise CheckpointError(f"{index}: found {brief(found)}, expected a weight_map from tensors to files. {DAMAGED}")
    suffixes = TORCH if ".bin" in index.name or ".pt" in index.name else (".safetensors",)
    for part in set(weights.values()):
        if Path(part).name != part or not part.endswith(suffixes) or not part.isprintable():
            expected = "PyTorch's" if suffixes is TORCH else "safetensors"
            raise CheckpointError(
                f"{index}: found the file {brief(part)}, expected {expected} files beside the index. {DAMAGED}"
            )
    return weights


def settings(path: Path, *names: str) -> dict[str, Any]:
    """What the first of the JSON files of these names beside a checkpoint says; nothing where there is none.

    path : of the file or the folder. Raises ``CheckpointError`` for a file that is damaged.
    """
    folder = path if os.path.isdir(path) else path.parent
    for name in names:
        if (folder / name).is_file():
            file = File(folder / name)
            found = strict_json(file.read(0, min(file.size, LARGEST_INDEX)).tobytes(), str(file.path))
            return found if isinstance(found, dict) else {}
    return {}


def _later(path: Path) -> list[str]:
    try:
        return parts_of(path)[1:]
    except CheckpointError:  # said again when it is read
        return []


def _parts(index: Path) -> set[str]:
    try:
        return set(weight_map(index).values())
    except CheckpointError:  # said again when the index is read
        return set()
