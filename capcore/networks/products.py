"""The Gauss–Newton response from products with the Jacobian and the Hessian, where neither is held.

Solves with H use conjugate gradients: every step gains a known positive part of bᵀH⁻¹b (Hestenes and Stiefel, 1952),
and they stop once little is left to gain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular, svd

from capcore.architectures.base import Product
from capcore.capacity.allocation import CapacityWarning
from capcore.checks.arguments import warn
from capcore.networks.losses import from_metric, to_metric
from capcore.networks.problem import NetworkProblem
from capcore.networks.response import EPS

UNSOLVED = 1e-6
"""Share of bᵀH⁻¹b that a solve may miss without a warning; its root, a thousandth, is the error of H⁻¹b itself."""
DELAY = 10
"""Number of last steps whose gains tell how much is left to gain."""
FEW = 4
"""Columns that a sketch spends on the largest leverages."""


@dataclass(frozen=True, eq=False)
class SketchedModel:
    """Products with the operator S at the problem's parameters, chunk by chunk.

    Attributes
    ----------
    problem : NetworkProblem
    roots, means : (N, K) array
        W = diag(roots²) − means meansᵀ.
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
    roots: np.ndarray
    means: np.ndarray
    vectors: np.ndarray
    values: np.ndarray
    tolerance: float
    max_steps: int
    bar: Any

    @classmethod
    def of(
        cls, problem: NetworkProblem, rank: int, tolerance: float, max_steps: int, rng: Any, bar: Any
    ) -> SketchedModel:
        """With a preconditioner from ``rank`` products: randomised Nyström (Frangella, Tropp and Udell, 2023)."""
        _, roots, means = problem.at(problem.derivatives.params)
        p = problem.derivatives.n_params
        model = cls(problem, roots, means, np.empty((0, p)), np.empty(0), tolerance, max_steps, bar)
        if rank == 0:
            return model
        sketch = qr(rng.normal(size=(p, rank)), mode="economic", check_finite=False)[0].T
        image = model.product(sketch)
        nudge = float(np.finfo(problem.derivatives.dtype).eps) * float(np.linalg.norm(image))
        root = cholesky(sketch @ image.T + nudge * np.eye(rank), lower=True)
        _, s, vectors = svd(solve_triangular(root, image + nudge * sketch, lower=True), full_matrices=False)
        return replace(model, vectors=vectors, values=np.maximum(s**2 - nudge, nudge))

    def product(self, v: np.ndarray) -> np.ndarray:
        """(m, p) H times directions (m, p)."""
        w = self.problem.derivatives.params
        self.bar.update(len(v))
        return self.problem.derivatives.ggn(w, v, self.roots, self.means) + self.problem.decay * v

    def precondition(self, v: np.ndarray) -> np.ndarray:
        """(m, p) preconditioned directions: the deflated eigenvalues are reduced to the smallest of them."""
        if not len(self.values):
            return v
        return v + ((v @ self.vectors.T) * (self.values[-1] / self.values - 1)) @ self.vectors

    def solved(self, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(p, m) H⁻¹ times (p, m), and the share (m,) of bᵀH⁻¹b that each may still lack."""
        limits = self.tolerance, self.max_steps
        solution, lacking = conjugate_gradients(self.product, gradients.T, self.precondition, *limits)
        return solution.T, lacking

    def applied(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(N·K, m) S times columns, in the metric of the loss, and the share (m,) of zᵀSz that each may still lack."""
        derivatives, shape = self.problem.derivatives, self.roots.shape
        stacked = from_metric(columns, self.roots, self.means).T.reshape(-1, *shape)
        moved, lacking = self.solved(derivatives.vjp(derivatives.params, stacked).T)
        outputs = derivatives.jvp(derivatives.params, moved.T)
        return to_metric(outputs.reshape(len(stacked), -1).T, self.roots, self.means), lacking

    def solve(self, gradients: np.ndarray) -> np.ndarray:
        """(p, m) H⁻¹ times (p, m); warns if it is not accurate to a thousandth."""
        result, lacking = self.solved(gradients)
        if lacking.max() > UNSOLVED:
            warn(
                f"max_steps: found solves that stopped after {self.max_steps:,} steps, with a share of "
                f"{lacking.max():.1g} of zᵀSz missing, expected at most {UNSOLVED:g}. Raise max_steps.",
                CapacityWarning,
            )
        return result


def conjugate_gradients(
    product: Product,
    rhs: np.ndarray,
    precondition: Product,
    tolerance: float,
    max_steps: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Solutions (m, p) of m systems, and the share (m,) of bᵀH⁻¹b that each may still lack.

    Raises
    ------
    ValueError
        If rounding leaves a direction no curvature.

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
            raise ValueError("weight_decay: found a curvature of 0, expected more. Raise it, or use method='dense'.")
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
