"""Capacity metrics of one spectrum, with measures of how far to trust them: one row of a report.

α and α log λ_max follow paper 3, Eqs 1 and 3. Norms, ranks and entropy come from :mod:`capcore.spectra.norms`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from capcore.results.notebook import Record
from capcore.spectra.alternatives import compare_tails
from capcore.spectra.densities import Density
from capcore.spectra.exponents import usable
from capcore.spectra.inference import bootstrap_power_law, goodness_of_fit
from capcore.spectra.noise import fit_bulk, layer_generator
from capcore.spectra.norms import log_alpha_norm, spectrum_norms
from capcore.spectra.options import SpectraOptions
from capcore.spectra.power_law import PowerLawFit, fit_power_law, fit_power_laws

NAN = float("nan")


@dataclass(frozen=True, repr=False, kw_only=True)
class SpectrumMetrics(Record):
    """Metrics of a layer, or of one of its slices. A missing number is NaN, or None if it is a count.

    Attributes
    ----------
    name, layer, kind : str
        As in :class:`~capcore.spectra.densities.Density`.
    tap : tuple of int or None
        Likewise.
    rows, columns : int
        Shape of each matrix.
    n_matrices, n, n_zeros : int
        Number of pooled matrices, of eigenvalues, and of eigenvalues that are exactly zero.
    status, reason : str
        ``ok``, or ``failed`` if no power law could be fitted, with the reason.
    alpha, sigma, x_min, distance : float
        From the :class:`~capcore.spectra.power_law.PowerLawFit`.
    n_tail : int
        Likewise.
    alpha_low, alpha_high : float
        Ends of the bootstrap interval.
    p_value : float
        p-value of the goodness-of-fit test.
    alpha_hat : float
        α log₁₀ λ_max, the summand of paper 3, Eq. 3.
    log_alpha_norm : float
        log₁₀ Σ λ^α.
    lambda_max, log_spectral, log_frobenius, stable_rank, log_stable_rank, entropy : float
        From :class:`~capcore.spectra.norms.Norms`.
    rank : int
        Likewise.
    bulk_edge, soft_rank : float
        Upper end and soft rank of the :class:`~capcore.spectra.noise.BulkFit`, if there is one.
    n_spikes : int or None
        Likewise.
    favoured : str
        What the comparison with the likeliest of the other laws favours: ``power law``, the name of that other law, or
        ``neither`` (:func:`~capcore.spectra.alternatives.compare_tails`).
    null_low, null_median, null_high : float
        Smallest, median and largest α among the draws of the null.
    n_null : int or None
        Number of draws that had an exponent.
    null_p_value : float
        Two-sided p-value of α among the draws (:func:`~capcore.spectra.nulls.null_p_value`).
    null_drawn : str
        How the null was drawn (:class:`~capcore.spectra.nulls.Chance`).
    traps, traps_low, traps_high : float
        Median, smallest and largest number of eigenvalues of shuffled weights above the bulk of noise.
    change : float
        Relative change ‖W − W₀‖/‖W₀‖ (Frobenius) from a base.
    tpl_alpha, tpl_rate : float
        Exponent and rate of the truncated power law, fitted to the same tail.
    """

    name: str
    layer: str
    kind: str
    tap: tuple[int, ...] | None
    rows: int
    columns: int
    n_matrices: int
    n: int
    n_zeros: int
    status: str
    reason: str
    alpha: float
    sigma: float
    alpha_low: float = NAN
    alpha_high: float = NAN
    x_min: float
    distance: float
    n_tail: int
    p_value: float = NAN
    alpha_hat: float
    log_alpha_norm: float
    lambda_max: float
    log_spectral: float
    log_frobenius: float
    stable_rank: float
    log_stable_rank: float
    entropy: float
    rank: int
    bulk_edge: float = NAN
    soft_rank: float = NAN
    n_spikes: int | None = None
    favoured: str = ""
    null_low: float = NAN
    null_median: float = NAN
    null_high: float = NAN
    n_null: int | None = None
    null_p_value: float = NAN
    null_drawn: str = ""
    traps: float = NAN
    traps_low: float = NAN
    traps_high: float = NAN
    change: float = NAN
    tpl_alpha: float = NAN
    tpl_rate: float = NAN

    @property
    def ok(self) -> bool:
        """Whether the spectrum has an exponent."""
        return self.status == "ok"


def layer_metrics(densities: Sequence[Density], options: SpectraOptions) -> list[SpectrumMetrics]:
    """Compute one :class:`~capcore.spectra.metrics.SpectrumMetrics` per density, without what the null adds."""
    fits = fit_tails([density.eigenvalues for density in densities], options)
    return [_metrics(density, fit, options) for density, fit in zip(densities, fits, strict=True)]


def fit_tails(spectra: Sequence[np.ndarray], options: SpectraOptions) -> list[PowerLawFit]:
    """Fit power laws to spectra, choosing the tails as the options say."""
    if options.tail_share is None:
        return fit_power_laws(spectra, min_tail=options.min_tail)
    return [fit_power_law(values, x_min=_share_end(values, options), min_tail=options.min_tail) for values in spectra]


def _share_end(eigenvalues: np.ndarray, options: SpectraOptions) -> float | None:
    """The eigenvalue at which the tail share begins, or None if no eigenvalue is positive."""
    values = usable(eigenvalues).values
    return float(values[-math.ceil((options.tail_share or 1.0) * len(values))]) if len(values) else None


def _metrics(density: Density, fit: PowerLawFit, options: SpectraOptions) -> SpectrumMetrics:
    values = density.eigenvalues
    norms = spectrum_norms(values)
    return SpectrumMetrics(
        **{name: getattr(density, name) for name in ("name", "layer", "kind", "tap", "n_matrices", "n_zeros")},
        **{name: getattr(fit, name) for name in ("status", "reason", "alpha", "sigma", "distance", "n_tail")},
        **vars(norms),
        rows=density.shape[0],
        columns=density.shape[1],
        n=len(values),
        x_min=fit.x_min if fit.ok else NAN,
        alpha_hat=fit.alpha * norms.log_spectral,
        log_alpha_norm=log_alpha_norm(values, fit.alpha),
        **_bulk(density),
        **(_trust(density, fit, options) if fit.ok else {}),
    )


def _trust(density: Density, fit: PowerLawFit, options: SpectraOptions) -> dict[str, Any]:
    """Compute the bootstrap interval, the p-value and the comparison with other laws that the options ask for."""
    values = density.eigenvalues
    tail: dict[str, Any] = {"x_min": fit.x_min if options.tail_share else None, "min_tail": options.min_tail}
    trust: dict[str, Any] = {}
    if options.n_resamples and len(values) <= (options.longest or len(values)):
        rng = layer_generator(options.seed, density.name, "bootstrap")
        interval = bootstrap_power_law(values, rng, n_resamples=options.n_resamples, **tail)
        trust |= {"alpha_low": interval.low, "alpha_high": interval.high}
    if options.n_simulations:
        rng = layer_generator(options.seed, density.name, "goodness of fit")
        trust["p_value"] = goodness_of_fit(values, rng, n_simulations=options.n_simulations, **tail).p_value
    if options.alternatives:
        tests = compare_tails(values, fit, alternatives=options.alternatives)
        trust["favoured"] = min(tests, key=lambda test: test.ratio).favours
    if options.truncated:
        (test,) = compare_tails(values, fit, alternatives=["truncated power law"])
        trust |= {f"tpl_{name}": value for name, value in test.model.parameters.items()}
    return trust


def _bulk(density: Density) -> dict[str, Any]:
    """Fit the bulk of noise, if it can be fitted."""
    try:
        fit = fit_bulk(density.eigenvalues, density.shape, divisor=density.divided_by)
    except ValueError:  # too few eigenvalues or too many zeros
        return {}
    return {"bulk_edge": fit.upper, "soft_rank": fit.soft_rank, "n_spikes": fit.n_spikes}


def ends(values: np.ndarray) -> tuple[float, float, float]:
    """Smallest, median and largest of the values (n,), or NaN if there are none."""
    return (float(values.min()), float(np.median(values)), float(values.max())) if len(values) else (NAN, NAN, NAN)
