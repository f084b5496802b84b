"""Products with the covariance of a stationary process by the fast Fourier transform."""

import numpy as np

from capcore.architectures.base import Product
from capcore.large.quadratic import circulant_symbol, toeplitz_product
from capcore.processes import DENSE_LIMIT, Process
from capcore.processes.kernels import as_task, check_process
from capcore.processes.problem import Problem


def covariance_product(task: Process | Problem, n_inputs: int, input_dim: int = 1) -> Product:
    """The function X ↦ Σ X for X (n_inputs · input_dim, m), position-major.

    A stationary process has a block Toeplitz Σ, which is applied by FFT and never formed; a
    :class:`~capcore.processes.problem.Problem` has its own dense Σ. Raises ``TypeError`` for anything else, and
    ``ValueError`` if dimensions do not fit or the covariance of the first 1,024 lags is not positive definite. Longer
    covariances are not checked: if Σ is numerically singular, the rank falls below the generic one.

    >>> from capcore.processes import AR1
    >>> covariance_product(AR1(0.5), 2)(np.eye(2)).round(12).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    rows = n_inputs * input_dim
    task = as_task(task)
    if isinstance(task, Problem):
        if (shape := task.covariance.shape) != (rows, rows):
            raise ValueError(f"covariance: found a matrix of shape {shape}, expected {(rows, rows)}.")
        return task.covariance.__matmul__
    check_process(task, input_dim).covariance(
        min(n_inputs, DENSE_LIMIT // input_dim or 1)
    )  # raises if it is not a covariance
    lags = task.autocovariance(n_inputs).reshape(n_inputs, input_dim, input_dim)
    symbols = {(a, b): circulant_symbol(lags[:, a, b]) for a, b in np.ndindex(input_dim, input_dim)}

    def product(x: np.ndarray) -> np.ndarray:
        values = x.reshape(n_inputs, input_dim, -1)
        result = np.zeros_like(values)
        for (a, b), symbol in symbols.items():
            result[:, a] += toeplitz_product(symbol, values[:, b].T).T
        return result.reshape(x.shape)

    return product


def input_variances(task: Process | Problem, n_inputs: int) -> np.ndarray:
    """(n_inputs · input_dim,) the diagonal of Σ.

    >>> from capcore.processes import AR1
    >>> input_variances(AR1(0.5), 2).round(12).tolist()
    [1.0, 1.0]
    """
    task = as_task(task)
    if isinstance(task, Problem):
        return np.diag(task.covariance)
    return np.tile(np.diag(np.atleast_2d(task.autocovariance(1)[0])), n_inputs)
