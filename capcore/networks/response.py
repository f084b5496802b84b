"""The response operator of an optimum from the full Jacobian and Hessian.

S = Rᵀ J H⁻¹ Jᵀ R is computed in one of two ways. A positive definite H = C Cᵀ has a Cholesky root, and a triangular
solve gives (C⁻¹ Jᵀ R)ᵀ, whose rows have the leverages as squared lengths. Eigenvectors of H take some thirty times as
many operations. They are computed where H is singular or indefinite, or has a stopping time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh, eigvalsh, lapack, solve_triangular

from capcore.architectures.columns import rank_tolerance
from capcore.checks.memory import arrays, fits, too_large
from capcore.networks.problem import NetworkProblem, put_into_metric

EPS = float(np.finfo(float).eps)
CAUTION = 10.0
"""LAPACK's estimate of a condition number is a lower bound, and hardly ever below a third of it."""


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
        Which eigenvalues exceed the tolerance in absolute value.
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

    @property
    def n_singular(self) -> int:
        """Number of eigenvalues that are numerically 0."""
        return int((~self.kept).sum())

    @property
    def n_negative(self) -> int:
        """Number of eigenvalues below 0, those that are numerically 0 left out."""
        return int((self.kept & (self.eigenvalues < 0)).sum())

    @property
    def rounding(self) -> float:
        """Relative rounding error of solves: eps times the condition number of what is kept."""
        sizes = np.abs(self.eigenvalues[self.kept])
        return float(EPS * sizes.max() / sizes.min()) if sizes.size else 0.0

    @cached_property
    def diagonal(self) -> np.ndarray:
        """(N·K,) diagonal of S."""
        return np.square(self.factor) @ self.gains

    def blocks(self, shape: tuple[int, int]) -> np.ndarray:
        """(N, K, K) blocks of S that belong to one example each."""
        rows = self.factor.reshape(*shape, -1)
        return np.stack([(each * self.gains) @ each.T for each in rows])

    def along(self, columns: np.ndarray) -> np.ndarray:
        """(m,) zᵀSz of columns (N·K, m)."""
        return np.square(columns.T @ self.factor) @ self.gains

    def solve(self, gradients: np.ndarray) -> np.ndarray:
        """(p, m) g(H) times (p, m)."""
        return self.vectors @ (self.gains[:, None] * (self.vectors.T @ gradients))

    def apply(self, columns: np.ndarray) -> np.ndarray:
        """(N·K, m) S times columns, in the metric of the loss."""
        return self.factor @ (self.gains[:, None] * (self.factor.T @ columns))

    def transformed(self, rows: np.ndarray) -> np.ndarray:
        """(…, p) T of rows J (…, p) for which J g(H) Jᵀ = T diag(gains) Tᵀ."""
        return rows @ self.vectors

    def decrease(self, gradient: np.ndarray) -> float:
        """½ ∇LᵀH⁻¹∇L, every eigenvalue taken by its size: what a Newton step would take off the loss."""
        return float(np.abs(self.gains) @ np.square(self.vectors.T @ gradient)) / 2

    @cached_property
    def dropped(self) -> float:
        """Share of ‖RᵀJ‖² in the directions that count as singular: 0 if the outputs do not move along them."""
        squares = np.square(self.factor).sum(axis=0)
        return float(squares[~self.kept].sum() / max(squares.sum(), 1e-300))


