"""Norms, ranks and entropy of one spectrum: the capacity metrics that came before exponents (paper 3, Eqs 5 and 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.checks.arguments import finite_number, plain_number, real
from capcore.results.notebook import Record
from capcore.spectra.exponents import usable


@dataclass(frozen=True, repr=False)
class Norms(Record):
    """Metrics of a spectrum that need no fit. Logarithms are to base 10, and norms include W's scaling and division.

    Attributes
    ----------
    lambda_max : float
        Largest eigenvalue, which is the squared spectral norm.
    log_spectral : float
        Logarithm of ``lambda_max``.
    log_frobenius : float
        Logarithm of Σλ = ‖W‖²_F.
    stable_rank : float
        Σλ/λ_max, at least one and at most the rank.
    log_stable_rank : float
        log Σλ / log λ_max (paper 3, Eq. 6). Unlike the stable rank, it depends on the units of the weights. It diverges
        as λ_max approaches one, is NaN at exactly one, and is negative if one lies between λ_max and Σλ.
    entropy : float
        −Σ p ln p / ln(rank) with p = λ/Σλ: one if all eigenvalues are equal, zero if there is only one.
    rank : int
        Number of eigenvalues above rounding error.
    """

    lambda_max: float
    log_spectral: float
    log_frobenius: float
    stable_rank: float
    log_stable_rank: float
    entropy: float
    rank: int


def spectrum_norms(eigenvalues: object, *, threshold: float | None = None) -> Norms:
    """Compute the :class:`~capcore.spectra.norms.Norms` of a spectrum.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The eigenvalues, non-negative and in any order.
    threshold : float, optional
        Eigenvalues up to this value count as zero; see :func:`~capcore.spectra.exponents.usable`.

    Raises
    ------
    ValueError
        If no eigenvalue is positive.

    Examples
    --------
    >>> found = spectrum_norms([100.0, 100.0, 0.0])
    >>> found.stable_rank, found.rank, round(found.log_stable_rank, 2), round(found.entropy, 6)
    (2.0, 2, 1.15, 1.0)
    """
    part = usable(eigenvalues, threshold)
    if not len(part.values):
        raise ValueError("eigenvalues: found none above zero, expected a matrix that is not zero.")
    largest, rank = float(part.values[-1]), len(part.values)
    log_spectral = float(part.logs[-1] / np.log(10))
    log_sum = float(np.logaddexp.reduce(part.logs))
    log_frobenius = log_sum / float(np.log(10))
    share = np.exp(part.logs - log_sum)
    entropy = float(-(share * np.log(share)).sum() / np.log(rank)) if rank > 1 else 0.0
    ratio = log_frobenius / log_spectral if log_spectral else np.nan
    return Norms(
        largest,
        log_spectral,
        log_frobenius,
        float(np.exp(part.logs - part.logs[-1]).sum()),
        float(ratio),
        entropy,
        rank,
    )


def log_alpha_norm(eigenvalues: object, alpha: float, *, threshold: float | None = None) -> float:
    """Logarithm of the α-norm, log₁₀ Σ λ^α. It is NaN if α is NaN, as after a failed fit.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The eigenvalues, non-negative and in any order.
    alpha : float
        The exponent.
    threshold : float, optional
        Eigenvalues up to this value count as zero.

    Examples
    --------
    >>> round(log_alpha_norm([10.0, 10.0], 3.0), 3)
    3.301
    """
    alpha = plain_number(alpha, "alpha")
    real(alpha, "alpha")
    if np.isnan(alpha):
        return float("nan")
    part = usable(eigenvalues, threshold)
    if not len(part.values):
        raise ValueError("eigenvalues: found none above zero, expected a matrix that is not zero.")
    return float(np.logaddexp.reduce(finite_number(alpha, "alpha") * part.logs)) / float(np.log(10))
