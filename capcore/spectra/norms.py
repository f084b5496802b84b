"""Norms, ranks and entropy of one spectrum: the capacity metrics that came before exponents (paper 3, Eqs 5 and 6)."""

import math
from dataclasses import dataclass

import numpy as np

from capcore.checks.arguments import finite_number
from capcore.results.notebook import Record
from capcore.spectra.exponents import Usable, usable


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


def spectrum_norms(eigenvalues: object) -> Norms:
    """Compute the :class:`~capcore.spectra.norms.Norms` of a spectrum.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The eigenvalues, non-negative and in any order.

    Raises
    ------
    ValueError
        If no eigenvalue is positive.

    Examples
    --------
    >>> norms = spectrum_norms([100.0, 100.0, 0.0])
    >>> norms.stable_rank, norms.rank, round(norms.log_stable_rank, 2), round(norms.entropy, 6)
    (2.0, 2, 1.15, 1.0)
    """
    logs, values = _positive(eigenvalues)
    log_sum, rank = float(np.logaddexp.reduce(logs)), len(logs)
    log_spectral, log_frobenius = (float(log / np.log(10)) for log in (logs[-1], log_sum))
    share = np.exp(logs - log_sum)
    return Norms(
        lambda_max=float(values[-1]),
        log_spectral=log_spectral,
        log_frobenius=log_frobenius,
        stable_rank=float(np.exp(logs - logs[-1]).sum()),
        log_stable_rank=log_frobenius / log_spectral if log_spectral else math.nan,
        entropy=float(-(share * np.log(share)).sum() / np.log(rank)) if rank > 1 else 0.0,
        rank=rank,
    )


def log_alpha_norm(eigenvalues: object, alpha: float) -> float:
    """Logarithm of the α-norm, log₁₀ Σ λ^α. It is NaN if α is NaN, as after a failed fit.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The eigenvalues, non-negative and in any order.
    alpha : float
        The exponent.

    Examples
    --------
    >>> round(log_alpha_norm([10.0, 10.0], 3.0), 3)
    3.301
    """
    if isinstance(alpha, float) and math.isnan(alpha):
        return math.nan
    return float(np.logaddexp.reduce(finite_number(alpha, "alpha") * _positive(eigenvalues).logs) / np.log(10))


def _positive(eigenvalues: object) -> Usable:
    positive = usable(eigenvalues)
    if not len(positive.values):
        raise ValueError("eigenvalues: found none above zero, expected a matrix that is not zero.")
    return positive
