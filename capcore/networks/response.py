"""The response operator of an optimum: from the full Jacobian and Hessian, or from products with them.

Both solve with H, and give S times columns. The second uses conjugate gradients: every step gains a known
positive part of bᵀH⁻¹b (Hestenes and Stiefel, 1952), and they stop once little is left to gain.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, qr, solve_triangular, svd

from capcore.allocation import CapacityWarning
from capcore.available_memory import arrays, fits, too_large
from capcore.constraints import rank_tolerance
from capcore.networks.problem import NetworkProblem, from_metric, to_metric

EPS = float(np.finfo(float).eps)


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
        """Share of ‖RᵀJ‖² in the directions that count as singular: 0 if the outputs do not move along them."""
        squares = np.square(self.factor).sum(axis=0)
        return float(squares[~self.kept].sum() / max(squares.sum(), 1e-300))


def dense_bytes(problem: NetworkProblem) -> float:
    """Bytes that J, H and the eigenvectors of both forms take."""
    p = problem.derivatives.n_params
    return arrays(problem.targets.size, p, copies=4) + arrays(p, p, copies=9)


@dataclass(frozen=True, eq=False)
class DenseModel:
    """What the dense route keeps: e, RᵀJ, and the full and the Gauss–Newton form of the Hessian."""

    scaled: np.ndarray
    full: np.ndarray
    gauss_newton: np.ndarray
    gradient: np.ndarray
    errors: np.ndarray
    roots: np.ndarray
    means: np.ndarray

    @classmethod
    def of(cls, problem: NetworkProblem, with_residual: bool, progress: bool = False) -> DenseModel:
        """Compute them; raises :class:`~capcore.available_memory.TooLargeError` first if memory would not do."""
        derivatives, p = problem.derivatives, problem.derivatives.n_params
        n_bytes = dense_bytes(problem)
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
        full = gauss_newton + problem.residual(w, errors, progress) if with_residual else gauss_newton
        return cls(scaled, full, gauss_newton, gradient, errors, roots, means)

    def restricted(self, columns: np.ndarray, full: bool, tolerance: float | None, time: float | None) -> Response:
        """The response of some parameters alone, with all others constant."""
        hessian = self.full if full else self.gauss_newton
        return Response.of(self.scaled[:, columns], hessian[np.ix_(columns, columns)], tolerance, time)


UNSOLVED = 1e-6
"""Share of bᵀH⁻¹b that a solve may miss without a warning; its root, a thousandth, is the error of H⁻¹b itself."""
DELAY = 10
"""Number of last steps whose gains tell how much is left to gain."""


class NegativeCurvatureError(ValueError):
    """A direction has negative curvature: conjugate gradients stop, and there is no minimum."""


@dataclass(frozen=True, eq=False)
class SketchedModel:
    """Products with the operator S at the problem's parameters, chunk by chunk.

    Attributes
    ----------
    problem : NetworkProblem
    errors, roots, means : (N, K) array
        e, and W = diag(roots²) − means meansᵀ.
    vectors : (r, p) array
        Orthonormal; approximately the leading eigenvectors of H, which are deflated.
    values : (r,) array
        Their approximate eigenvalues.
    tolerance : float
        A solve stops once it lacks at most this share of bᵀH⁻¹b.
    max_steps : int
        Largest number of steps of a solve.
    bar : object
        Counts products.
    """

    problem: NetworkProblem
    errors: np.ndarray
    roots: np.ndarray
    means: np.ndarray
    vectors: np.ndarray
    values: np.ndarray
    tolerance: float
    max_steps: int
    bar: Any

    @classmethod
    def of(
        cls, problem: NetworkProblem, full: bool, rank: int, tolerance: float, max_steps: int, rng: Any, bar: Any
    ) -> SketchedModel:
        """With a preconditioner from ``rank`` products: randomised Nyström (Frangella, Tropp and Udell, 2023)."""
        outputs = problem.derivatives.outputs(problem.derivatives.params)
        errors, roots, means = problem.errors(outputs)
        p = problem.derivatives.n_params
        empty = np.empty((0, p)), np.empty(0)
        model = cls(problem, errors if full else 0 * errors, roots, means, *empty, tolerance, max_steps, bar)
        if rank == 0:
            return model
        sketch = qr(rng.normal(size=(p, rank)), mode="economic", check_finite=False)[0].T
        image = model.product(sketch)
        nudge = float(np.finfo(problem.derivatives.dtype).eps) * float(np.linalg.norm(image))
        try:
            root = cholesky(sketch @ image.T + nudge * np.eye(rank), lower=True)
        except np.linalg.LinAlgError:
            raise NegativeCurvatureError from None
        _, s, vectors = svd(solve_triangular(root, image + nudge * sketch, lower=True), full_matrices=False)
        return replace(model, vectors=vectors, values=np.maximum(s**2 - nudge, nudge))

    def gauss_newton(self) -> SketchedModel:
        """The same operator without residual curvature."""
        return replace(self, errors=0 * self.errors)

    def product(self, v: np.ndarray) -> np.ndarray:
        """(m, p) H times directions (m, p)."""
        w = self.problem.derivatives.params
        self.bar.update(len(v))
        return self.problem.derivatives.hvp(w, v, self.errors, self.roots, self.means) + self.problem.penalty(w, v)

    def precondition(self, v: np.ndarray) -> np.ndarray:
        """(m, p) preconditioned directions: the deflated eigenvalues are reduced to the smallest of them."""
        if not len(self.values):
            return v
        return v + ((v @ self.vectors.T) * (self.values[-1] / self.values - 1)) @ self.vectors

    def solved(self, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(p, m) H⁻¹ times (p, m), and the share (m,) of bᵀH⁻¹b that each may still lack."""
        found = conjugate_gradients(self.product, gradients.T, self.precondition, self.tolerance, self.max_steps)
        return found[0].T, found[1]

    def applied(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(N·K, m) S times columns, in the metric of the loss, and the share (m,) of zᵀSz that each may still lack."""
        derivatives, shape = self.problem.derivatives, self.roots.shape
        stacked = from_metric(columns, self.roots, self.means).T.reshape(-1, *shape)
        moved, lacking = self.solved(derivatives.vjp(derivatives.params, stacked).T)
        outputs = derivatives.jvp(derivatives.params, moved.T)
        return to_metric(outputs.reshape(len(stacked), -1).T, self.roots, self.means), lacking

    def solve(self, gradients: np.ndarray) -> np.ndarray:
        """(p, m) H⁻¹ times (p, m); warns if it is not accurate to a thousandth."""
        found, lacking = self.solved(gradients)
        self._warn(lacking)
        return found

    def apply(self, columns: np.ndarray) -> np.ndarray:
        """(N·K, m) S times columns, in the metric of the loss; warns if it is not accurate to a thousandth."""
        found, lacking = self.applied(columns)
        self._warn(lacking)
        return found

    def _warn(self, lacking: np.ndarray) -> None:
        if lacking.max() > UNSOLVED:
            warnings.warn(
                f"max_steps: found solves that stopped after {self.max_steps:,} steps, with a share of "
                f"{lacking.max():.1g} of zᵀSz missing, expected at most {UNSOLVED:g}. Raise max_steps.",
                CapacityWarning,
                stacklevel=4,
            )


def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray],
    rhs: np.ndarray,
    precondition: Callable[[np.ndarray], np.ndarray],
    tolerance: float,
    max_steps: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Solutions (m, p) of m systems, and the share (m,) of bᵀH⁻¹b that each may still lack.

    Raises
    ------
    NegativeCurvatureError

    Examples
    --------
    >>> x, lacking = conjugate_gradients(lambda v: v * [1.0, 2.0], np.ones((1, 2)), lambda v: v, 1e-12, 10)
    >>> x.round(9).tolist()
    [[1.0, 0.5]]
    """
    solution, rest = np.zeros_like(rhs), rhs.copy()
    direction = precondition(rest).copy()
    rho = np.einsum("mp,mp->m", rest, direction)
    first, gains = rho.copy(), np.zeros((DELAY, len(rhs)))
    total, active = np.zeros(len(rhs)), rho > 0
    for step in range(max_steps):
        if not active.any():
            break
        image = product(direction[active])
        curvature = np.einsum("mp,mp->m", direction[active], image)
        if not (curvature > 0).all():
            raise NegativeCurvatureError
        length = rho[active] / curvature
        gain = np.zeros(len(rhs))
        gain[active] = length * rho[active]
        gains[step % DELAY], total = gain, total + gain
        solution[active] += length[:, None] * direction[active]
        rest[active] -= length[:, None] * image
        residual = precondition(rest[active])
        new = np.einsum("mp,mp->m", rest[active], residual)
        direction[active] = residual + (new / rho[active])[:, None] * direction[active]
        rho[active] = new
        to_come = gains.sum(axis=0) > tolerance * total
        active &= (to_come | (step < DELAY - 1)) & (rho > EPS**2 * first)
    lacking = np.where(active, gains.sum(axis=0) / np.where(total > 0, total, 1.0), tolerance)
    return solution, lacking
