"""Eleven trained residual networks: where their files come from and how these are read, and their shipped spectra.

Each original is found in a folder or fetched, checked by its hash, and read without executing anything. The weights are
other people's and are not in this repository. What is, is computed from them: the spectra in
``results/resnet_spectra.json`` and ``.npz``; ``python -m chapters run resnet_spectra`` makes them again. Densities and
reports are those of :func:`~capcore.spectra.densities.layer_densities` and
:func:`~capcore.spectra.analysis.analyse_spectra` of the files themselves, under any options that eigenvalues allow.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from capcore.checkpoints import files as weight_files
from capcore.checkpoints.opening import TORCH, read_checkpoint, stem
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Tensor
from capcore.spectra.analysis import assembled
from capcore.spectra.densities import Densities, matrices_of, scaled_densities, taps, unfit_reason
from capcore.spectra.eigenvalues import EPSILON, GramSpectra
from capcore.spectra.layers import Layer, Layers, Skipped, find_layers
from capcore.spectra.metrics import SpectrumMetrics, layer_metrics
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.report import Source, SpectraReport
from capcore.validation import one_of
from chapters.claims import find_registry
from chapters.kit import stored as results

HOST = "https://raw.githubusercontent.com"
"""Where the original repositories' files lie, by repository, commit and path."""
PLACEHOLDERS = ("distiller.thinning.ThinningRecipe", "torch.optim.sgd.SGD")
"""Classes that three of the files hold beside their weights: a record of what was cut away, and an optimiser."""
TABLE = "resnet_sources.csv"
PREFIX = "module."
"""What data-parallel training writes before every name."""


