"""From spectra to the metrics of a network: means over spectra, and the sums of paper 3 as printed (Eqs 3 and 5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from capcore.results.notebook import Record
from capcore.spectra.metrics import SpectrumMetrics

RANGE = (2.0, 5.0)
"""Range of exponents that paper 3 calls universal."""


@dataclass(frozen=True, repr=False)
class ModelMetrics(Record):
    """Metrics of a network. Failed fits are counted, but enter no mean or sum that needs them; empty ones are NaN.

    Logarithms are to base 10. With ``slices``, the arrangement of paper 3, each slice of a convolution is a spectrum,
    and sums run over all slices of all layers, as in the paper's method.

    Attributes
    ----------
    n_layers : int
        Number of layers with at least one spectrum.
    n_weights : int
        Number of weights in all layers found, including those without a spectrum.
    n_spectra, n_fitted, n_failed : int
        Number of spectra (slices or layers), and how many of them have an exponent or lack one.
    n_skipped : int
        Number of layers and slices without a spectrum.
    mean_alpha : float
        Mean exponent over fitted spectra.
    sum_alpha_hat : float
        α̂ = Σ α log λ_max over fitted spectra (paper 3, Eq. 3).
    mean_alpha_hat : float
        Mean of these terms, as in WeightWatcher.
    log_product_frobenius, log_product_spectral : float
        Σ log ‖W‖²_F and Σ log λ_max over spectra: paper 3, Eq. 5, for squared norms.
    mean_log_frobenius, mean_log_spectral : float
        Means of the same terms.
    mean_log_alpha_norm, mean_distance : float
        Means of log Σ λ^α and of the Kolmogorov–Smirnov distance over fitted spectra.
    mean_stable_rank, mean_entropy : float
        Means over spectra.
    mean_soft_rank : float
        Mean over spectra to which a bulk could be fitted.
    """

    n_layers: int
    n_weights: int
    n_spectra: int
    n_fitted: int
    n_failed: int
    n_skipped: int
    mean_alpha: float
    mean_alpha_hat: float
    sum_alpha_hat: float
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
    """Compute the :class:`~capcore.spectra.models.ModelMetrics` of a network from its spectra.

    Parameters
    ----------
    spectra : sequence of SpectrumMetrics
        Spectra of all its layers.
    n_skipped, n_weights : int
        Copied into the result.

    Examples
    --------
    >>> model_metrics([], n_skipped=2).n_skipped
    2
    """
    fitted = [row for row in spectra if row.ok]
    means = {name: _mean(spectra, name) for name in ("log_frobenius", "log_spectral", "stable_rank", "entropy")}
    means |= {name: _mean(fitted, name) for name in ("alpha", "alpha_hat", "log_alpha_norm", "distance")}
    means["soft_rank"] = _mean([row for row in spectra if math.isfinite(row.soft_rank)], "soft_rank")
    return ModelMetrics(
        n_layers=len({row.layer for row in spectra}),
        n_weights=n_weights,
        n_spectra=len(spectra),
        n_fitted=len(fitted),
        n_failed=len(spectra) - len(fitted),
        n_skipped=n_skipped,
        sum_alpha_hat=len(fitted) * means["alpha_hat"],
        log_product_frobenius=len(spectra) * means["log_frobenius"],
        log_product_spectral=len(spectra) * means["log_spectral"],
        **{f"mean_{name}": mean for name, mean in means.items()},
    )


def _mean(spectra: Sequence[SpectrumMetrics], name: str) -> float:
    values = [getattr(row, name) for row in spectra]
    return float(np.mean(values)) if values else math.nan
