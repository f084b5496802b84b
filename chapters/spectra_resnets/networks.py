"""The shipped spectra of eleven trained residual networks, in place of their weights.

The weights are other people's (:mod:`chapters.spectra_resnets.files`) and are not in this repository. What is, is
computed from them: the spectra in ``results/resnet_spectra.json`` and ``.npz``; ``python -m chapters run
resnet_spectra`` makes them again. Densities and reports are those of
:func:`~capcore.spectra.densities.layer_densities` and :func:`~capcore.spectra.analysis.analyse_spectra` of the files
themselves, under any options that eigenvalues allow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, NoReturn

import numpy as np

from capcore.checkpoints.tensors import Checkpoint, Tensor
from capcore.checks.arguments import one_of
from capcore.spectra.analysis import assembled
from capcore.spectra.densities import Densities, matrices_of, scaled_densities, taps, unfit_reason
from capcore.spectra.eigenvalues import GramSpectra
from capcore.spectra.layers import Layer, Layers, Skipped, find_layers
from capcore.spectra.metrics import layer_metrics
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.results import Source, SpectraReport
from chapters.kit import stored as results
from chapters.spectra_resnets.files import SOURCES, NetworkSource


@dataclass(frozen=True, eq=False)
class StoredNetwork:
    """Spectra of one network.

    Attributes
    ----------
    source : where the file came from, with the accuracy stated there.
    deviations : layer → standard deviation of its weights, for Gaussian nulls.
    operator : layer → metrics of the exact operator's spectrum, undivided, on grids for images of 32 × 32.
    spectra : ``slices`` and ``unfolded``: layer → spectra of its matrices, undivided.
    """

    source: NetworkSource
    deviations: Mapping[str, float] = field(repr=False)
    operator: Mapping[str, Mapping[str, Any]] = field(repr=False)
    spectra: Mapping[str, Mapping[str, GramSpectra]] = field(repr=False)
    tensors: Mapping[str, Tensor] = field(repr=False)
    nulls: Mapping[str, np.ndarray] = field(repr=False)

    @property
    def error(self) -> float:
        """Top-1 test error in percent, from the accuracy that the source states; NaN where it states none."""
        return 100 - self.source.top1 if self.source.top1 is not None else float("nan")

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """Names, types and shapes of all tensors; reading one raises ``ValueError``, as no weights are stored."""
        file = self.source
        return Checkpoint(file.file, "stored spectra", lambda: {file.file: file.sha256}, file.size, self.tensors)

    def densities(self, source: Layers | None = None, options: DensityOptions | None = None) -> Densities:
        """What :func:`~capcore.spectra.densities.layer_densities` finds in the layers of the file (paper 3, Eq. 2).

        source : layers of ``checkpoint``, all by default. Nulls and operators need the weights; :meth:`null_alphas`
        and ``operator`` hold what is stored of them.
        """
        options = options or DensityOptions("slices")
        layers = source or find_layers(self.checkpoint)
        parts = [self._layer(layer, options) for layer in layers.layers]
        densities = tuple(density for part in parts for density in part.densities)
        return Densities(densities, layers.skipped + tuple(skipped for part in parts for skipped in part.skipped))

    def report(self, options: SpectraOptions | None = None) -> SpectraReport:
        """What :func:`~capcore.spectra.analysis.analyse_spectra` finds in the file.

        Options that need the weights are not for it: nulls, operators, groups, other layouts.
        """
        options = options or SpectraOptions(DensityOptions("slices"))
        layers = options.layers(self.checkpoint)
        densities = self.densities(layers, options.density)
        spectra = [
            metrics
            for layer in layers.layers
            for metrics in layer_metrics([d for d in densities if d.layer == layer.name], options)
        ]
        source = Source(self.source.file, "stored spectra", self.source.sha256, self.source.size)
        skipped = densities.skipped[len(layers.skipped) :]
        return assembled(source, options, layers, spectra, skipped, densities.densities)

    def null_alphas(self, arrangement: str = "slices") -> dict[str, np.ndarray]:
        """Name of a density → (n_null,) exponents of its layer's weights shuffled, default fit; NaN without a fit.

        They are those of ``SpectraOptions(null="shuffled", seed=0, permute=True)``, whatever the units: α has none.
        """
        draws = self.nulls[one_of(arrangement, "arrangement", self.nulls)]
        names = [density.name for density in self.densities(options=DensityOptions(arrangement))]
        return dict(zip(names, draws.T, strict=True))

    def _layer(self, layer: Layer, options: DensityOptions) -> Densities:
        """Like :func:`~capcore.spectra.densities.layer_densities`."""
        arrangement = options.arrangement if layer.kernel else "unfolded"
        stored = self.spectra["unfolded" if layer.kernel and arrangement == "unfolded" else "slices"][layer.name]
        shape, n_matrices = matrices_of(layer, arrangement, options)
        reason = unfit_reason(layer, with_first_layer(layer, options)) or (
            "" if stored.eigenvalues.any() else "All weights are zero."
        )
        if reason:
            return Densities((), (Skipped(layer.name, layer.tensor.shape, reason),))
        parts: Iterator[tuple[tuple[int, ...] | None, GramSpectra]] = iter([(None, stored)])
        if arrangement == "slices":
            fields = zip(stored.eigenvalues, stored.n_zeros, strict=True)
            parts = zip(taps(layer.kernel), (GramSpectra(*one) for one in fields), strict=True)
        return scaled_densities(layer, parts, shape, n_matrices, options)


def with_first_layer(layer: Layer, options: DensityOptions) -> DensityOptions:
    """The options with a ``minimum`` that counts pooled slices together, as WeightWatcher does: a first layer, of three
    input channels, would be left out otherwise."""
    if options.arrangement != "pooled":
        return options
    return replace(options, minimum=-(-options.minimum // prod(layer.kernel)))


def stored_networks() -> dict[str, StoredNetwork]:
    """Key → network, in the order of ``SOURCES``. Raises ``ResultsError`` if the two files do not belong together."""
    path = results.path_of("resnet_spectra")
    content = results.load(path)
    values, beside = content["values"], path.with_name(content["values"]["arrays"])
    if hashlib.sha256(beside.read_bytes()).hexdigest() != values["arrays_sha256"]:
        raise results.ResultsError(
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
        raise results.ResultsError(
            f"{key}: found spectra of weights {network['weights_sha256'][:12]}…, expected those of "
            f"{source.weights_sha256[:12]}…, the file of resnet_sources.csv. Make them again."
        )
    tensors = {name: Tensor(name, kind, tuple(shape), _no_weights) for name, kind, *shape in network["tensors"]}
    layers = find_layers(Checkpoint(key, "stored spectra", dict, 0, tensors)).layers
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
    spectra = {}
    for layer in layers:
        n_out, n_in, *kernel = layer.shape[1:]
        n_taps = int(np.prod(kernel))
        if not sliced and not kernel:
            continue
        count, columns = (n_taps, n_in) if sliced else (1, n_in * n_taps)
        number = count * min(n_out, columns)
        part = values[:number].reshape(count, 1, -1)
        spectra[layer.name] = GramSpectra(part, zeros[:count].reshape(count, 1).astype(int))
        values, zeros = values[number:], zeros[count:]
    return spectra


def _no_weights() -> NoReturn:
    raise ValueError("weights: found spectra only, expected a checkpoint. Read the original file for its weights.")