@dataclass(frozen=True)
class NetworkSource:
    """One file with a trained network.

    Attributes
    ----------
    key : short name in this book. family : ``series`` (four depths, one training) or ``variants`` (ResNet-20, pruned
    and regularised in several ways).
    repository, commit, path : of the file. licence, licence_path : of the repository.
    sha256, size : of the file, in bytes. weights_sha256 : of the weights, however they are packed
    (``weights_hash``).
    top1 : test accuracy in percent, as the source states it; None where it states none. note : what one has to know.
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

    def address(self, path: str | None = None, host: str = HOST) -> str:
        """Where the file, or another of the same commit, is fetched from.

        >>> SOURCES["resnet20"].address("LICENSE").rsplit("/", 2)[0]
        'https://raw.githubusercontent.com/akamaster/pytorch_resnet_cifar10'
        """
        return f"{host.rstrip('/')}/{self.repository}/{self.commit}/{path or self.path}"


def _read() -> dict[str, NetworkSource]:
    text = files(__package__).joinpath(TABLE).read_text("utf8")
    rows = csv.DictReader(text.splitlines())
    found = [
        NetworkSource(**{**row, "size": int(row["size"]), "top1": _percent(row["top1"])})  # type: ignore[arg-type]
        for row in rows
    ]
    return {source.key: source for source in found}


def _percent(text: str) -> float | None:
    return float(text) if text else None


SOURCES = _read()
"""Key → file, in the order of the figures: the series by depth, then the variants."""


def weights_hash(checkpoint: Checkpoint) -> str:
    """SHA-256 of all matrices and kernels of a network by name, the same for every file format.

    Names are sorted and lose their ``module.``; values are hashed as little-endian float32.

    >>> first = weights_hash(read_checkpoint({"module.fc": np.eye(2)}))
    >>> first == weights_hash(read_checkpoint({"fc": np.eye(2), "fc.bias": np.zeros(2)}))
    True
    """
    digest = hashlib.sha256()
    for name in sorted(checkpoint.tensors, key=bare):
        tensor = checkpoint.tensors[name]
        if tensor.is_real and len(tensor.shape) > 1:
            digest.update(repr((bare(name), tensor.shape)).encode())
            digest.update(np.ascontiguousarray(tensor.read(), "<f4").tobytes())
    return digest.hexdigest()


def bare(name: str) -> str:
    """A tensor's name without ``module.``.

    >>> bare("module.fc.weight")
    'fc.weight'
    """
    return name.removeprefix(PREFIX)


def find_file(source: NetworkSource, folder: str | Path) -> Path:
    """The file in a folder or below it: the original, or one with the same stem that needs no PyTorch, which is taken.

    Raises ``CheckpointError`` where there is none.
    """
    root = Path(folder)
    found = [path for path in sorted(root.rglob(f"{stem(source.file)}.*")) if stem(path.name) == stem(source.file)]
    plain = [path for path in found if path.suffix == ".safetensors"]
    original = [path for path in found if path.name == source.file]
    if not plain and not original:
        raise CheckpointError(
            f"{root}: found neither {source.file} nor {stem(source.file)}.safetensors, expected one of them there or "
            "in a folder below. Leave --folder out to fetch the original."
        )
    return (plain or original)[0]


def fetch_file(source: NetworkSource, cache: str | Path, *, host: str = HOST) -> Path:
    """The original file, fetched into a folder unless it lies there already. Needs pooch.

    host : another place with the same addresses, such as a mirror. Raises ``CheckpointError`` where it cannot be
    fetched, or is not the file that was analysed.
    """
    if find_spec("pooch") is None:
        raise CheckpointError("pooch: not installed, expected for fetching files: make setup, or pip install pooch.")
    pooch = import_module("pooch")
    address = source.address(host=host)
    try:
        path = pooch.retrieve(address, f"sha256:{source.sha256}", fname=source.file, path=cache)
    except ValueError as error:  # pooch's word for another hash
        raise CheckpointError(
            f"{address}: found a file with another SHA-256 than {source.sha256[:12]}…, expected the file that was "
            f"analysed. It was changed on its way or at its source: nothing of it was kept or opened. ({error})"
        ) from None
    except OSError as error:  # requests' errors are
        raise CheckpointError(
            f"{address}: could not be fetched ({error}). Check the connection, or fetch it by hand and use --folder."
        ) from None
    return Path(path)


def read_network(source: NetworkSource, path: str | Path) -> Checkpoint:
    """The checkpoint in a file of :func:`find_file` or :func:`fetch_file`, if it is the one that was analysed.

    Original files are compared by their hash *before* they are opened, conversions by the hash of their weights.
    Three originals hold classes beside their weights. Their names are given to PyTorch's weights-only loader with
    classes that do nothing in their place, so that nothing is looked up, imported or called; other classes are refused.
    Raises ``CheckpointError``.
    """
    path = Path(path)
    if path.suffix in TORCH:
        found = weight_files.sha256(path)
        if found != source.sha256:
            raise CheckpointError(
                f"{path}: found a file with SHA-256 {found[:12]}…, expected {source.sha256[:12]}…, the one that was "
                "analysed. It was not opened: fetch it again."
            )
        with placeholders():
            checkpoint = read_checkpoint(path)
    else:
        checkpoint = read_checkpoint(path)
    weights = weights_hash(checkpoint)
    if weights != source.weights_sha256:
        raise CheckpointError(
            f"{path}: found weights with SHA-256 {weights[:12]}…, expected {source.weights_sha256[:12]}…, those of "
            f"{source.repository}/{source.path}. Convert that file again, or use it as it is."
        )
    return checkpoint


class _Inert:
    """Stands where a pickle names a class that is of no interest: takes whatever it is given and does nothing."""

    def __new__(cls, *_: object, **__: object) -> _Inert:
        return object.__new__(cls)

    def __setstate__(self, state: object) -> None:
        """Forget the state."""


@contextmanager
def placeholders() -> Iterator[None]:
    """While it lasts, PyTorch's weights-only loader puts inert objects in place of ``PLACEHOLDERS``.

    Without PyTorch nothing happens: the reader says that it is missing.
    """
    if find_spec("torch") is None:
        yield
        return
    with import_module("torch.serialization").safe_globals([(type("Inert", (_Inert,), {}), n) for n in PLACEHOLDERS]):
        yield


NAME = "resnet_spectra.json"


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
        return Checkpoint(file.file, "stored spectra", file.sha256, file.size, self.tensors)

    def densities(self, source: Layers | None = None, options: DensityOptions | None = None) -> Densities:
        """What :func:`~capcore.spectra.densities.layer_densities` finds in the layers of the file (paper 3, Eq. 2).

        source : layers of ``checkpoint``, all by default. Raises ``ValueError`` for nulls and operators, which
        need the weights; :meth:`null_alphas` and ``operator`` hold what is stored of them.
        """
        options = options or DensityOptions()
        _refuse(options)
        layers = source or find_layers(self.checkpoint)
        parts = [self._layer(layer, options) for layer in layers.layers]
        found = tuple(density for part in parts for density in part.densities)
        return Densities(found, layers.skipped + tuple(skipped for part in parts for skipped in part.skipped))

    def report(self, options: SpectraOptions | None = None) -> SpectraReport:
        """What :func:`~capcore.spectra.analysis.analyse_spectra` finds in the file.

        Raises ``ValueError`` for options that need the weights: nulls, operators, groups, other layouts.
        """
        options = options or SpectraOptions()
        if options.null or options.groups or options.transposed or options.layout != "channels-first":
            raise ValueError(
                f"options: found null={options.null!r}, groups={options.groups!r}, transposed={options.transposed!r}, "
                f"layout={options.layout!r}, expected none of them: they need the weights. null_alphas has nulls."
            )
        layers = options.layers(self.checkpoint)
        spectra: list[SpectrumMetrics] = []
        found = self.densities(layers, options.density)
        for layer in layers.layers:
            spectra.extend(layer_metrics(layer, [d for d in found if d.layer == layer.name], options))
        skipped = found.skipped[len(layers.skipped) :]
        file = self.source
        source = Source(file.file, "stored spectra", file.sha256, file.size)
        return assembled(source, options, layers, spectra, skipped, found.densities)

    def null_alphas(self, arrangement: str = "slices") -> dict[str, np.ndarray]:
        """Name of a density → (n_null,) exponents of its layer's weights shuffled, default fit; NaN without a fit.

        They are those of ``SpectraOptions(null="shuffled", seed=0)``, whatever the units: α has none.
        """
        draws = self.nulls[one_of(arrangement, "arrangement", self.nulls)]
        names = [density.name for density in self.densities(options=DensityOptions(arrangement))]
        if draws.shape[1] != len(names):
            raise ValueError(f"null: found {draws.shape[1]} spectra in the file, expected the {len(names)} densities.")
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
            parts = zip(taps(layer.kernel), _each(stored), strict=True)
        return scaled_densities(layer, parts, shape, n_matrices, options)


def with_first_layer(layer: Layer, options: DensityOptions) -> DensityOptions:
    """The options with a ``minimum`` that counts pooled slices together, as WeightWatcher does: a first layer, of three
    input channels, would be left out otherwise."""
    if options.arrangement != "pooled":
        return options
    return replace(options, minimum=-(-options.minimum // prod(layer.kernel)))


def _each(stored: GramSpectra) -> list[GramSpectra]:
    parts = zip(stored.eigenvalues, stored.n_zeros, stored.resolution, strict=True)
    return [GramSpectra(*part) for part in parts]


def _refuse(options: DensityOptions) -> None:
    if options.null is not None or options.arrangement == "operator":
        raise ValueError(
            f"options: found null={options.null!r} and the arrangement {options.arrangement!r}, expected neither a "
            "null nor 'operator': they need the weights. null_alphas and operator hold what is stored of them."
        )


def stored_networks(folder: str | Path | None = None) -> dict[str, StoredNetwork]:
    """Key → network, in the order of ``SOURCES``.

    folder : with the two files; by default that of this chapter, which is written out, as another way to find it would
    make ``resnet_fits`` stale, which reaches this function. Raises ``StaleResultsError`` if the code behind the files
    has changed since, or if the two do not belong together.
    """
    path = Path(folder or find_registry().parents[1] / "chapters/spectra_resnets" / "results") / NAME
    content = results.load(path)
    values, beside = content["values"], path.with_name(content["values"]["arrays"])
    if hashlib.sha256(beside.read_bytes()).hexdigest() != values["arrays_sha256"]:
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
