"""The shipped spectra of eleven residual networks, read from ``results/resnet_spectra.json`` and ``.npz``.

The files are made by ``resnet_spectra``; ``python -m chapters run resnet_spectra`` makes them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from capcore.spectra.archives import map_file, sha256
from capcore.spectra.eigenvalues import EPSILON, GramSpectra
from capcore.spectra.layers import Layer, find_layers
from capcore.spectra.tensors import Checkpoint, Tensor
from chapters import stored as results
from chapters.claims import find_registry
from chapters.spectra_resnets.resnet_sources import SOURCES, NetworkSource
from chapters.spectra_resnets.stored_network import StoredNetwork

NAME = "resnet_spectra.json"


def stored_networks(folder: str | Path | None = None) -> dict[str, StoredNetwork]:
    """Key → network, in the order of ``SOURCES``.

    folder : with the two files; by default that of this chapter, which is written out, as another way to find it would
    make ``resnet_fits`` stale, which reaches this function. Raises ``StaleResultsError`` if the code behind the files
    has changed since, or if the two do not belong together.
    """
    path = Path(folder or find_registry().parents[1] / "chapters/spectra_resnets" / "results") / NAME
    content = results.load(path)
    values, beside = content["values"], path.with_name(content["values"]["arrays"])
    if sha256(map_file(beside)) != values["arrays_sha256"]:
        raise results.StaleResultsError(
            f"{beside.name}: found other arrays than {path.name} names, expected those of one run. "
            f"Make both again: {content['command']}"
        )
    with np.load(beside, allow_pickle=False) as file:
        arrays = dict(file)
    return {
        key: _network(SOURCES[key], network, arrays, content["settings"]["operator"])
        for key, network in values["networks"].items()
    }


def _network(
    source: NetworkSource, network: Mapping[str, Any], arrays: Mapping[str, np.ndarray], names: list[str]
) -> StoredNetwork:
    """What is stored of one network. Its origin and accuracy are those of the table, which nothing computes."""
    key = source.key
    if network["weights_sha256"] != source.weights_sha256:
        raise results.StaleResultsError(
            f"{key}: found spectra of weights {network['weights_sha256'][:12]}…, expected those of "
            f"{source.weights_sha256[:12]}…, the file of resnet_sources.csv. Make them again."
        )
    tensors = {name: Tensor(name, kind, tuple(shape), _no_weights) for name, kind, *shape in network["tensors"]}
    layers = find_layers(Checkpoint(key, "stored spectra", "", 0, tensors)).layers
    rows = (dict(zip(names, row, strict=True)) for row in network["operator"])
    return StoredNetwork(
        source,
        network["deviations"],
        {row["name"]: row for row in rows},
        {
            "slices": _spectra(layers, arrays[f"{key}.slices"], arrays[f"{key}.zeros"], sliced=True),
            "unfolded": _spectra(layers, arrays[f"{key}.unfolded"], arrays[f"{key}.unfolded_zeros"], sliced=False),
        },
        tensors,
        {kind: arrays[f"{key}.null_{kind}"] for kind in ("slices", "pooled")},
    )


def _spectra(
    layers: tuple[Layer, ...], values: np.ndarray, zeros: np.ndarray, *, sliced: bool
) -> dict[str, GramSpectra]:
    """Layer → its part of the stored arrays, as :func:`~capcore.spectra.eigenvalues.gram_spectra` has it."""
    found = {}
    for layer in layers:
        n_out, n_in, *kernel = layer.shape[1:]
        n_taps = int(np.prod(kernel))
        if not sliced and not kernel:
            continue
        count, columns = (n_taps, n_in) if sliced else (1, n_in * n_taps)
        number = count * min(n_out, columns)
        part = values[:number].reshape(count, 1, -1)
        resolution = part[..., 0] * EPSILON * (10 + max(n_out, columns))
        found[layer.name] = GramSpectra(part, zeros[:count].reshape(count, 1).astype(int), resolution)
        values, zeros = values[number:], zeros[count:]
    if values.size or zeros.size:
        raise ValueError(f"arrays: found {values.size} eigenvalues more than the shapes have, expected as many.")
    return found


def _no_weights() -> NoReturn:
    raise ValueError("weights: found spectra only, expected a checkpoint. Read the original file for its weights.")