@dataclass(frozen=True, eq=False)
class CholeskyResponse:
    """J H⁻¹ Jᵀ of a positive definite H = C Cᵀ, with the methods of :class:`Response`.

    Attributes
    ----------
    factor : (N·K, p) array
        (C⁻¹ Jᵀ R)ᵀ, in the metric of the loss: S is this matrix times its transpose.
    root : (p, p) array
        C, lower triangular.
    condition : float
        The condition number of H in the 1-norm, estimated.
    """

    factor: np.ndarray = field(repr=False)
    root: np.ndarray = field(repr=False)
    condition: float

    n_singular = 0
    n_negative = 0
    dropped = 0.0

    @classmethod
    def of(cls, scaled: np.ndarray, hessian: np.ndarray, tolerance: float | None = None) -> CholeskyResponse | None:
        """From RᵀJ (N·K, p) and H (p, p); None unless all eigenvalues certainly exceed the tolerance.

        Examples
        --------
        >>> found = CholeskyResponse.of(np.eye(2), np.diag([2.0, 4.0]))
        >>> found.diagonal.round(9).tolist(), CholeskyResponse.of(np.eye(2), np.diag([1.0, 0.0])) is None
        ([0.5, 0.25], True)
        """
        if not hessian.size:
            return None
        norm = float(np.abs(hessian).sum(axis=0).max())
        root, failed = lapack.dpotrf(hessian.T, lower=1, clean=1)  # a symmetric matrix in the order that LAPACK takes
        if failed:
            return None
        reciprocal, _ = lapack.dpocon(root, norm, uplo="L")
        smallest = float(reciprocal) * norm / CAUTION
        if not smallest > (rank_tolerance(hessian.shape, norm) if tolerance is None else tolerance * norm):
            return None
        factor = solve_triangular(root, scaled.T, lower=True, check_finite=False).T
        return cls(factor, root, 1 / float(reciprocal))

    @property
    def gains(self) -> np.ndarray:
        """(p,) ones."""
        return np.ones(len(self.root))

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """(p,) eigenvalues of H, ascending; computed when they are first asked for."""
        return eigvalsh(self.root @ self.root.T, check_finite=False)

    @property
    def rounding(self) -> float:
        """Relative rounding error of solves: eps times the condition number."""
        return EPS * self.condition

    @cached_property
    def diagonal(self) -> np.ndarray:
        """(N·K,) diagonal of S."""
        return np.einsum("ij,ij->i", self.factor, self.factor)

    def blocks(self, shape: tuple[int, int]) -> np.ndarray:
        """(N, K, K) blocks of S that belong to one example each."""
        rows = self.factor.reshape(*shape, -1)
        return rows @ rows.transpose(0, 2, 1)

    def along(self, columns: np.ndarray) -> np.ndarray:
        """(m,) zᵀSz of columns (N·K, m)."""
        return np.square(columns.T @ self.factor).sum(axis=1)

    def solve(self, gradients: np.ndarray) -> np.ndarray:
        """(p, m) H⁻¹ times (p, m)."""
        half = solve_triangular(self.root, gradients, lower=True, check_finite=False)
        return solve_triangular(self.root, half, lower=True, trans="T", check_finite=False)

    def apply(self, columns: np.ndarray) -> np.ndarray:
        """(N·K, m) S times columns, in the metric of the loss."""
        return self.factor @ (self.factor.T @ columns)

    def transformed(self, rows: np.ndarray) -> np.ndarray:
        """(…, p) T of rows J (…, p) for which J H⁻¹ Jᵀ = T Tᵀ."""
        flat = rows.reshape(-1, rows.shape[-1])
        return solve_triangular(self.root, flat.T, lower=True, check_finite=False).T.reshape(rows.shape)

    def decrease(self, gradient: np.ndarray) -> float:
        """½ ∇LᵀH⁻¹∇L: what a Newton step would take off the loss."""
        half = solve_triangular(self.root, gradient, lower=True, check_finite=False)
        return float(half @ half) / 2


def respond(
    scaled: np.ndarray, hessian: np.ndarray, tolerance: float | None = None, time: float | None = None
) -> Response | CholeskyResponse:
    """The response of RᵀJ (N·K, p) and H (p, p): by Cholesky where H is positive definite, else by eigenvectors."""
    found = CholeskyResponse.of(scaled, hessian, tolerance) if time is None else None
    return Response.of(scaled, hessian, tolerance, time) if found is None else found


def dense_bytes(problem: NetworkProblem) -> float:
    """Bytes that J, H and the eigenvectors of both forms take; less where a Cholesky root suffices."""
    p = problem.derivatives.n_params
    return arrays(problem.targets.size, p, copies=4) + arrays(p, p, copies=9)


@dataclass(frozen=True, eq=False)
class DenseModel:
    """What the dense route keeps of a network at its parameters. ``found.dense(name)`` gives it.

    Attributes
    ----------
    scaled : (N·K, p) array
        RᵀJ: the Jacobian in the metric of the loss, and for squared loss the Jacobian itself.
    full, gauss_newton : (p, p) array
        Both forms of the Hessian, with that of R(θ). They are one array where the residual curvature was not asked for.
    gradient : (p,) array
        ∇L, with that of R(θ).
    errors, roots, means : (N, K) array
        e = ∂ℓ/∂f, and W = diag(roots²) − means meansᵀ.
    """

    scaled: np.ndarray
    full: np.ndarray
    gauss_newton: np.ndarray
    gradient: np.ndarray
    errors: np.ndarray
    roots: np.ndarray
    means: np.ndarray

    @classmethod
    def of(
        cls, problem: NetworkProblem, gradient: np.ndarray, with_residual: bool, progress: bool = False
    ) -> DenseModel:
        """Compute them; raises :class:`~capcore.checks.memory.TooLargeError` first if memory would not do."""
        derivatives, p = problem.derivatives, problem.derivatives.n_params
        n_bytes = dense_bytes(problem)
        if not fits(n_bytes):
            found = f"allocate_network: found {p:,} parameters and {problem.targets.size:,} outputs on the data"
            raise too_large(found, n_bytes, "Use method='sketch', or fewer examples.")
        w = derivatives.params
        errors, roots, means = problem.errors(derivatives.outputs(w))
        jacobian = derivatives.jacobian(w)
        if not np.isfinite(jacobian).all():
            raise ValueError("apply: found derivatives that are NaN or infinite, expected finite ones at these params.")
        scaled = put_into_metric(jacobian, roots, means)
        curvature = derivatives.gauss_newton(w, roots, means)
        gauss_newton = problem.gauss_newton(w, scaled if curvature is None else scaled[:0])
        if curvature is not None:
            gauss_newton += curvature
        full = gauss_newton + problem.residual(w, errors, progress) if with_residual else gauss_newton
        return cls(scaled, full, gauss_newton, gradient, errors, roots, means)

    def restricted(self, columns: np.ndarray, full: bool, tolerance: float | None, time: float | None) -> Any:
        """The response of some parameters alone, with all others constant."""
        hessian = self.full if full else self.gauss_newton
        return respond(self.scaled[:, columns], hessian[np.ix_(columns, columns)], tolerance, time)
