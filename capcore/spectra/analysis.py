"""From a checkpoint to a report. Every layer is analysed, whatever the scale of its weights, or listed with the reason.

Callers often have just a path, so :func:`analyse_spectra` accepts one and lets :mod:`capcore.checkpoints.opening` open
the file. That module is imported only then. Every other function takes an open checkpoint and asks it for arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from capcore.checkpoints.tensors import Checkpoint, NonFiniteError
from capcore.checks.arguments import of_kind
from capcore.spectra.densities import Density, layer_densities
from capcore.spectra.layers import Layer, Layers, Skipped
from capcore.spectra.metrics import SpectrumMetrics, layer_metrics
from capcore.spectra.models import model_metrics
from capcore.spectra.options import SpectraOptions
from capcore.spectra.results import Source, SpectraReport

if TYPE_CHECKING:
    from capcore.checkpoints.opening import Weights

PACKAGES = ("capcore", "numpy", "scipy")
ORDINARY = 256
"""A layer whose largest weight lies between 2^-256 and 2^256 is squared as it is; any other is rescaled first."""
LIMIT = 1000  # largest exponent of a rescaling, so that the power of two and its inverse are both finite
LOG_2 = float(np.log10(2))


def analyse_spectra(
    source: Checkpoint | Weights, options: SpectraOptions | None = None, *, progress: bool | None = False
) -> SpectraReport:
    """Analyse the weights of a network, layer by layer, without executing or downloading anything.

    The method is that of paper 3: X of each slice and linear layer (Eq. 2), its exponent (Eq. 1), and the metrics of
    the network (Eqs 3, 5 and 6). Every choice is recorded in the :class:`~capcore.spectra.results.SpectraReport`.

    Weights may have any scale (:mod:`capcore.spectra.eigenvalues`). Exponents, ranks and logarithms are always right,
    but λ_max, x_min and the bulk's edge become infinite or zero beyond double precision. A layer that cannot be
    analysed is listed with the reason and does not stop the others.

    Parameters
    ----------
    source : Checkpoint, path, mapping or array
        A checkpoint, or anything that :func:`~capcore.checkpoints.opening.read_checkpoint` reads.
    options : SpectraOptions, optional
        Every choice of the analysis. By default convolutions are taken slice by slice, eigenvalues are divided by N,
        x_min is Clauset's, and the tail is compared with other laws and with a bulk of noise. Nulls, intervals and
        p-values take longer and must be asked for.
    progress : bool or None
        Whether to show a progress bar over layers on standard error. None shows it only on a terminal.

    Raises
    ------
    CheckpointError
        If the file cannot be read.

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
    """Analyse a checkpoint that is already open, as :func:`analyse_spectra` does.

    Only one layer is in memory at a time. A layer that cannot be read is listed with the reason and does not stop the
    others.

    Parameters
    ----------
    checkpoint : Checkpoint
        From :func:`~capcore.checkpoints.opening.read_checkpoint` or :func:`~capcore.checkpoints.arrays.of_arrays`.
    options : SpectraOptions, optional
        As in :func:`analyse_spectra`.
    progress : bool or None
        Likewise. The bar runs over the layers, then over the bytes that are hashed.

    Raises
    ------
    CheckpointError
        If weights are NaN or infinite and the checkpoint was opened to refuse them.

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
    """Describe where a checkpoint comes from, and hash its files. ``disable`` turns off the bar, as in ``tqdm``."""
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
    """Assemble a report from the results of layers. ``skipped`` lists layers, or parts of them, without a spectrum."""
    n_weights = sum(layer.tensor.size for layer in layers.layers)
    model = model_metrics(spectra, n_skipped=len(skipped), n_weights=n_weights)
    versions = {name: version(name) for name in PACKAGES}
    return SpectraReport(
        source, options, versions, model, tuple(spectra), tuple(skipped), layers.skipped, tuple(densities)
    )


def analyse_layer(
    layer: Layer, options: SpectraOptions
) -> tuple[Sequence[SpectrumMetrics], Sequence[Density], Sequence[Skipped]]:
    """Analyse a layer, whatever its scale: the metrics and densities of it or of its slices, and the parts skipped.

    A layer of unusual scale is divided by a power of two first. Its densities are then those of the divided weights,
    and ``scaled_by`` records the factor. Weights that the checkpoint refuses raise ``CheckpointError``; after any other
    failure the layer is listed as skipped, with the reason.
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
    """Divide a layer by 2^k so that its largest weight is near one; return it with k, or unchanged with 0 if ordinary.

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
    """Convert metrics to those of eigenvalues that are 2^exponent times as large.

    λ_max, x_min and the bulk's edge may become infinite or zero in double precision; their logarithms do not.
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
