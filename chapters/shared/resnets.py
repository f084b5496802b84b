"""Eleven trained residual networks: where their files come from, and their shipped spectra, in place of weights.

The weights are other people's and are not in this repository. What is, is
computed from them: the spectra in ``results/resnet_spectra.json`` and ``.npz``; ``python -m chapters run
resnet_spectra`` makes them again. Densities and reports are those of
:func:`~capcore.spectra.densities.layer_densities` and :func:`~capcore.spectra.analysis.analyse_spectra` of the files
themselves, under any options that eigenvalues allow.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from math import prod
from typing import Any, NoReturn

import numpy as np

from capcore.checkpoints.files import sha256
from capcore.checkpoints.tensors import Checkpoint, Tensor
from capcore.spectra.analysis import assembled
from capcore.spectra.densities import Densities, Density, matrices_of, scaled_densities, taps, unfit_reason
from capcore.spectra.eigenvalues import GramSpectra
from capcore.spectra.layers import Layer, Skipped, find_layers
from capcore.spectra.metrics import layer_metrics
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.results import SpectraReport
from chapters.kit import stored as results

HOST = "https://raw.githubusercontent.com"
"""Where the original repositories' files lie, by repository, commit and path."""
TABLE = "resnet_sources.csv"


@dataclass(frozen=True)
class NetworkSource:
    """One file with a trained network.

    Attributes
    ----------
    key : str
        Short name in this book.
    family : str
        ``series`` (four depths, one training) or ``variants`` (ResNet-20, pruned and regularised in several ways).
    repository, commit, path : str
        Of the file.
    licence, licence_path : str
        Of the repository.
    sha256 : str
        Of the file.
    size : int
        Of the file, in bytes.
    weights_sha256 : str
        Of the weights, however they are packed (``weights_hash``).
    top1 : float or None
        Test accuracy in percent, as the source states it.
    note : str
        What one has to know.
    """

    key: str
    family: str
    repository: str
    commit: str
    path: str
    licence: str
    licence_path: str
    sha256: str
    size: int
    weights_sha256: str
    top1: float | None
    note: str = ""

    @property
    def file(self) -> str:
        """The file's name, without its folder."""
        return self.path.rsplit("/", 1)[-1]

    def address(self, path: str | None = None) -> str:
        """Where the file, or another of the same commit, is fetched from.

        >>> SOURCES["resnet20"].address("LICENSE").rsplit("/", 2)[0]
        'https://raw.githubusercontent.com/akamaster/pytorch_resnet_cifar10'
        """
        return f"{HOST}/{self.repository}/{self.commit}/{path or self.path}"


def _read() -> dict[str, NetworkSource]:
    sources = {}
    for row in csv.DictReader(files(__package__).joinpath(TABLE).read_text("utf8").splitlines()):
        numbers: dict[str, Any] = {"size": int(row["size"]), "top1": float(row["top1"]) if row["top1"] else None}
        sources[row["key"]] = NetworkSource(**{**row, **numbers})
    return sources


SOURCES = _read()
"""Key → file, in the order of the figures: the series by depth, then the variants."""


