"""The table of all layers that WeightWatcher 0.7.7 calls ``details``, and the averages that it calls ``summary``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from capcore.spectra.tensors import Checkpoint
from capcore.spectra.weightwatcher.matrices import LayerMatrices, layer_matrices, singular_values
from capcore.spectra.weightwatcher.noise import fit_noise
from capcore.spectra.weightwatcher.tail import WeightWatcherFit, fits_as_weightwatcher

if TYPE_CHECKING:
    import pandas

AVERAGED = ("log_norm", "alpha", "alpha_weighted", "log_alpha_norm", "log_spectral_norm", "stable_rank", "mp_softrank")
WEAK = 1e-6
EPSILON = 1e-10


def weightwatcher_details(
    checkpoint: Checkpoint | Mapping[str, np.ndarray], *, pool: bool = True, mp_fit: bool = False
) -> pandas.DataFrame:
    """One row per layer, as ``WeightWatcher.analyze(pool=…, mp_fit=…)`` of a state dict reports it, under its column
    names.

    Parameters
    ----------
    checkpoint : of :func:`~capcore.spectra.checkpoints.read_checkpoint`, or weights by name; as in the tool, names
        that do not end in ``.weight`` are no layers. pool : fit all slices of a convolution together, or (the paper's
        way) each alone, in a row of its own with a ``slice_id``. mp_fit : also its Marchenko–Pastur fit, with
        ``mp_softrank``.

    Needs pandas.

    >>> weights = {"fc.weight": np.random.default_rng(0).standard_normal((30, 20)), "fc.bias": np.zeros(30)}
    >>> weightwatcher_details(weights)[["longname", "N", "M", "num_evals", "status"]].values.tolist()
    [['fc', 30, 20, 20, 'success']]
    """
    import pandas as pd

    spectra = [entry for name, weights in _weights(checkpoint) for entry in _spectra(name, weights, pool)]
    fits = fits_as_weightwatcher([spectrum.evals for spectrum in spectra])
    return pd.DataFrame([{**each.head, **_metrics(each, fit, mp_fit)} for each, fit in zip(spectra, fits, strict=True)])


def weightwatcher_summary(details: pandas.DataFrame) -> dict[str, float]:
    """Means over layers, as ``WeightWatcher.get_summary`` gives them: failed layers count with α = −1, NaN is skipped.

    >>> weights = {"fc.weight": np.random.default_rng(0).standard_normal((30, 20))}
    >>> sorted(weightwatcher_summary(weightwatcher_details(weights)))[:3]
    ['alpha', 'alpha_weighted', 'log_alpha_norm']
    """
    return {name: float(details[name].mean()) for name in AVERAGED if name in details}


def _weights(checkpoint: Checkpoint | Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    tensors: Mapping[str, Any] = checkpoint.tensors if isinstance(checkpoint, Checkpoint) else checkpoint
    for name, tensor in tensors.items():
        if name.endswith(".weight"):
            yield name.removesuffix(".weight"), tensor if isinstance(tensor, np.ndarray) else tensor.read()


@dataclass(frozen=True)
class _Spectrum:
    """A row's first columns; its layer; singular values (k, n) of k matrices; their squares (kn,), ascending."""

    head: dict[str, Any]
    layer: LayerMatrices
    values: np.ndarray
    evals: np.ndarray


def _spectra(name: str, weights: np.ndarray, pool: bool) -> Iterator[_Spectrum]:
    layer = layer_matrices(weights, pool=pool)
    if layer is None:
        return
    head = {"longname": name, "layer_type": layer.kind, "N": layer.N, "M": layer.M, "rf": layer.rf}
    values = singular_values(layer, pool)
    parts = [values] if pool else values[:, None, :]
    for i, part in enumerate(parts):
        slice_id = {} if pool else {"slice_id": i}
        yield _Spectrum({**head, "Q": layer.N / layer.M, **slice_id}, layer, part, np.sort(part**2, axis=None))


def _metrics(spectrum: _Spectrum, found: WeightWatcherFit, mp_fit: bool) -> dict[str, Any]:
    layer, values, evals = spectrum.layer, spectrum.values, spectrum.evals
    rank_tolerance = values.max(axis=1, keepdims=True) * layer.N * np.finfo(float).eps
    fit = vars(found)
    noise = vars(fit_noise(evals, layer.N, layer.M)) if mp_fit else {}
    roots = np.sqrt(evals)
    rank = np.count_nonzero(roots > roots.max() * layer.N * np.finfo(float).eps)
    norm, largest = float(np.sum(evals)), float(evals[-1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_largest = float(np.log10(largest))
        share = evals / np.float64(norm) + EPSILON
        return {
            "num_evals": len(evals),
            "sv_max": float(values.max()),
            "sv_min": float(values.min(axis=1).max()),
            "rank_loss": int(np.count_nonzero(values <= rank_tolerance)),
            "weak_rank_loss": int(np.count_nonzero(evals < WEAK)),
            "lambda_max": largest,
            **fit,
            **noise,
            "norm": norm,
            "log_norm": float(np.log10(norm)),
            "spectral_norm": largest,
            "log_spectral_norm": log_largest,
            "alpha_weighted": fit["alpha"] * log_largest,
            "log_alpha_norm": float(np.log10(np.sum(evals ** fit["alpha"]))),
            "stable_rank": float(np.float64(norm) / largest),
            "matrix_rank": int(rank),
            "entropy": float(-np.sum(share * np.log(share)) / np.log(rank + EPSILON)),
        }
