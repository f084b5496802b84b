"""Analyse a network layer by layer, on threads or elsewhere, with columns that a report adds to each layer's metrics.

Draws of the null (:mod:`capcore.spectra.nulls`) show the range of α without training, and they reveal correlation
traps. These are unusually large single weights, which shuffling does not remove, so they appear as spikes above the
bulk of noise (Martin and Mahoney count them with ``randomize=True``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from tqdm import tqdm

from capcore.checkpoints.tensors import Checkpoint, NonFiniteError, shown
from capcore.spectra.alternatives import compare_tails
from capcore.spectra.analysis import analyse_layer, assembled, source_of
from capcore.spectra.densities import Density, arrangement_of, matrices_of
from capcore.spectra.lapack import in_order
from capcore.spectra.layers import Layer, Skipped
from capcore.spectra.metrics import SpectrumMetrics, ends, fit_tails, null_range
from capcore.spectra.nulls import Chance, null_p_value, nulls_of
from capcore.spectra.options import SpectraOptions
from capcore.spectra.results import SpectraReport

NAN = float("nan")
TRAPS = ("traps_low", "traps", "traps_high")
LONGEST = 8192  # largest number of eigenvalues for which the defaults compute an interval


Beside: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Name of a spectrum → further columns: numbers, and ``null_drawn``, how its null was drawn."""


@dataclass(frozen=True)
class Asked:
    """What was asked for besides the metrics.

    ``resamples_given`` : whether the user chose the number of resamples, which then holds for layers of every size.
    ``truncated`` : also fit the truncated power law. ``traceback`` : raise unexpected errors.
    """

    resamples_given: bool = True
    truncated: bool = False
    traceback: bool = False


@dataclass(frozen=True)
class LayerResult:
    """Metrics, densities and skipped parts of a layer. ``beside`` : further columns by the name of the spectrum."""

    rows: Sequence[SpectrumMetrics] = ()
    densities: Sequence[Density] = ()
    skipped: Sequence[Skipped] = ()
    beside: Beside = field(default_factory=dict)


def relative_change(layer: Layer, base: Checkpoint) -> float:
    """Relative change ‖W − W₀‖/‖W₀‖ (Frobenius) of a layer that holds W − W₀; NaN if ``base`` lacks its weights."""
    names = (layer.name, layer.name.removeprefix("model."), f"model.{layer.name}")
    original = next((base.tensors[name] for name in names if name in base), None)
    if original is None or not original.is_real:
        return NAN
    norms = [float(np.linalg.norm(tensor.read().astype(float))) for tensor in (layer.tensor, original)]
    return norms[0] / norms[1] if norms[1] else NAN


def affordable(layer: Layer, options: SpectraOptions, asked: Asked) -> SpectraOptions:
    """Leave out the interval of a large layer, unless the user asked for a certain number of resamples."""
    shape, number = matrices_of(layer, arrangement_of(layer, options.density), options.density)
    spared = not asked.resamples_given and number * min(shape) > LONGEST
    return replace(options, n_resamples=0) if spared else options


def layer_result(layer: Layer, options: SpectraOptions, asked: Asked, base: Checkpoint | None = None) -> LayerResult:
    """Compute the :class:`LayerResult` of a layer. An error becomes the reason for skipping it; refused NaN raise."""
    try:
        rows, densities, skipped = analyse_layer(layer, replace(affordable(layer, options, asked), null=None))
        if not rows:
            return LayerResult(rows, densities, skipped)
        chances = nulls_of(options).of_layer(layer) if options.null else {}
        change = {} if base is None else {"change": relative_change(layer, base)}
        beside = {}
        for row, density in zip(rows, densities, strict=True):
            drawn = _by_chance(row, chances[row.name], options) if row.name in chances else {}
            beside[row.name] = {**drawn, **change, **(_truncated(density, options) if asked.truncated else {})}
        rows = [replace(row, **null_range(chances[row.name].alphas)) if row.name in chances else row for row in rows]
        return LayerResult(rows, densities, skipped, beside)
    except NonFiniteError:
        raise
    except Exception as error:
        if asked.traceback:
            raise
        reason = f"{type(error).__name__}: {shown(error)[:200]} (--traceback shows where.)"
        return LayerResult(skipped=(Skipped(layer.name, layer.tensor.shape, reason),))


def _by_chance(row: SpectrumMetrics, chance: Chance, options: SpectraOptions) -> dict[str, Any]:
    """Columns that the null adds: the p-value of α, how it was drawn, and the traps of shuffled weights."""
    found = {"null_p_value": null_p_value(row.alpha, chance.alphas), "null_drawn": chance.drawn}
    return found | (dict(zip(TRAPS, ends(chance.spikes), strict=True)) if options.null == "shuffled" else {})


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
) -> tuple[SpectraReport, dict[str, Mapping[str, Any]]]:
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
