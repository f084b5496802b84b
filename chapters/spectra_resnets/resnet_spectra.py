"""Spectra of the networks of ``resnet_sources``, computed to be shipped without the weights.

Stored are eigenvalues of WᵀW as the files have the weights, undivided (no 1/N), of every slice and of every unfolded
kernel: all other units and the pooled slices follow. What does not follow from them is computed here as well: exponents
of shuffled weights, and metrics of the exact operators.

``python -m chapters run resnet_spectra`` makes it again, in about a minute on one core, from the original files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.spectra.archives import map_file, sha256
from capcore.spectra.densities import layer_densities
from capcore.spectra.eigenvalues import GramSpectra, gram_spectra
from capcore.spectra.layers import Layer, find_layers, slices, unfolded
from capcore.spectra.metrics import layer_metrics
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.power_law import fit_power_laws
from capcore.spectra.tensors import Checkpoint, Tensor
from chapters.spectra_resnets.checkpoint_files import bare
from chapters.spectra_resnets.resnet_sources import SOURCES

SETTINGS: dict[str, Any] = {
    "eigenvalues": "of WᵀW (or W Wᵀ, the smaller), float64, weights as in the file, divided by nothing",
    "null": "shuffled",
    "n_null": 20,
    "seed": 0,
    "null_arrangements": ["slices", "pooled"],
    "minimum": 10,
    "grid": {
        "layer2.0.conv1*": 32,
        "layer2.0.downsample*": 32,
        "layer2.*": 16,
        "layer3.0.conv1*": 16,
        "layer3.0.downsample*": 16,
        "layer3.*": 8,
        "*": 32,
    },
    "operator": [
        *("name", "rows", "columns", "n_matrices", "n", "status", "reason"),
        *("alpha", "sigma", "x_min", "distance", "n_tail", "alpha_hat", "log_alpha_norm"),
        *("lambda_max", "log_spectral", "log_frobenius", "stable_rank", "entropy", "rank"),
    ],
    "stride": {
        "layer2.0.conv1*": 2,
        "layer2.0.downsample*": 2,
        "layer3.0.conv1*": 2,
        "layer3.0.downsample*": 2,
        "*": 1,
    },
}
"""Grids and strides are those of the networks of He et al. (2016) for images of 32 × 32, with circular padding.
``operator``: what is kept of :class:`~capcore.spectra.metrics.SpectrumMetrics`."""


def plain_checkpoint(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with ``module.`` taken off its names, which are sorted: the same from every file format.

    Tensors of whole numbers are left out: counters of batches, which conversions do not have.
    """
    tensors = {
        bare(name): Tensor(bare(name), tensor.dtype, tensor.shape, tensor.values, tensor.unread)
        for name, tensor in sorted(checkpoint.tensors.items(), key=lambda item: bare(item[0]))
        if tensor.is_real
    }
    return Checkpoint(checkpoint.name, checkpoint.format, checkpoint.sha256, checkpoint.size, tensors)


def network_spectra(
    checkpoint: Checkpoint, settings: Mapping[str, Any] = SETTINGS
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and plain values that are stored of a network.

    Arrays: ``slices`` (n,), eigenvalues layer after layer, tap after tap, descending in each; ``zeros`` (n_slices,) of
    them that are exactly zero; ``unfolded`` (m,) and ``unfolded_zeros`` (n_convolutions,) likewise, of convolutions
    only, as a linear layer has one matrix; and ``null_slices``, ``null_pooled`` (n_null, n_spectra), α of every draw in
    the order of the densities, NaN where a draw has no fit.
    Values: ``tensors``, name, type and shape of all; ``deviations``, standard deviation of each layer's weights; and
    ``operator``, a row of metrics for each layer, undivided.
    """
    checkpoint = plain_checkpoint(checkpoint)
    layers = find_layers(checkpoint).layers
    sliced = [gram_spectra(slices(layer.weights())) for layer in layers]
    whole = [gram_spectra(unfolded(layer.weights())) for layer in layers if layer.kernel]
    arrays = {
        "slices": _joined(sliced),
        "zeros": np.concatenate([spectra.n_zeros.ravel() for spectra in sliced]).astype(np.int16),
        "unfolded": _joined(whole),
        "unfolded_zeros": np.concatenate([spectra.n_zeros.ravel() for spectra in whole]).astype(np.int16),
    }
    for arrangement in settings["null_arrangements"]:
        draws = [_null_alphas(layers, arrangement, settings, draw) for draw in range(settings["n_null"])]
        arrays[f"null_{arrangement}"] = np.array(draws)
    return arrays, {
        "tensors": [[tensor.name, tensor.dtype, *tensor.shape] for tensor in checkpoint.tensors.values()],
        "deviations": {layer.name: float(layer.weights().std(dtype=float)) for layer in layers},
        "operator": _operator(layers, settings),
    }


def run(
    read: Callable[[str], Checkpoint], target: str | Path, settings: Mapping[str, Any] = SETTINGS
) -> dict[str, Any]:
    """Write the arrays of all networks to ``target`` (.npz), and return what goes beside them, with that file's hash.

    read : key → checkpoint.
    """
    arrays: dict[str, np.ndarray] = {}
    networks: dict[str, Any] = {}
    for key, source in tqdm(SOURCES.items(), "networks"):
        found, values = network_spectra(read(key), settings)
        arrays.update({f"{key}.{name}": array for name, array in found.items()})
        networks[key] = {**vars(source), **values}
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    with Path(target).open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    return {"arrays": Path(target).name, "arrays_sha256": sha256(map_file(Path(target))), "networks": networks}


def main(arguments: Sequence[str]) -> int:
    """Fetch or find the original files first: see ``fetch``."""
    from chapters.spectra_resnets import fetch

    return fetch.main(arguments)


def _joined(spectra: list[GramSpectra]) -> np.ndarray:
    return np.concatenate([each.eigenvalues.ravel() for each in spectra])


def _null_alphas(layers: tuple[Layer, ...], arrangement: str, settings: Mapping[str, Any], draw: int) -> list[float]:
    options = DensityOptions(
        arrangement, null=settings["null"], seed=settings["seed"], draw=draw, minimum=settings["minimum"]
    )
    densities = [density for layer in layers for density in layer_densities(layer, options)]
    return [fit.alpha for fit in fit_power_laws([density.eigenvalues for density in densities])]


def _operator(layers: tuple[Layer, ...], settings: Mapping[str, Any]) -> list[list[Any]]:
    density = DensityOptions(
        "operator", divide_by="nothing", grid=settings["grid"], stride=settings["stride"], minimum=settings["minimum"]
    )
    options = SpectraOptions(density, alternatives=())
    rows = []
    for layer in layers:
        for row in layer_metrics(layer, layer_densities(layer, density).densities, options):
            rows.append([getattr(row, name) for name in settings["operator"]])
    return rows
