"""Moments of features estimated from samples: the second route to what Mehler's formula gives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky

from capcore.feature_process import FeatureProcess
from capcore.validation import positive_integer


class SampledMoments(NamedTuple):
    """An estimate and its standard error, entry by entry; each (n·d, n·d)."""

    mean: np.ndarray
    standard_error: np.ndarray


def sampled_covariance(
    process: FeatureProcess, n: int, n_samples: int = 100_000, rng: np.random.Generator | int | None = None
) -> SampledMoments:
    """Σ_φ as the mean over independent samples of n successive values: the second route to it.

    Parameters
    ----------
    n_samples : at least 2. rng : a ``numpy.random.Generator`` or a seed; default: seed 0.

    >>> from capcore import AR1, Hermite
    >>> sampled_covariance(FeatureProcess(AR1(), Hermite(2)), 3, n_samples=100).mean.shape
    (6, 6)
    """
    rng = np.random.default_rng(0 if rng is None else rng)
    n_samples = positive_integer(n_samples, "n_samples", 2)
    sigma = process.process.covariance(n)
    root = cholesky(sigma / sigma[0, 0], lower=True)
    size = n * process.input_dim
    first, second = np.zeros((size, size)), np.zeros((size, size))
    for start in range(0, n_samples, 10_000):
        y = rng.normal(size=(min(10_000, n_samples - start), n)) @ root.T
        phi = process.features(y).reshape(len(y), size)
        first += phi.T @ phi
        second += np.square(phi).T @ np.square(phi)
    mean = first / n_samples
    return SampledMoments(mean, np.sqrt((second / n_samples - np.square(mean)) / (n_samples - 1)))