class StoredNetwork:
    """What is stored of one network. Its origin and accuracy are those of the table, which nothing computes.

    Attributes
    ----------
    source : Source
        Where the file came from, with the accuracy stated there.
    checkpoint : Checkpoint
        Names, types and shapes of all tensors; reading one raises ``ValueError``, as no weights are stored.
    deviations : dict
        Layer → standard deviation of its weights, for Gaussian nulls.
    operator : dict
        Layer → metrics of the exact operator's spectrum, undivided, on grids for images of 32 × 32.
    spectra : dict
        ``slices`` and ``unfolded``: layer → spectra of its matrices, undivided.
    """

    def __init__(
        self, source: NetworkSource, network: Mapping[str, Any], arrays: Mapping[str, np.ndarray], names: list[str]
    ) -> None:
        key = source.key
        if network["weights_sha256"] != source.weights_sha256:
            raise results.ResultsError(
                f"{key}: found spectra of weights {network['weights_sha256'][:12]}…, expected those of "
                f"{source.weights_sha256[:12]}…, the file of resnet_sources.csv. Make them again."
            )
        tensors = {name: Tensor(name, kind, tuple(shape), _no_weights) for name, kind, *shape in network["tensors"]}
        hashes = {source.file: source.sha256}
        self.source, self.deviations = source, network["deviations"]
        self.checkpoint = Checkpoint(source.file, "stored spectra", lambda: hashes, source.size, tensors)
        layers = find_layers(self.checkpoint).layers
        sliced = _spectra(layers, arrays[f"{key}.slices"], arrays[f"{key}.zeros"])
        kernels = [layer for layer in layers if layer.kernel]
        unfolded = _spectra(kernels, arrays[f"{key}.unfolded"], arrays[f"{key}.unfolded_zeros"], sliced=False)
        self.spectra = {"slices": sliced, "unfolded": sliced | unfolded}
        rows = (dict(zip(names, row, strict=True)) for row in network["operator"])
        self.operator = {row["name"]: row for row in rows}
        self.nulls = {kind: arrays[f"{key}.null_{kind}"] for kind in ("slices", "pooled")}

    @property
    def error(self) -> float:
        """Top-1 test error in percent, from the accuracy that the source states; NaN where it states none."""
        return 100 - self.source.top1 if self.source.top1 is not None else float("nan")

    def densities(self, options: DensityOptions) -> list[Density]:
        """What :func:`~capcore.spectra.densities.layer_densities` finds in the layers of the file (paper 3, Eq. 2).

        Nulls and operators need the weights; :meth:`null_alphas` and ``operator`` hold what is stored of them.
        """
        return [density for layer in find_layers(self.checkpoint).layers for density in self._layer(layer, options)]

    def report(self, options: SpectraOptions) -> SpectraReport:
        """What :func:`~capcore.spectra.analysis.analyse_spectra` finds in the file.

        Options that need the weights are not for it: nulls, operators, groups, other layouts.
        """
        layers = options.layers(self.checkpoint)
        parts = [self._layer(layer, options.density) for layer in layers.layers]
        densities = [density for part in parts for density in part]
        skipped = [one for part in parts for one in part.skipped]
        spectra = layer_metrics(densities, options)
        return assembled(self.checkpoint, options, layers, spectra, skipped, densities)

    def null_alphas(self, arrangement: str = "slices") -> dict[str, np.ndarray]:
        """Name of a density → (n_null,) exponents of its layer's weights shuffled, default fit; NaN without a fit.

        They are those of ``SpectraOptions(null="shuffled", seed=0, permute=True)``, whatever the units: α has none.
        """
        names = [density.name for density in self.densities(DensityOptions(arrangement))]
        return dict(zip(names, self.nulls[arrangement].T, strict=True))

    def _layer(self, layer: Layer, options: DensityOptions) -> Densities:
        """Like :func:`~capcore.spectra.densities.layer_densities`."""
        arrangement = options.arrangement if layer.kernel else "unfolded"
        stored = self.spectra["unfolded" if options.arrangement == "unfolded" else "slices"][layer.name]
        reason = unfit_reason(layer, with_first_layer(layer, options))
        if reason or not stored.eigenvalues.any():
            return Densities((), (Skipped(layer.name, layer.tensor.shape, reason or "All weights are zero."),))
        parts: Iterable[tuple[tuple[int, ...] | None, GramSpectra]] = [(None, stored)]
        if arrangement == "slices":
            fields = zip(stored.eigenvalues, stored.n_zeros, strict=True)
            parts = zip(taps(layer.kernel), (GramSpectra(*one) for one in fields), strict=True)
        return scaled_densities(layer, parts, *matrices_of(layer, arrangement, options), options)


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
    if sha256(beside) != values["arrays_sha256"]:
        raise results.ResultsError(
            f"{beside.name}: found other arrays than {path.name} names, expected those of one run. "
            f"Make both again: {content['command']}"
        )
    with np.load(beside, allow_pickle=False) as file:
        arrays = dict(file)
    return {
        key: StoredNetwork(SOURCES[key], network, arrays, content["settings"]["operator"])
        for key, network in values["networks"].items()
    }


def _spectra(
    layers: Sequence[Layer], values: np.ndarray, zeros: np.ndarray, sliced: bool = True
) -> dict[str, GramSpectra]:
    """Layer → its part of the stored arrays, as :func:`~capcore.spectra.eigenvalues.gram_spectra` has it."""
    spectra = {}
    for layer in layers:
        n_out, n_in, *kernel = layer.shape[1:]
        count, columns = (prod(kernel), n_in) if sliced else (1, n_in * prod(kernel))
        number = count * min(n_out, columns)
        part = values[:number].reshape(count, 1, -1)
        spectra[layer.name] = GramSpectra(part, zeros[:count].reshape(count, 1).astype(int))
        values, zeros = values[number:], zeros[count:]
    return spectra


def _no_weights() -> NoReturn:
    raise ValueError("weights: found spectra only, expected a checkpoint. Read the original file for its weights.")
