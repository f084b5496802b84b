"""From a checkpoint to a report: every layer analysed, at any scale of its weights, or listed with the reason.

A public verb takes what its caller has, often a path: :func:`analyse_spectra` hands it to
:mod:`capcore.checkpoints.opening`, imported when it is called. Everything below takes a checkpoint that has been
opened, and asks it for arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from capcore.checkpoints.tensors import Checkpoint, NonFiniteError
from capcore.gate import of_kind
from capcore.spectra.densities import Density, layer_densities
from capcore.spectra.layers import Layer, Layers, Skipped
from capcore.spectra.metrics import SpectrumMetrics, layer_metrics
from capcore.spectra.models import model_metrics
from capcore.spectra.options import SpectraOptions
from capcore.spectra.report import Source, SpectraReport

if TYPE_CHECKING:
    from capcore.checkpoints.opening import Weights

PACKAGES = ("capcore", "numpy", "scipy")
ORDINARY = 256
"""Weights up to 2^256 are squared as they are, and down to 2^-256 if they are a layer's largest."""
LIMIT = 1000  # 2^1000, so that powers of two and their inverses are numbers
LOG_2 = float(np.log10(2))


def analyse_spectra(
    source: Checkpoint | Weights, options: SpectraOptions | None = None, *, progress: bool | None = False
) -> SpectraReport:
    """The :class:`~capcore.spectra.report.SpectraReport` of a network's weights; nothing is executed or downloaded.

    This is the method of paper 3 with every choice recorded: X of each slice and linear layer (Eq. 2), its exponent
    (Eq. 1), and the metrics of the network (Eqs 3, 5 and 6).

    Weights may be of any scale (:mod:`capcore.spectra.eigenvalues`): exponents, ranks and logarithms are right; λ_max,
    x_min and the bulk's edge are infinite or zero where double precision ends. A layer that cannot be analysed is
    listed with the reason, and the others are analysed.

    Parameters
    ----------
    source : Checkpoint, path, mapping or array
        A checkpoint, or what :func:`~capcore.checkpoints.opening.read_checkpoint` reads.
    options : SpectraOptions, optional
        All choices; by default slices of convolutions, 1/N, Clauset's x_min, the other laws and the bulk, without
        nulls, intervals and p-values, which take longer.
    progress : bool or None
        A bar over layers on standard error; None shows it on a terminal only.

    Raises
    ------
    CheckpointError
        For files that cannot be read.

    Examples
    --------
    >>> network = {"fc.weight": np.random.default_rng(0).normal(size=(40, 60)), "head.weight": np.ones((3, 40))}
    >>> report = analyse_spectra(network)
    >>> [row.name for row in report.spectra], report.failures
    (['fc.weight'], {'head.weight': '3 × 40: 3 eigenvalue(s), fewer than the minimum of 10.'})
    """
    from capcore.checkpoints.opening import read_checkpoint

    of_kind(options, "options", SpectraOptions | None, "SpectraOptions")
    return analyse_checkpoint(
        source if isinstance(source, Checkpoint) else read_checkpoint(source), options, progress=progress
    )


def analyse_checkpoint(
    checkpoint: Checkpoint, options: SpectraOptions | None = None, *, progress: bool | None = False
) -> SpectraReport:
    """:func:`analyse_spectra` of what has been opened, such as :func:`~capcore.checkpoints.arrays.of_arrays`.

    One layer is in memory at a time. One that cannot be read is listed with the reason, and the others are analysed.

    Parameters
    ----------
    checkpoint : Checkpoint
        Of :func:`~capcore.checkpoints.opening.read_checkpoint` or :func:`~capcore.checkpoints.arrays.of_arrays`.
    options : SpectraOptions, optional
        As there.
    progress : bool or None
        As there; the bar goes over layers, then over the bytes that are hashed.

    Raises
    ------
    CheckpointError
        For NaN and infinity where the checkpoint was opened to refuse them.

    Examples
    --------
    >>> from capcore.spectra import of_arrays
    >>> analyse_checkpoint(of_arrays({"fc.weight": np.eye(12)})).spectra[0].n
    12
    """
    of_kind(checkpoint, "checkpoint", Checkpoint)
    of_kind(options, "options", SpectraOptions | None, "SpectraOptions")
    options = options or SpectraOptions()
    layers = options.layers(checkpoint)
    densities: list[Density] = []
    skipped: list[Skipped] = []
    spectra: list[SpectrumMetrics] = []
    disable = None if progress is None else not progress
    for layer in tqdm(layers.layers, checkpoint.name, disable=disable, unit="layer", leave=False):
        rows, found, without = analyse_layer(layer, options)
        spectra.extend(rows)
        densities.extend(found)
        skipped.extend(without)
    return assembled(source_of(checkpoint, disable), options, layers, spectra, skipped, densities)


