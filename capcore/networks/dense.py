"""The response operator of an optimum from its Jacobian and its Hessian, held whole: up to some thousand parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.linalg import eigh

from capcore.constraints import rank_tolerance
from capcore.memory import arrays, fits, too_large
from capcore.networks.problem import NetworkProblem, to_metric


@dataclass(frozen=True, eq=False)
class Response:
    """J g(H) Jᵀ by the eigenvectors of H: g(μ) = 1/μ, or (1 − e^{−tμ})/μ after a time t; 0 where μ is numerically 0.

    Attributes
    ----------
    factor : (N·K, p) array
        Rᵀ J V, in the metric of the loss.
    gains : (p,) array
        g(μ).
    eigenvalues : (p,) array
        μ, ascending.
    kept : (p,) array of bool
        Those above the tolerance in size.
    vectors : (p, p) array
        V.
    """

    factor: np.ndarray = field(repr=False)
    gains: np.ndarray = field(repr=False)
    eigenvalues: np.ndarray = field(repr=False)
    kept: np.ndarray = field(repr=False)
    vectors: np.ndarray = field(repr=False)

    @classmethod
    def of(
        cls, scaled: np.ndarray, hessian: np.ndarray, tolerance: float | None = None, time: float | None = None
    ) -> Response:
        """From RᵀJ (N·K, p) and H (p, p); ``tolerance`` is relative to the largest eigenvalue."""
        values, vectors = eigh(hessian, check_finite=False)
        largest = float(np.abs(values).max(initial=0.0))
        kept = np.abs(values) > (rank_tolerance(hessian.shape, largest) if tolerance is None else tolerance * largest)
        safe = np.where(kept, values, 1.0)
        gains = 1 / safe if time is None else -np.expm1(-time * safe) / safe
        return cls(scaled @ vectors, np.where(kept, gains, 0.0), values, kept, vectors)

    @cached_property
    def diagonal(self) -> np.ndarray:
        """(N·K,) diagonal of S."""
        return np.square(self.factor) @ self.gains

    def along(self, columns: np.ndarray) -> np.ndarray:
        """(m,) zᵀSz of columns (N·K, m)."""
        return np.square(columns.T @ self.factor) @ self.gains

    def solve(self, gradients: np.ndarray) -> np.ndarray:
        """(p, m) g(H) times (p, m)."""
        return self.vectors @ (self.gains[:, None] * (self.vectors.T @ gradients))

    def apply(self, columns: np.ndarray) -> np.ndarray:
        """(N·K, m) S times columns, in the metric of the loss."""
        return self.factor @ (self.gains[:, None] * (self.factor.T @ columns))

    @cached_property
    def dropped(self) -> float:
        """Share of ‖RᵀJ‖² in the directions counted as singular: 0 where the outputs do not move along them."""
        squares = np.square(self.factor).sum(axis=0)
        return float(squares[~self.kept].sum() / max(squares.sum(), 1e-300))


@dataclass(frozen=True, eq=False)
class DenseModel:
    """What the dense route holds: e, RᵀJ, and the Hessian in its full and its Gauss–Newton form."""

    scaled: np.ndarray
    full: np.ndarray
    gauss_newton: np.ndarray
    gradient: np.ndarray
    errors: np.ndarray
    roots: np.ndarray
    means: np.ndarray

    @classmethod
    def of(cls, problem: NetworkProblem, progress: bool = False) -> DenseModel:
        """Compute them; refused beforehand where they would not fit into memory."""
        derivatives, p = problem.derivatives, problem.derivatives.n_params
        n_bytes = arrays(problem.targets.size, p, copies=3) + arrays(p, p, copies=8)
        if not fits(n_bytes):
            found = f"allocate_network: found {p:,} parameters and {problem.targets.size:,} outputs on the data"
            raise too_large(found, n_bytes, "Use method='sketch', or fewer examples.")
        w = derivatives.params
        outputs = derivatives.outputs(w)
        errors, roots, means = problem.errors(outputs)
        jacobian = derivatives.jacobian(w)
        if not np.isfinite(jacobian).all():
            raise ValueError("apply: found derivatives that are NaN or infinite, expected finite ones at these params.")
        gradient = jacobian.T @ errors.ravel() + problem.penalty(w)[1]
        scaled = to_metric(jacobian, roots, means)
        del jacobian
        added = problem.added(w)
        gauss_newton = scaled.T @ scaled + added
        full = gauss_newton + problem.residual(w, errors, progress)
        return cls(scaled, full, gauss_newton, gradient, errors, roots, means)

    def restricted(self, columns: np.ndarray, full: bool, tolerance: float | None, time: float | None) -> Response:
        """The response of some parameters alone, all others held constant."""
        hessian = self.full if full else self.gauss_newton
        return Response.of(self.scaled[:, columns], hessian[np.ix_(columns, columns)], tolerance, time)
