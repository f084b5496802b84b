"""From a checkpoint to a report. Every layer is analysed, or listed with the reason.

Callers often have just a path, so :func:`analyse_spectra` accepts one and lets :mod:`capcore.checkpoints.opening` open
the file. That module is imported only then. Every other function takes an open checkpoint and asks it for arrays.

Draws of the null (:mod:`capcore.spectra.nulls`) show the range of α without training, and they reveal correlation
traps. These are unusually large single weights, which shuffling does not remove, so they appear as spikes above the
bulk of noise (Martin and Mahoney count them with ``randomize=True``).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np

from capcore.checkpoints.differences import name_in
from capcore.checkpoints.tensors import Checkpoint, NonFiniteError, shown
from capcore.checks.arguments import of_kind, positive_integer
from capcore.checks.progress import tqdm
from capcore.large.leverage import in_threads
from capcore.spectra.densities import Density, layer_densities
from capcore.spectra.layers import Layer, Layers, Skipped
from capcore.spectra.metrics import SpectrumMetrics, ends, layer_metrics
from capcore.spectra.models import model_metrics
from capcore.spectra.nulls import Chance, null_p_value, nulls_of
from capcore.spectra.options import SpectraOptions, usual_options
from capcore.spectra.results import Source, SpectraReport

PACKAGES = ("capcore", "numpy", "scipy")
NAN = float("nan")
Result = tuple[Sequence[SpectrumMetrics], Sequence[Density], Sequence[Skipped]]
NOTHING: Result = ((), (), ())


def analyse_spectra(
    source: Any,
    options: SpectraOptions | None = None,
    *,
    base: Checkpoint | None = None,
    workers: int = 1,
    progress: bool | None = False,
) -> SpectraReport:
    """Analyse the weights of a network, layer by layer, without executing or downloading anything.

    The method is that of paper 3: X of each layer (Eq. 2), its exponent (Eq. 1), and the metrics of the network (Eqs 3,
    5 and 6). Every choice is recorded in the :class:`~capcore.spectra.results.SpectraReport`. Only one layer is in
    memory at a time.

    A layer that cannot be analysed is listed with the reason and does not stop the others.

    Parameters
    ----------
    source : Checkpoint, path, mapping or array
        A checkpoint, or anything that :func:`~capcore.checkpoints.opening.read_checkpoint` reads.
    options : SpectraOptions, optional
        Every choice of the analysis. By default those of :func:`~capcore.spectra.reporting.report`
        (:func:`~capcore.spectra.options.usual_options`): all slices of a convolution in one spectrum, eigenvalues
        divided by N, Clauset's x_min, other laws, intervals, and exponents of shuffled weights.
    base : Checkpoint, optional
        The original weights, if ``source`` holds the difference from them.
    workers : int
        Layers at a time, each on one thread. The numbers are the same for any number.
    progress : bool or None
        Whether to show a progress bar over layers on standard error. None shows it only on a terminal.

    Raises
    ------
    CheckpointError
        If the file cannot be read, or if weights are NaN or infinite and the checkpoint was opened to refuse them.

    Examples
    --------
    >>> network = {"fc.weight": np.random.default_rng(0).normal(size=(40, 60)), "head.weight": np.ones((3, 40))}
    >>> report = analyse_spectra(network)
    >>> [row.name for row in report.spectra], report.failures
    (['fc.weight'], {'head.weight': '3 × 40: 3 eigenvalue(s), fewer than the minimum of 10.'})
    """
    from capcore.checkpoints.opening import read_checkpoint

    of_kind(options, "options", SpectraOptions | None, "SpectraOptions")
    checkpoint = source if isinstance(source, Checkpoint) else read_checkpoint(source)
    options = options or usual_options()
    layers = options.layers(checkpoint)
    work = partial(analyse_layer, options=options, base=base)
    results = over_layers(work, layers.layers, workers, progress, checkpoint.name)
    rows, densities, skipped = (tuple(chain(*parts)) for parts in zip(NOTHING, *results, strict=True))
    return assembled(checkpoint, options, layers, rows, skipped, densities)


def over_layers(
    work: Callable[[Any], Any], layers: Sequence[Any], workers: int, progress: bool | None, name: str
) -> list[Any]:
    """What ``work`` returns of each layer, with a bar of this name; the other arguments as in a report."""
    one, disable = positive_integer(workers, "workers") == 1, None if progress is None else not progress
    done = map(work, layers) if one else in_threads(work, layers, workers)
    return [*tqdm(done, total=len(layers), desc=shown(name), disable=disable, unit="layer", leave=False)]


def assembled(
    checkpoint: Checkpoint,
    options: SpectraOptions,
    layers: Layers,
    spectra: Sequence[SpectrumMetrics],
    skipped: Sequence[Skipped],
    densities: Sequence[Density],
) -> SpectraReport:
    """A report of the results of layers. ``skipped`` lists layers, or parts of them, without a spectrum."""
    source = Source(checkpoint.name, checkpoint.format, checkpoint.sha256, checkpoint.size, dict(checkpoint.parts))
    n_weights = sum(layer.tensor.size for layer in layers.layers)
    model = model_metrics(spectra, n_skipped=len(skipped), n_weights=n_weights)
    versions = {name: version(name) for name in PACKAGES}
    parts = (tuple(spectra), tuple(skipped), layers.skipped, tuple(densities))
    return SpectraReport(source, options, versions, model, *parts, checkpoint)


def analyse_layer(layer: Layer, options: SpectraOptions, base: Checkpoint | None = None) -> Result:
    """Compute metrics and densities of a layer or of its slices, and list the parts that are skipped.

    Weights that the checkpoint refuses raise. Where they cannot be analysed, as where their squares leave double
    precision or do not fit into memory, the layer is skipped, with the reason.
    """
    try:
        parts = layer_densities(layer, options.density)
        rows = layer_metrics(parts.densities, options)
        chances = nulls_of(options).of_layer(layer) if options.null and rows else {}
        rows = [replace(row, **_by_chance(row, chances[row.name])) if row.name in chances else row for row in rows]
        if base is not None and rows:
            change = relative_change(layer, base)
            rows = [replace(row, change=change) for row in rows]
        return rows, parts.densities, parts.skipped
    except NonFiniteError:
        raise
    except (ValueError, ArithmeticError, MemoryError) as error:
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        return (), (), (Skipped(layer.name, layer.tensor.shape, reason),)


def _by_chance(row: SpectrumMetrics, chance: Chance) -> dict[str, Any]:
    """What the null adds to a row: its range, the p-value of α, how it was drawn, and the traps of shuffled weights."""
    alphas = chance.alphas[np.isfinite(chance.alphas)]
    names = ("null_low", "null_median", "null_high", "traps_low", "traps", "traps_high")
    added = dict(zip(names, (*ends(alphas), *ends(chance.spikes)), strict=True))
    return {**added, "n_null": len(alphas), "null_p_value": null_p_value(row.alpha, alphas), "null_drawn": chance.drawn}


def relative_change(layer: Layer, base: Checkpoint) -> float:
    """Relative change ‖W − W₀‖/‖W₀‖ (Frobenius) of a layer that holds W − W₀; NaN if ``base`` lacks its weights."""
    original = base.tensors.get(name_in(base, layer.name))
    if original is None or not original.is_real:
        return NAN
    norms = [float(np.linalg.norm(tensor.read().astype(float))) for tensor in (layer.tensor, original)]
    return norms[0] / norms[1] if norms[1] else NAN
