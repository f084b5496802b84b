"""Products with the covariance of a stationary process, by FFT, for one or several components per position."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from capcore.optimum import Problem
from capcore.processes import DENSE_LIMIT, Process
from capcore.validation import finite_array

Product = Callable[[np.ndarray], np.ndarray]


def covariance_product(process: Process | Problem, n_inputs: int, input_dim: int = 1) -> Product:
    """The function X ↦ Σ X for X (n_inputs · input_dim, m), position-major.

    A stationary process has a block Toeplitz Σ, which is applied by FFT and never formed; a
    :class:`~capcore.optimum.Problem` has its own dense Σ. Raises ``TypeError`` for something else, ``ValueError`` for
    dimensions that do not fit and where the covariance of the first 1,024 lags is not positive definite. Longer
    ones are not looked at: a numerically singular Σ shows as a rank below the generic one.

    >>> from capcore.processes import AR1
    >>> covariance_product(AR1(0.5), 2)(np.eye(2)).round(12).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    rows = n_inputs * input_dim
    if isinstance(process, Problem):
        matrix = finite_array(process.covariance, "covariance", 2)
        if matrix.shape != (rows, rows):
            raise ValueError(f"covariance: found a matrix of shape {matrix.shape}, expected {(rows, rows)}.")
        return matrix.__matmul__
    if not isinstance(process, Process):
        raise TypeError(f"process: found {type(process).__name__}, expected a Process, such as PowerLaw(0.5).")
    if process.input_dim != input_dim:
        raise ValueError(
            f"process: found {process.input_dim} component(s) per position, expected {input_dim} as in the model."
        )
    process.covariance(min(n_inputs, DENSE_LIMIT // input_dim or 1))  # refuses what is no covariance
    blocks = process.autocovariance(n_inputs).reshape(n_inputs, input_dim, input_dim)
    size = next_fast_len(max(2 * n_inputs - 1, 1), real=True)
    circulant = np.zeros((size, input_dim, input_dim))
    circulant[:n_inputs] = blocks
    circulant[size - n_inputs + 1 :] = blocks[:0:-1]
    spectrum = rfft(circulant, axis=0).real  # symmetric in time, so real

    def product(x: np.ndarray) -> np.ndarray:
        transform = rfft(x.reshape(n_inputs, -1), n=size, axis=0).reshape(len(spectrum), input_dim, -1)
        scaled = spectrum * transform if input_dim == 1 else spectrum @ transform
        return irfft(scaled.reshape(len(spectrum), -1), n=size, axis=0)[:n_inputs].reshape(x.shape)

    return product
