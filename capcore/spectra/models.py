"""From spectra to one number per network: means, and sums as paper 3 prints them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from capcore.spectra.metrics import SpectrumMetrics

RANGE = (2.0, 5.0)
"""The exponents that paper 3 calls universal."""


@dataclass(frozen=True)
class ModelMetrics:
    """Metrics of a network. What failed is counted, and is in no mean and in no sum; NaN where nothing is left.

    Logarithms are to base 10. With ``slices``, the paper's arrangement, a spectrum is a slice of a convolution, and
    sums run over all slices of all layers, as its method says.

    Attributes
    ----------
    n_layers : with at least one spectrum. n_weights : of the layers found, also of those without a spectrum.
    n_spectra : slices and layers. n_fitted : of them with an exponent. n_failed : without. n_skipped : layers and
        slices without a spectrum.
    mean_alpha : over the fitted spectra. layer_mean_alpha : over layers of the means over their spectra, so that a
        convolution weighs as much as a linear layer. share_in_range : of exponents within [2, 5].
    mean_alpha_hat : mean of α log λ_max over fitted spectra, as WeightWatcher means it. sum_alpha_hat : the sum,
        Eq. 3. layer_mean_alpha_hat : the sum divided by the number of layers that have an exponent, as the average in
        the equation after Eq. 5.
    log_product_frobenius : Σ log ‖W‖²_F over spectra, Eq. 5 (of squared norms).
    log_product_spectral : Σ log λ_max over spectra, likewise.
    mean_log_frobenius, mean_log_spectral : the means. mean_log_alpha_norm : of log Σ λ^α, over fitted spectra.
    mean_stable_rank, mean_entropy : over spectra. mean_soft_rank : over those with a bulk. mean_distance : over fitted
        spectra.
    """

    n_layers: int
    n_weights: int
    n_spectra: int
    n_fitted: int
    n_failed: int
    n_skipped: int
    mean_alpha: float
    layer_mean_alpha: float
    share_in_range: float
    mean_alpha_hat: float
    sum_alpha_hat: float
    layer_mean_alpha_hat: float
    log_product_frobenius: float
    log_product_spectral: float
    mean_log_frobenius: float
    mean_log_spectral: float
    mean_log_alpha_norm: float
    mean_stable_rank: float
    mean_entropy: float
    mean_soft_rank: float
    mean_distance: float


def model_metrics(spectra: Sequence[SpectrumMetrics], *, n_skipped: int = 0, n_weights: int = 0) -> ModelMetrics:
    """The :class:`~capcore.spectra.models.ModelMetrics` of a network's spectra.

    >>> model_metrics([], n_skipped=2).n_skipped
    2
    """
    fitted = [row for row in spectra if row.ok]
    alphas, alpha_hats = _values(fitted, "alpha"), _values(fitted, "alpha_hat")
    inside = (alphas >= RANGE[0]) & (alphas <= RANGE[1])
    by_layer = [np.mean([row.alpha for row in fitted if row.layer == name]) for name in _layers(fitted)]
    frobenius, spectral = _values(spectra, "log_frobenius"), _values(spectra, "log_spectral")
    soft = _values(spectra, "soft_rank")
    return ModelMetrics(
        n_layers=len(_layers(spectra)),
        n_weights=n_weights,
        n_spectra=len(spectra),
        n_fitted=len(fitted),
        n_failed=len(spectra) - len(fitted),
        n_skipped=n_skipped,
        mean_alpha=_mean(alphas),
        layer_mean_alpha=_mean(np.array(by_layer)),
        share_in_range=_mean(inside),
        mean_alpha_hat=_mean(alpha_hats),
        sum_alpha_hat=_sum(alpha_hats),
        layer_mean_alpha_hat=_sum(alpha_hats) / max(len(by_layer), 1),
        log_product_frobenius=_sum(frobenius),
        log_product_spectral=_sum(spectral),
        mean_log_frobenius=_mean(frobenius),
        mean_log_spectral=_mean(spectral),
        mean_log_alpha_norm=_mean(_values(fitted, "log_alpha_norm")),
        mean_stable_rank=_mean(_values(spectra, "stable_rank")),
        mean_entropy=_mean(_values(spectra, "entropy")),
        mean_soft_rank=_mean(soft[np.isfinite(soft)]),
        mean_distance=_mean(_values(fitted, "distance")),
    )


def _layers(spectra: Sequence[SpectrumMetrics]) -> list[str]:
    return list(dict.fromkeys(row.layer for row in spectra))


def _values(spectra: Sequence[SpectrumMetrics], name: str) -> np.ndarray:
    return np.array([getattr(row, name) for row in spectra], dtype=float)


def _or_nan(function: Callable[[np.ndarray], np.floating]) -> Callable[[np.ndarray], float]:
    return lambda values: float(function(values)) if len(values) else float("nan")


_mean, _sum = _or_nan(np.mean), _or_nan(np.sum)
