"""The quadratic problem of fitting an architecture to a process (paper 1, Eq. 14)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky

from capcore.architectures.base import Architecture
from capcore.available_memory import covariance_bytes, covariance_too_large, fits
from capcore.gate import plain_fields
from capcore.processes import Process
from capcore.validation import finite_array, finite_number


@dataclass(frozen=True, eq=False)
class Problem:
    """The quadratic problem that an architecture has to solve: the target A* and the covariance Σ.

    Attributes
    ----------
    target : (n,) array
        Optimal coefficients A*.
    covariance : (n, n) array
        Σ = RᵀR.
    root : (n, n) array
        Upper Cholesky factor R.
    variance : float
        v*, the least possible prediction variance.

    Raises
    ------
    ValueError
        If values are not finite, shapes disagree, the covariance is beyond 1e±150, or RᵀR is not Σ.
    """

    target: np.ndarray
    covariance: np.ndarray
    root: np.ndarray
    variance: float

    def __post_init__(self) -> None:
        plain_fields(self)
        n = finite_array(self.target, "target", 1).size
        for name in ("covariance", "root"):
            shape = finite_array(getattr(self, name), name, 2).shape
            if shape != (n, n):
                raise ValueError(
                    f"{name}: found a matrix of shape {shape}, expected {(n, n)} for a target of {n} coefficients."
                )
        finite_number(self.variance, "variance", "a number")
        if not 1e-150 <= np.abs(self.covariance).max() <= 1e150:
            raise ValueError(
                f"covariance: found a largest entry of {np.abs(self.covariance).max():.1e}, expected one between "
                "1e-150 and 1e150: its squares leave double precision. Measure the process in other units."
            )
        ones = np.ones(n)
        gap = np.abs(self.root.T @ (self.root @ ones) - self.covariance @ ones).max()
        if gap > 1e-8 * np.abs(self.covariance).sum(axis=1).max():
            raise ValueError(
                f"root: found a matrix R with RᵀR off the covariance by {gap:.1e} (row sums), expected the upper "
                "Cholesky factor, as scipy.linalg.cholesky(covariance) gives it."
            )

    @classmethod
    def of(cls, arch: Architecture, process: Process | Problem) -> Problem:
        """The problem of fitting the architecture to the process; raises if their dimensions disagree."""
        if isinstance(process, Problem):
            if process.target.size != arch.n_inputs * arch.input_dim:
                raise ValueError(
                    f"process: found a problem with {process.target.size} coefficients, "
                    f"expected {arch.n_inputs * arch.input_dim} as in {arch!r}."
                )
            return process
        if not isinstance(process, Process):
            raise TypeError(f"process: found {type(process).__name__}, expected a Process, such as PowerLaw(0.5).")
        if process.input_dim != arch.input_dim:
            raise ValueError(
                f"process: found {process.input_dim} component(s) per position, "
                f"expected {arch.input_dim} as in {arch!r}."
            )
        if not fits(covariance_bytes(arch.n_inputs, arch.input_dim)):
            raise covariance_too_large(arch.n_inputs, arch.input_dim)
        target, variance = process.predictor(arch.n_inputs)
        covariance = process.covariance(arch.n_inputs)
        return cls(target, covariance, cholesky(covariance), variance)

    def loss(self, coefficients: np.ndarray) -> float:
        """L = ‖R(A − A*)‖² (paper 1, Eq. 14)."""
        return float(np.sum(np.square(self.root @ (coefficients - self.target))))
