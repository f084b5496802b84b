"""Analyse a network layer by layer, on threads or elsewhere, with columns that a command adds to each layer's metrics.

Draws of shuffled weights show the range of α without training, and they reveal correlation traps. These are unusually
large single weights, which shuffling does not remove, so they appear as spikes above the bulk of noise (Martin and
Mahoney count them with ``randomize=True``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.checkpoints.tensors import Checkpoint, NonFiniteError, shown
from capcore.spectra.alternatives import compare_tails
from capcore.spectra.analysis import analyse_layer, assembled, levelled, source_of
from capcore.spectra.densities import Density, arrangement_of, matrices_of
from capcore.spectra.lapack import in_order
from capcore.spectra.layers import Layer, Skipped
from capcore.spectra.metrics import SpectrumMetrics, ends, fit_tails, null_draws, null_range
from capcore.spectra.noise import fit_bulk
from capcore.spectra.options import SpectraOptions
from capcore.spectra.report import SpectraReport

NAN = float("nan")
FEW, NO = 2**28, 2**33
"""Multiplications per spectrum above which the defaults take only two draws of the null, or none."""
TRAPS = ("traps_low", "traps", "traps_high")
LONGEST = 8192  # largest number of eigenvalues for which the defaults compute an interval


@dataclass(frozen=True)
class Asked:
    """What was asked for besides the metrics.

    ``draws_given``, ``resamples_given`` : whether the user chose the number of draws or resamples, which then holds for
    layers of every size. ``truncated`` : also fit the truncated power law. ``traceback`` : raise unexpected errors.
    """

    draws_given: bool = True
    resamples_given: bool = True
    truncated: bool = False
    traceback: bool = False


@dataclass(frozen=True)
class LayerResult:
    """Metrics, densities and skipped parts of a layer. ``beside`` : further columns by the name of the spectrum."""

    rows: Sequence[SpectrumMetrics] = ()
    densities: Sequence[Density] = ()
    skipped: Sequence[Skipped] = ()
    beside: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def relative_change(layer: Layer, base: Checkpoint) -> float:
    """Relative change ‖W − W₀‖/‖W₀‖ (Frobenius) of a layer that holds W − W₀; NaN if ``base`` lacks its weights."""
    names = (layer.name, layer.name.removeprefix("model."), f"model.{layer.name}")
    original = next((base.tensors[name] for name in names if name in base), None)
    if original is None or not original.is_real:
        return NAN
    norms = [float(np.linalg.norm(tensor.read().astype(float))) for tensor in (layer.tensor, original)]
    return norms[0] / norms[1] if norms[1] else NAN


def affordable(layer: Layer, options: SpectraOptions, asked: Asked) -> SpectraOptions:
    """Reduce draws and resamples for a large layer, unless the user asked for a certain number of them."""
    shape, number = matrices_of(layer, arrangement_of(layer, options.density), options.density)
    work = number * min(shape) ** 2 * max(shape)
    if options.null and not asked.draws_given and work > FEW:
        options = replace(options, n_null=min(2, options.n_null), null=options.null if work <= NO else None)
    if not asked.resamples_given and number * min(shape) > LONGEST:
        options = replace(options, n_resamples=0)
    return options


def layer_result(layer: Layer, options: SpectraOptions, asked: Asked, base: Checkpoint | None = None) -> LayerResult:
    """Compute the :class:`LayerResult` of a layer. An error becomes the reason for skipping it; refused NaN raise."""
    try:
        options = affordable(layer, options, asked)
        rows, densities, skipped = analyse_layer(layer, replace(options, null=None))
        if not rows:
            return LayerResult(rows, densities, skipped)
        noise = null_ranges(layer, options) if options.null else {}
        rows = [replace(row, **noise[row.name][0]) if row.name in noise else row for row in rows]
        beside = {row.name: dict(noise[row.name][1]) if row.name in noise else {} for row in rows}
        change = {} if base is None else {"change": relative_change(layer, base)}
        for row, density in zip(rows, densities, strict=True):
            beside[row.name] |= {**change, **(_truncated(density, options) if asked.truncated else {})}
        return LayerResult(rows, densities, skipped, beside)
    except NonFiniteError:
        raise
    except Exception as error:
        if asked.traceback:
            raise
        reason = f"{type(error).__name__}: {shown(error)[:200]} (--traceback shows where.)"
        return LayerResult(skipped=(Skipped(layer.name, layer.tensor.shape, reason),))


def null_ranges(layer: Layer, options: SpectraOptions) -> dict[str, tuple[dict[str, Any], dict[str, float]]]:
    """Null metrics by spectrum: the ``null_…`` metrics, and the smallest, median and largest number of ``traps``."""
    found: dict[str, tuple[dict[str, Any], dict[str, float]]] = {}
    for name, (drawn, alphas) in null_draws(levelled(layer)[0], options).items():
        spikes = [_spikes(density, options) for density in drawn]
        counted = np.array([number for number in spikes if number is not None], dtype=float)
        traps = dict(zip(TRAPS, ends(counted), strict=True)) if options.null == "shuffled" else {}
        found[name] = null_range(alphas), traps
    return found


def _spikes(density: Density, options: SpectraOptions) -> int | None:
    try:
        divisor = density.divided_by
        return fit_bulk(density.eigenvalues, density.shape, divisor=divisor, level=options.bulk_level).n_spikes
    except ValueError:  # no bulk can be fitted
        return None


def _truncated(density: Density, options: SpectraOptions) -> dict[str, float]:
    """Exponent and rate of the truncated power law, fitted to the same tail as the power law."""
    (fit,) = fit_tails([density.eigenvalues], options)
    if not fit.ok or fit.x_max is not None:
        return {"tpl_alpha": NAN, "tpl_rate": NAN}
    (test,) = compare_tails(density.eigenvalues, fit, alternatives=("truncated power law",))
    return {"tpl_alpha": test.model.parameters["alpha"], "tpl_rate": test.model.parameters["rate"]}


def analyse_layers(
    checkpoint: Checkpoint,
    options: SpectraOptions,
    asked: Asked,
    *,
    base: Checkpoint | None = None,
    over: Callable[[Sequence[Layer]], Iterable[LayerResult]] | None = None,
    workers: int = 1,
    progress: bool | None = False,
) -> tuple[SpectraReport, dict[str, Mapping[str, float]]]:
    """Analyse a checkpoint layer by layer: its report, and further columns by spectrum. Failed layers get a reason.

    checkpoint, options, asked : what to analyse, and how. base : the original weights, if the checkpoint holds the
    difference from them. over : yields the results of layers in order, for example
    :func:`~capcore.commands.cluster.on_dask`; by default they are computed here, ``workers`` at a time, on threads with
    one BLAS thread each. progress : as in ``analyse_spectra``.
    """
    disable = None if progress is None else not progress
    layers = options.layers(checkpoint)
    work = partial(layer_result, options=options, asked=asked, base=base)
    with tqdm(total=len(layers.layers), desc=shown(checkpoint.name), disable=disable, unit="layer", leave=False) as bar:
        results = []
        for result in over(layers.layers) if over else in_order(work, layers.layers, workers):
            results.append(result)
            bar.update()
    report = assembled(
        source_of(checkpoint, disable),
        options,
        layers,
        [row for result in results for row in result.rows],
        [part for result in results for part in result.skipped],
        [density for result in results for density in result.densities],
    )
    return report, {name: columns for result in results for name, columns in result.beside.items()}
