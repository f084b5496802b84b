"""The quadratic problem of a stationary process by fast Fourier transforms: no n × n matrix.

The covariance Σ of n successive samples is Toeplitz. Embedded in a circulant of at least twice the size, whose
transform is kept, it is applied in O(n log n); the optimal predictor, Σ A* = (c_1, …, c_n), follows from conjugate
gradients, preconditioned by the circulant nearest to Σ.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.sparse.linalg import LinearOperator, cg

from capcore.processes import Process
from capcore.validation import finite_array, positive_integer

TRUSTED_RESIDUAL = 1e-10  # of ‖(c_1, …, c_n)‖: beyond it the predictor is refused
ROUNDS = 4  # restarts of conjugate gradients from the true residual


@dataclass(frozen=True, eq=False)
class ToeplitzProblem:
    """Minimise (A − A*)ᵀ Σ (A − A*), with Σ and A* of a stationary process.

    Attributes
    ----------
    autocovariance : (n,) c_0 … c_{n−1}, the first column of Σ.
    target : (n,) A*. variance : v* = c_0 − A*·(c_1, …, c_n), the least possible prediction variance.
    residual : ‖ΣA* − (c_1, …, c_n)‖ / ‖(c_1, …, c_n)‖, what conjugate gradients left.
    accuracy : estimated relative error of A* from rounding of the autocovariances, eps times the condition number
        of the nearest circulant; not less than the residual over its least eigenvalue.

    >>> from capcore.processes import AR1
    >>> bool(np.allclose(ToeplitzProblem.of(AR1(0.5), 4).target, [0.5, 0, 0, 0]))
    True
    """

    autocovariance: np.ndarray = field(repr=False)
    target: np.ndarray = field(repr=False)
    variance: float
    residual: float
    accuracy: float
    _symbol: np.ndarray = field(repr=False)

    @classmethod
    def of(cls, process: Process, n: int) -> ToeplitzProblem:
        """The problem of predicting ``process`` from its last ``n`` values.

        Raises ``ValueError`` where the covariance is numerically singular or not positive definite, as far as
        conjugate gradients can tell, of a variance beyond 1e±100, and for a process with several components per
        position.
        """
        if not isinstance(process, Process):
            raise TypeError(f"process: found {type(process).__name__}, expected a Process, such as PowerLaw(0.5).")
        if process.input_dim != 1:
            raise ValueError(
                f"process: found {process.input_dim} components per position, expected 1: fast products are made for "
                "Toeplitz matrices of one component. Use capcore.fit."
            )
        c = process.autocovariance(positive_integer(n, "n") + 1)
        if c[0] > 0 and not 1e-100 <= c[0] <= 1e100:
            raise ValueError(
                f"process: found c_0 = {c[0]:.1e}, expected a variance between 1e-100 and 1e100: its squares leave "
                "double precision. Measure the process in other units."
            )
        symbol, nearest = circulant_symbol(c[:n]), nearest_circulant(c[:n])
        target, residual = solve_toeplitz_cg(symbol, nearest, c[1:])
        error = residual * float(np.linalg.norm(c[1:])) / float(nearest.min())
        rounding = float(np.finfo(float).eps * nearest.max() / nearest.min())
        accuracy = max(error / (float(np.linalg.norm(target)) or 1.0), rounding)
        return cls(c[:n], target, float(c[0] - target @ c[1:]), residual, accuracy, symbol)

    @property
    def n_inputs(self) -> int:
        """Number n of inputs."""
        return self.target.size

    def apply(self, values: np.ndarray) -> np.ndarray:
        """(n,) or (n, m): Σ v, for ``values`` (n,) or (n, m), in O(n log n) each."""
        return _apply(self._symbol, values)

    def loss(self, coefficients: np.ndarray) -> float:
        """The excess variance of the predictor with these coefficients (n,) (paper 1, Eq. 14)."""
        error = finite_array(coefficients, "coefficients", 1) - self.target
        return max(0.0, float(error @ self.apply(error)))


def circulant_symbol(column: np.ndarray) -> np.ndarray:
    """Transform (M/2 + 1,), real, of the circulant of a fast length M ≥ 2n that embeds the Toeplitz ``column`` (n,)."""
    n = column.size
    length = 2 * next_fast_len(n, real=True)
    embedded = np.zeros(length)
    embedded[:n] = column
    embedded[length - n + 1 :] = column[:0:-1]
    return np.ascontiguousarray(rfft(embedded).real)


def nearest_circulant(column: np.ndarray) -> np.ndarray:
    """Eigenvalues (n/2 + 1,) of the circulant nearest to the Toeplitz ``column`` (n,) in the Frobenius norm.

    Positive whenever the Toeplitz matrix is positive definite: raises ``ValueError`` otherwise. Source: T. Chan (1988).
    """
    n = column.size
    weights = np.arange(n) / n
    eigenvalues = rfft((1 - weights) * column + weights * np.concatenate([[0.0], column[:0:-1]])).real
    if not eigenvalues.min() > 0:
        raise ValueError(_refusal(f"found {eigenvalues.min():.1e} among the values of its averaged spectrum"))
    return eigenvalues


def solve_toeplitz_cg(symbol: np.ndarray, nearest: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, float]:
    """Solution (n,) of Σ v = ``right``, and its relative residual.

    Parameters
    ----------
    symbol : of :func:`circulant_symbol`, to apply Σ. nearest : of :func:`nearest_circulant`, the preconditioner.

    Conjugate gradients start again from the true residual until it no longer falls. Raises ``ValueError``
    where that leaves more than ``TRUSTED_RESIDUAL``.
    """
    n = right.size
    scale = float(np.linalg.norm(right))
    if not scale > 0:
        return np.zeros(n), 0.0
    covariance = LinearOperator((n, n), matvec=lambda v: _apply(symbol, v.ravel()))
    preconditioner = LinearOperator((n, n), matvec=lambda v: irfft(rfft(v.ravel()) / nearest, n))
    solution, rest = np.zeros(n), right
    for _ in range(ROUNDS):
        step, _ = cg(covariance, rest, rtol=1e-14, atol=1e-17 * scale, maxiter=200, M=preconditioner)
        trial = solution + step
        new = right - _apply(symbol, trial)
        if not np.linalg.norm(new) < np.linalg.norm(rest):
            break
        solution, rest = trial, new
    residual = float(np.linalg.norm(rest)) / scale
    if not residual < TRUSTED_RESIDUAL:
        raise ValueError(_refusal(f"found a relative residual of {residual:.1e} for the optimal predictor"))
    return solution, residual


def _apply(symbol: np.ndarray, values: np.ndarray) -> np.ndarray:
    length = 2 * (len(symbol) - 1)
    spectrum = rfft(values, length, axis=0)
    spectrum *= symbol if np.ndim(values) == 1 else symbol[:, None]
    return irfft(spectrum, length, axis=0)[: len(values)]


def _refusal(found: str) -> str:
    return (
        f"autocovariance: numerically singular or not positive definite: {found}. Add white noise with "
        "process.with_nugget(variance), use fewer lags, or choose a rougher process."
    )
