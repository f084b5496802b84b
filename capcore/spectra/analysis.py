"""From a checkpoint to a report: every layer analysed, or listed with the reason why it is not."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.spectra.analysis_options import SpectraOptions
from capcore.spectra.checkpoints import read_checkpoint
from capcore.spectra.densities import Density
from capcore.spectra.layers import Skipped
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.models import model_metrics
from capcore.spectra.report import Source, SpectraReport
from capcore.spectra.scaled import analyse_layer
from capcore.spectra.tensors import Checkpoint

PACKAGES = ("capcore", "numpy", "scipy")


def analyse_spectra(
    source: Checkpoint | str | Path | Mapping[str, Any] | np.ndarray,
    options: SpectraOptions | None = None,
    *,
    progress: bool | None = False,
) -> SpectraReport:
    """The :class:`~capcore.spectra.report.SpectraReport` of a network's weights; nothing is executed or downloaded.

    Parameters
    ----------
    source : a checkpoint, or what :func:`~capcore.spectra.checkpoints.read_checkpoint` reads.
    options : all choices, :class:`~capcore.spectra.analysis_options.SpectraOptions`; by default slices of
        convolutions, 1/N, Clauset's x_min, the other laws and the bulk, without nulls, intervals and p-values, which
        take longer. progress : a bar over layers on standard error; None shows it on a terminal only.

    Weights may be of any scale (:mod:`capcore.spectra.scaled`): exponents, ranks and logarithms are right; λ_max, x_min
    and the bulk's edge are infinite or zero where double precision ends. A layer that cannot be analysed is listed with
    the reason, and the others are analysed. Raises ``CheckpointError`` for files that cannot be read.

    >>> network = {"fc.weight": np.random.default_rng(0).normal(size=(40, 60)), "head.weight": np.ones((3, 40))}
    >>> report = analyse_spectra(network)
    >>> [row.name for row in report.spectra], report.failures
    (['fc.weight'], {'head.weight': '3 × 40: 3 eigenvalue(s), fewer than the minimum of 10.'})
    """
    options = options or SpectraOptions()
    checkpoint = source if isinstance(source, Checkpoint) else read_checkpoint(source)
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
    n_weights = sum(layer.tensor.size for layer in layers.layers)
    return SpectraReport(
        Source(checkpoint.name, checkpoint.format, checkpoint.sha256, checkpoint.size, dict(checkpoint.parts)),
        options,
        {name: version(name) for name in PACKAGES},
        model_metrics(spectra, n_skipped=len(skipped), n_weights=n_weights),
        tuple(spectra),
        tuple(skipped),
        layers.skipped,
        tuple(densities),
    )
