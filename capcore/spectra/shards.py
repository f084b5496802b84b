"""A checkpoint in several safetensors files, held together by an index."""

from __future__ import annotations

import hashlib
from pathlib import Path

from capcore.spectra.files import map_file, strict_json
from capcore.spectra.safetensors import read_safetensors
from capcore.spectra.tensors import DAMAGED, Checkpoint, CheckpointError, Tensor, brief

INDEX = ".safetensors.index.json"
LARGEST_INDEX = 2**24  # bytes


def weight_map(index: Path) -> dict[str, str]:
    """Tensor → name of the file beside the index that holds it.

    Raises ``CheckpointError`` for an index that is malformed or names files elsewhere.
    """
    data = map_file(index)
    if len(data) > LARGEST_INDEX:
        raise CheckpointError(f"{index}: found {len(data)} bytes, expected at most {LARGEST_INDEX}. {DAMAGED}")
    found = strict_json(data.tobytes(), str(index))
    weights = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(weights, dict) or not weights or not all(isinstance(part, str) for part in weights.values()):
        raise CheckpointError(f"{index}: found {brief(found)}, expected a weight_map from tensors to files. {DAMAGED}")
    for part in set(weights.values()):
        if Path(part).name != part or not part.endswith(".safetensors") or not part.isprintable():
            raise CheckpointError(
                f"{index}: found the file {brief(part)}, expected safetensors files beside the index. {DAMAGED}"
            )
    return weights


def read_shards(index: Path) -> Checkpoint:
    """The checkpoint of an index: every tensor where the index says, and no other.

    Raises ``CheckpointError`` where the files and the index disagree.
    """
    weights = weight_map(index)
    parts = {name: read_safetensors(index.parent / name) for name in sorted(set(weights.values()))}
    tensors: dict[str, Tensor] = {}
    for part, checkpoint in parts.items():
        for name, tensor in checkpoint.tensors.items():
            if weights.get(name) != part:
                raise CheckpointError(
                    f"{index}: found {name!r} in {part}, expected it in {brief(weights.get(name))}. {DAMAGED}"
                )
            tensors[name] = tensor
    missing = sorted(set(weights) - set(tensors))
    if missing:
        where = weights[missing[0]]
        raise CheckpointError(f"{index}: found no {brief(missing[0])} in {where}, expected it there. {DAMAGED}")
    hashes = {name: checkpoint.sha256 for name, checkpoint in parts.items()}
    digest = hashlib.sha256("".join(hashes.values()).encode()).hexdigest()
    size = sum(checkpoint.size for checkpoint in parts.values())
    return Checkpoint(index.name.removesuffix(INDEX), "safetensors", digest, size, tensors, parts=hashes)
