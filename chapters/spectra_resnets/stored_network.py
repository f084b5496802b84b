"""A network of which eigenvalues are at hand and weights are not: densities and reports as from the file itself.

They are those of :func:`~capcore.spectra.densities.layer_densities`, layer by layer, and of
:func:`~capcore.spectra.analysis.analyse_spectra`, under any options that eigenvalues allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from capcore.spectra.analysis import PACKAGES
from capcore.spectra.densities import Densities, matrices_of, scaled_densities, unfit_reason
from capcore.spectra.eigenvalues import GramSpectra
from capcore.spectra.layers import Layer, Layers, Skipped, find_layers, taps
from capcore.spectra.metrics import SpectrumMetrics, layer_metrics
from capcore.spectra.models import model_metrics
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.report import Source, SpectraReport
from capcore.spectra.tensors import Checkpoint, Tensor
from capcore.validation import one_of
from chapters.spectra_resnets.resnet_sources import NetworkSource


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
        return SpectraReport(
            Source(file.file, "stored spectra", file.sha256, file.size),
            options,
            {name: version(name) for name in PACKAGES},
            model_metrics(spectra, n_skipped=len(skipped), n_weights=sum(layer.tensor.size for layer in layers.layers)),
            tuple(spectra),
            skipped,
            layers.skipped,
            found.densities,
        )

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
        reason = unfit_reason(shape, n_matrices, options) or (
            "" if stored.eigenvalues.any() else "All weights are zero."
        )
        if reason:
            return Densities((), (Skipped(layer.name, layer.tensor.shape, reason),))
        parts: Iterator[tuple[tuple[int, ...] | None, GramSpectra]] = iter([(None, stored)])
        if arrangement == "slices":
            parts = zip(taps(layer.kernel), _each(stored), strict=True)
        return scaled_densities(layer, parts, shape, n_matrices, options)


def _each(stored: GramSpectra) -> list[GramSpectra]:
    parts = zip(stored.eigenvalues, stored.n_zeros, stored.resolution, strict=True)
    return [GramSpectra(*part) for part in parts]


def _refuse(options: DensityOptions) -> None:
    if options.null is not None or options.arrangement == "operator":
        raise ValueError(
            f"options: found null={options.null!r} and the arrangement {options.arrangement!r}, expected neither a "
            "null nor 'operator': they need the weights. null_alphas and operator hold what is stored of them."
        )
