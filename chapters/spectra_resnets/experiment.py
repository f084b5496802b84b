"""Spectra of eleven trained residual networks, computed from their original files to be shipped without the weights.

Stored are eigenvalues of WᵀW as the files have the weights, undivided (no 1/N), of every slice and of every unfolded
kernel: all other units and the pooled slices follow. What does not follow from them is computed here as well: exponents
of shuffled weights, and metrics of the exact operators.

``python -m chapters run resnet_spectra`` fetches or finds the files, and makes ``results/resnet_spectra.json`` and
``.npz`` again, in about a minute on one core once the files are there.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from capcore.checkpoints.files import sha256
from capcore.checkpoints.tensors import Checkpoint, CheckpointError
from capcore.spectra.densities import layer_densities
from capcore.spectra.eigenvalues import gram_spectra
from capcore.spectra.layers import Layer, find_layers, slices, unfolded
from capcore.spectra.metrics import layer_metrics
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.power_law import fit_power_laws
from chapters.kit import stored as results
from chapters.kit.witness import Witness
from chapters.shared.resnets import SOURCES, with_first_layer
from chapters.spectra_resnets.files import bare, fetch_file, find_file, read_network

WITNESS = Witness(reason="It needs the weights of eleven networks, which may not be passed on.")
STRIDED = ("layer2.0.conv1*", "layer2.0.downsample*", "layer3.0.conv1*", "layer3.0.downsample*")
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
    "stride": {**dict.fromkeys(STRIDED, 2), "*": 1},
}
"""Grids and strides are those of the networks of He et al. (2016) for images of 32 × 32, with circular padding.
``operator``: what is kept of :class:`~capcore.spectra.metrics.SpectrumMetrics`."""


def network_spectra(
    checkpoint: Checkpoint, settings: Mapping[str, Any] = SETTINGS
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and plain values that are stored of a network, the same from every file format.

    Names are sorted, and have no ``module.`` before them. Tensors of whole numbers are left out: counters of batches,
    which conversions do not have.


    Arrays: ``slices`` (n,), eigenvalues layer after layer, tap after tap, descending in each; ``zeros`` (n_slices,) of
    them that are exactly zero; ``unfolded`` (m,) and ``unfolded_zeros`` (n_convolutions,) likewise, of convolutions
    only, as a linear layer has one matrix; and ``null_slices``, ``null_pooled`` (n_null, n_spectra), α of every draw in
    the order of the densities, NaN where a draw has no fit.
    Values: ``tensors``, name, type and shape of all; ``deviations``, standard deviation of each layer's weights; and
    ``operator``, a row of metrics for each layer, undivided.
    """
    real = {bare(name): tensor for name, tensor in checkpoint.tensors.items() if tensor.is_real}
    checkpoint = replace(checkpoint, tensors={name: replace(real[name], name=name) for name in sorted(real)})
    layers = find_layers(checkpoint).layers
    sliced = [gram_spectra(slices(layer.weights())) for layer in layers]
    whole = [gram_spectra(unfolded(layer.weights())) for layer in layers if layer.kernel]
    arrays = {}
    for name, zeros, spectra in (("slices", "zeros", sliced), ("unfolded", "unfolded_zeros", whole)):
        arrays[name] = np.concatenate([one.eigenvalues.ravel() for one in spectra])
        arrays[zeros] = np.concatenate([one.n_zeros.ravel() for one in spectra]).astype(np.int16)
    for arrangement in settings["null_arrangements"]:
        draws = [_null_alphas(layers, arrangement, settings, draw) for draw in range(settings["n_null"])]
        arrays[f"null_{arrangement}"] = np.array(draws)
    return arrays, {
        "tensors": [[tensor.name, tensor.dtype, *tensor.shape] for tensor in checkpoint.tensors.values()],
        "deviations": {layer.name: float(layer.weights().std(dtype=float)) for layer in layers},
        "operator": _operator(layers, settings),
    }