def source_of(checkpoint: Checkpoint, disable: bool | None) -> Source:
    """Where a checkpoint comes from, its hashes computed. disable : the bar over the bytes, as ``tqdm`` has it."""
    with tqdm(total=checkpoint.size, desc="SHA-256", disable=disable, unit="B", unit_scale=True, leave=False) as bar:
        checkpoint.hashes(bar.update)
    return Source(checkpoint.name, checkpoint.format, checkpoint.sha256, checkpoint.size, dict(checkpoint.parts))


def assembled(
    source: Source,
    options: SpectraOptions,
    layers: Layers,
    spectra: Sequence[SpectrumMetrics],
    skipped: Sequence[Skipped],
    densities: Sequence[Density],
) -> SpectraReport:
    """The report of layers, from what was found of each; ``skipped`` are those, or parts, without a spectrum."""
    n_weights = sum(layer.tensor.size for layer in layers.layers)
    model = model_metrics(spectra, n_skipped=len(skipped), n_weights=n_weights)
    versions = {name: version(name) for name in PACKAGES}
    return SpectraReport(
        source, options, versions, model, tuple(spectra), tuple(skipped), layers.skipped, tuple(densities)
    )


def analyse_layer(
    layer: Layer, options: SpectraOptions
) -> tuple[Sequence[SpectrumMetrics], Sequence[Density], Sequence[Skipped]]:
    """Metrics and densities of a layer, of any scale, or of its slices; and what of it has none, with the reason.

    Densities of a layer that was divided are those of the divided weights: ``scaled_by`` says by what. Raises
    ``CheckpointError`` for weights that are refused; any other failure is a reason.
    """
    try:
        level, k = levelled(layer)
        if k and any(value is not None for value in (options.x_min, options.x_max, options.threshold)):
            raise ValueError(
                f"weights: found the largest near 2^{k}, expected 2^-{ORDINARY} to 2^{ORDINARY} beside x_min, x_max or "
                "threshold, which are in units of the squares. Leave those out, or rescale the weights."
            )
        found = layer_densities(level, options.density)
        rows = layer_metrics(level, found.densities, options)
    except NonFiniteError:
        raise
    except ValueError as error:
        return (), (), (Skipped(layer.name, layer.tensor.shape, str(error)),)
    densities = found.densities
    if k:
        rows = [in_own_units(row, 2 * k) for row in rows]
        densities = tuple(replace(each, scaled_by=float(np.ldexp(each.scaled_by, -k))) for each in densities)
    return rows, densities, found.skipped


def levelled(layer: Layer) -> tuple[Layer, int]:
    """The layer with weights near one, and k: they are its own divided by 2^k. Itself and 0 at ordinary scale.

    >>> from capcore.spectra import find_layers, read_checkpoint
    >>> found, k = levelled(find_layers(read_checkpoint({"fc": np.full((3, 3), 1e-200)})).layers[0])
    >>> bool(0.5 <= found.weights().max() < 1), k
    (True, -664)
    """
    if layer.tensor.dtype != "float64":
        return layer, 0
    values = layer.tensor.read()
    finite = np.isfinite(values)
    largest = max(
        abs(float(np.max(values, initial=0, where=finite))), abs(float(np.min(values, initial=0, where=finite)))
    )
    k = int(np.clip(np.frexp(largest)[1], -LIMIT, LIMIT))
    if not largest or abs(k) <= ORDINARY:
        return layer, 0
    read = layer.tensor.values
    return replace(layer, tensor=replace(layer.tensor, values=lambda: np.ldexp(read(), -k), one=None)), k


def in_own_units(row: SpectrumMetrics, exponent: int) -> SpectrumMetrics:
    """The metrics of eigenvalues 2^exponent times as large.

    λ_max, x_min and the bulk's edge may end up infinite or zero, where double precision ends; their logarithms do not.
    """

    def moved(value: float) -> float:
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(value, exponent))

    spectral, frobenius = (getattr(row, name) + exponent * LOG_2 for name in ("log_spectral", "log_frobenius"))
    return replace(
        row,
        x_min=moved(row.x_min),
        lambda_max=moved(row.lambda_max),
        bulk_edge=moved(row.bulk_edge),
        log_spectral=spectral,
        log_frobenius=frobenius,
        log_stable_rank=frobenius / spectral if spectral else float("nan"),
        alpha_hat=row.alpha * spectral,
        log_alpha_norm=row.log_alpha_norm + row.alpha * exponent * LOG_2,
    )
