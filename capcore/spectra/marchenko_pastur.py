"""The law of Marchenko and Pastur: where the eigenvalues of noise lie.

W has N rows and M ≤ N columns of independent entries of variance σ². The eigenvalues of X = WᵀW/N then lie between
λ± = σ²(1 ± √(M/N))², with density N/M·√((λ₊ − λ)(λ − λ₋))/(2πσ²λ) as both grow at a fixed ratio (Marchenko and
Pastur 1967).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from capcore.validation import finite_number


def bulk_edges(ratio: float, sigma: float = 1.0) -> tuple[float, float]:
    """(λ₋, λ₊) for M/N = ``ratio``, at most one.

    >>> bulk_edges(0.25)
    (0.25, 2.25)
    """
    ratio = _ratio(ratio)
    return float(sigma**2 * (1 - np.sqrt(ratio)) ** 2), float(sigma**2 * (1 + np.sqrt(ratio)) ** 2)


def bulk_density(values: np.ndarray, ratio: float, sigma: float = 1.0) -> np.ndarray:
    """Density of the law at ``values``, of the same shape; zero outside of the bulk.

    Raises ``ValueError`` for a ``sigma`` whose fourth power is no normal number.
    """
    if sigma and not 1e-75 < abs(sigma) < 1e75:
        raise ValueError(f"sigma: found {sigma:g}, expected 1e-75 to 1e75: products would leave double precision.")
    lower, upper = bulk_edges(ratio, sigma)
    values = np.asarray(values, float)
    inside = (values > lower) & (values < upper)
    x = np.where(inside, values, upper)
    return np.where(inside, np.sqrt((upper - x) * (x - lower)) / (2 * np.pi * ratio * sigma**2 * x), 0.0)


def bulk_distribution(values: np.ndarray, ratio: float, sigma: float = 1.0) -> np.ndarray:
    """Probability of the law up to ``values``, of the same shape, in closed form.

    With λ = σ²(1 + c + 2√c cos φ), c the ratio, the density becomes 2 sin²φ/(π(1 + c + 2√c cos φ)), whose integral is
    elementary.

    >>> bulk_distribution(np.array([1.0, 2.25]), 0.25).round(6).tolist()
    [0.55339, 1.0]
    """
    c = _ratio(ratio)
    x = np.asarray(values, float) / finite_number(sigma, "sigma") ** 2
    phi = np.arccos(np.clip((x - 1 - c) / (2 * np.sqrt(c)), -1, 1))
    half = 2 * np.arctan2((1 - np.sqrt(c)) * np.sin(phi / 2), (1 + np.sqrt(c)) * np.cos(phi / 2))
    return 1 + (np.sqrt(c) * np.sin(phi) - (1 + c) / 2 * phi + (1 - c) / 2 * half) / (np.pi * c)


def _ratio(value: float) -> float:
    if not 0 < finite_number(value, "ratio") <= 1:
        raise ValueError(f"ratio: found {value!r}, expected M/N above zero and at most one.")
    return float(value)


@lru_cache(maxsize=64)
def _table(ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """Distribution of the law of unit variance on a grid that is dense at its ends."""
    phi = np.linspace(np.pi, 0, 4001)
    values = 1 + ratio + 2 * np.sqrt(ratio) * np.cos(phi)
    return bulk_distribution(values, ratio), values


def bulk_quantiles(probabilities: np.ndarray, ratio: float, sigma: float = 1.0) -> np.ndarray:
    """Values up to which the law has these probabilities, of the same shape, to six digits.

    >>> bulk_quantiles(np.array([0.0, 1.0]), 0.25).round(9).tolist()
    [0.25, 2.25]
    """
    cumulated, values = _table(_ratio(ratio))
    return sigma**2 * np.interp(probabilities, cumulated, values)