def run(paths: Mapping[str, Path], target: Path) -> dict[str, Any]:
    """Write the arrays of all networks to ``target`` (.npz), and return what goes beside them, with that file's hash.

    paths : key → file of the network. An earlier ``target`` stays until all is computed and written.
    """
    arrays: dict[str, np.ndarray] = {}
    networks: dict[str, Any] = {}
    for key, source in tqdm(SOURCES.items(), "networks"):
        spectra, values = network_spectra(read_network(source, paths[key]))
        arrays.update({f"{key}.{name}": array for name, array in spectra.items()})
        networks[key] = {**vars(source), **values}
    with TemporaryDirectory(dir=target.parent) as drafts:
        draft = Path(drafts) / target.name
        np.savez_compressed(draft, allow_pickle=False, **arrays)
        draft.replace(target)
    return {"arrays": target.name, "arrays_sha256": sha256(target), "networks": networks}


def _null_alphas(layers: tuple[Layer, ...], arrangement: str, settings: Mapping[str, Any], draw: int) -> list[float]:
    drawn = {name: settings[name] for name in ("null", "seed", "minimum")}
    options = DensityOptions(arrangement, draw=draw, **drawn)
    densities = [density for layer in layers for density in layer_densities(layer, with_first_layer(layer, options))]
    return [fit.alpha for fit in fit_power_laws([density.eigenvalues for density in densities])]


def _operator(layers: tuple[Layer, ...], settings: Mapping[str, Any]) -> list[list[Any]]:
    chosen = {name: settings[name] for name in ("grid", "stride", "minimum")}
    density = DensityOptions("operator", divide_by="nothing", **chosen)
    options = SpectraOptions(density, alternatives=())
    rows = [row for layer in layers for row in layer_metrics(layer_densities(layer, density).densities, options)]
    return [[getattr(row, name) for name in settings["operator"]] for row in rows]


PROG = "python -m chapters run resnet_spectra"
CACHE = Path.home() / ".cache" / "capcore" / "checkpoints"
DESCRIPTION = """\
Compute the spectra that the book ships, from the original files of eleven networks.

The weights are other people's work and are not in this repository. They come from

{sources}

at the commits written down in chapters/shared/resnet_sources.csv, with the SHA-256 of every file. A file with another
hash is refused before it is opened. No file can execute code: PyTorch's files are loaded as weights only. Three of
them hold classes beside their weights, which are replaced by objects that do nothing; safetensors files of the same
weights need no PyTorch and are taken where they lie beside.
"""


def licences() -> str:
    """Repository, commit, licence and its address, one line for each repository, with what is fetched from it."""
    lines = []
    for repository in dict.fromkeys(source.repository for source in SOURCES.values()):
        parts = [source for source in SOURCES.values() if source.repository == repository]
        size, licence = sum(source.size for source in parts) / 1e6, parts[0].address(parts[0].licence_path)
        lines.append(f"  {repository} ({len(parts)} files, {size:.1f} MB): {parts[0].licence},\n    {licence}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Run the command; 0 if it did what was asked, 1 with a message if it could not."""
    parser = argparse.ArgumentParser(
        prog=PROG,
        description=DESCRIPTION.format(sources=licences()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--folder", type=Path, help="use the files in this folder, and fetch nothing")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where fetched files are kept (default: %(default)s)")
    parser.add_argument("--yes", action="store_true", help="do not ask before fetching; the licences are shown anyway")
    given = parser.parse_args(arguments)
    try:
        if given.folder is None and not _agreed(given.yes):
            print("Nothing was fetched.", file=sys.stderr)
            return 1
        paths = {
            key: fetch_file(source, given.cache) if given.folder is None else find_file(source, given.folder)
            for key, source in SOURCES.items()
        }
        path = results.path_of("resnet_spectra")
        with threadpool_limits(1):
            results.save(path, PROG, run, SETTINGS, run(paths, path.with_suffix(".npz")))
    except CheckpointError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _agreed(yes: bool) -> bool:
    """Whether files may be fetched: shows where from and under which licences first."""
    print(f"Files to fetch:\n{licences()}\nThey are used on this machine and not redistributed.")
    return yes or input("Fetch them? [y/N] ").strip().lower() in ("y", "yes")
