"""The error of a linear one-step prediction, by routes that do not use its quadratic form (paper 1, App. B.1–B.2).

They check :meth:`~capcore.processes.Process.predictor` and Eq. 33 independently: by dense linear algebra and by
sampling the process.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve, toeplitz

from capcore.processes import AutoRegressive, Process
from capcore.validation import finite_array, positive_integer


class SampledError(NamedTuple):
    """A sampled mean squared error: its mean, its standard error, and the number of samples behind it."""

    mean: float
    standard_error: float
    n_samples: int


def dense_predictor(process: Process, n: int) -> tuple[np.ndarray, float]:
    """A* (n,) and v* of order n by dense algebra: a Cholesky factor in place of Levinson's recursion.

    A* solves ΣA = (c_1, …, c_n), and v* is the ratio of determinants det Σ_{n+1} / det Σ_n, which is the square
    of the last diagonal entry of the Cholesky factor.

    >>> from capcore.processes import AR1
    >>> target, variance = dense_predictor(AR1(phi=0.5), 2)
    >>> target.round(12).tolist(), round(variance, 12)
    ([0.5, 0.0], 0.75)
    """
    c = process.autocovariance(positive_integer(n, "n") + 1)
    factor = cholesky(toeplitz(c), lower=True)
    return solve(toeplitz(c[:-1]), c[1:], assume_a="pos"), float(factor[-1, -1] ** 2)


class PredictionGaps(NamedTuple):
    """How far A* and v* are from what defines them; see :func:`prediction_gaps`."""

    residual: float
    variance_gap: float
    round_trip: float


def prediction_gaps(process: Process, n: int) -> PredictionGaps:
    """Three checks of the predictor of order n against Eq. 31, each zero but for rounding.

    Returns
    -------
    residual : ‖ΣA* − (c_1, …, c_n)‖ / ‖(c_1, …, c_n)‖.
    variance_gap : relative difference of v* from det Σ_{n+1} / det Σ_n.
    round_trip : largest difference, lags 0 … n, of the autocovariance rebuilt from (A*, v*).

    >>> from capcore.processes import PowerLaw
    >>> max(prediction_gaps(PowerLaw(), 8)) < 1e-12
    True
    """
    c = process.autocovariance(n + 1)
    target, variance = process.predictor(n)
    rebuilt = AutoRegressive(target, variance).autocovariance(n + 1)
    return PredictionGaps(
        residual=float(np.linalg.norm(process.covariance(n) @ target - c[1:]) / (np.linalg.norm(c[1:]) or 1.0)),
        variance_gap=abs(variance / dense_predictor(process, n)[1] - 1),
        round_trip=float(np.abs(rebuilt - c).max()),
    )


def error_variance(coefficients: object, process: Process) -> float:
    """Variance of y_{t+1} − A·(y_t, y_{t−1}, …): the covariance of n + 1 samples taken twice with (1, −A).

    Parameters
    ----------
    coefficients : (n,) A, lag 0 (the most recent sample) first.

    >>> from capcore.processes import AR1
    >>> round(error_variance([0.0], AR1(phi=0.5)), 12)
    1.0
    """
    a = finite_array(coefficients, "coefficients", 1)
    weights = np.concatenate([[1.0], -a])
    return float(weights @ toeplitz(process.autocovariance(a.size + 1)) @ weights)


def sampled_error(coefficients: object, process: Process, n_samples: int, rng: np.random.Generator) -> SampledError:
    """Mean squared error of the prediction over independent windows of the process, with its standard error.

    Parameters
    ----------
    coefficients : (n,) A, lag 0 first. n_samples : number of windows of n + 1 samples, at least 2.

    >>> from capcore.processes import AR1
    >>> sampled_error([0.5], AR1(phi=0.5), 10_000, np.random.default_rng(0)).n_samples
    10000
    """
    a = finite_array(coefficients, "coefficients", 1)
    n_samples = positive_integer(n_samples, "n_samples", 2)
    factor = cholesky(process.covariance(a.size + 1), lower=True)
    squares = np.empty(n_samples)
    for start in range(0, n_samples, 10_000):  # in blocks, so that memory stays small
        block = squares[start : start + 10_000]
        windows = rng.normal(size=(block.size, a.size + 1)) @ factor.T  # column 0 is the sample to predict
        block[:] = np.square(windows[:, 0] - windows[:, 1:] @ a)
    return SampledError(float(squares.mean()), float(squares.std(ddof=1) / np.sqrt(n_samples)), n_samples)
