"""The normalisation of a power law with an exponential cut-off, ∫₁^∞ z^(−α) e^(−u(z−1)) dz, for any real α, and its
maximum likelihood.

SciPy has this integral, e^u E_α(u), for whole α only. With z = e^y it is the integral of exp(−(α−1) y − u(e^y − 1)),
whose exponent is concave in y: Gauss–Legendre nodes where the integrand matters give it, and the moments of y and z
that Newton's method needs, to near double precision.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(160)
_DEPTH = 45.0  # e-folds below the peak at which the integrand is nothing


def log_normalisation(alpha: float, u: float) -> float:
    """ln ∫₁^∞ z^(−α) e^(−u(z−1)) dz for u > 0 and real α.

    >>> from scipy.special import exp1
    >>> bool(abs(log_normalisation(1.0, 0.3) - np.log(np.exp(0.3) * exp1(0.3))) < 1e-13)
    True
    """
    return float(_moments(alpha, u)[0])


def fit_cutoff(gaps: np.ndarray, ratios: np.ndarray) -> tuple[float, float, float]:
    """α, u and the normalisation's logarithm that are most likely for ``ratios`` (n,) = exp(``gaps``) (n,); u = 0 for
    a pure power law.

    The negative log-likelihood is convex in (α, u). Where its slope at the pure power law points to u < 0, u is 0.
    """
    mean_gap, mean_excess = float(gaps.mean()), float((ratios - 1.0).mean())
    rate = 1.0 / mean_gap
    if rate > 1.0 and mean_excess >= 1.0 / (rate - 1.0) * (1 - 1e-12):
        return 1.0 + rate, 0.0, -np.log(rate)

    def loss(at: np.ndarray) -> tuple[float, np.ndarray]:
        u = np.exp(at[1])
        log_norm, (gap, excess), _ = _moments(at[0], u)
        value = log_norm + at[0] * mean_gap + u * mean_excess
        return value, np.array([mean_gap - gap, u * (mean_excess - excess)])

    def curvature(at: np.ndarray) -> np.ndarray:
        u = np.exp(at[1])
        _, (_, excess), covariance = _moments(at[0], u)
        result = covariance * np.outer([1.0, u], [1.0, u])
        result[1, 1] += u * (mean_excess - excess)
        return result

    start = np.array([0.5, np.log(max(0.5 / mean_excess, 1e-12))])
    found = minimize(
        loss, start, jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-11, "maxiter": 500}
    )
    alpha, u = float(found.x[0]), float(np.exp(found.x[1]))
    return alpha, u, log_normalisation(alpha, u)


def _moments(alpha: float, u: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Logarithm of the integral; means (2,) and covariance (2, 2) of y and z − 1 under the normalised integrand."""
    order = alpha - 1.0

    def exponent(y: np.ndarray | float) -> np.ndarray | float:
        return -order * y - u * np.expm1(y)

    peak = max(0.0, np.log(-order / u)) if order < 0 else 0.0
    top = float(exponent(peak))
    level = top - _DEPTH
    high = peak + 1.0
    while exponent(high) > level:
        high = peak + 2.0 * (high - peak)
    high = brentq(lambda y: float(exponent(y)) - level, peak, high)
    low = brentq(lambda y: float(exponent(y)) - level, 0.0, peak) if peak and exponent(0.0) < level else 0.0
    half = (high - low) / 2
    y = low + half * (_NODES + 1.0)
    weights = half * _WEIGHTS * np.exp(exponent(y) - top)
    total = weights.sum()
    both = np.stack([y, np.expm1(y)])
    mean = both @ weights / total
    centred = both - mean[:, None]
    return top + float(np.log(total)), mean, (centred * weights) @ centred.T / total
