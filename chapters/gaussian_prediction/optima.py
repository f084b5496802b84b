"""Optima and other critical points (paper 1, section 4.2).

Critical points of the loss: how stationary a point is (paper 1, Eq. 16).

K̃ᵀX = 0 holds wherever the gradient vanishes: at the optimum, at a local optimum and at a saddle.

Where the errors of a model meet 𝒦^⊥ taken at the optimum (paper 1, section 4.2 and Figure 2).

For a curved model space 𝒦 depends on where it is taken: every critical point lies on its own 𝒦^⊥, and the 𝒦^⊥ of
the optimum may meet the errors of the model in further points. Curves are polynomial here, so that all are found.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import Polynomial

from capcore import Architecture, ConstraintSpace, Problem


def gradient(arch: Architecture, params: np.ndarray, problem: Problem) -> np.ndarray:
    """(n_params,) gradient 2K̃ᵀX of the loss, K̃ = ΣJ, X = A − A* (paper 1, Eq. 16, which drops the 2)."""
    return 2 * arch.vjp(params, problem.covariance @ (arch.coefficients(params) - problem.target))


def gradient_gap(arch: Architecture, params: np.ndarray, problem: Problem) -> float:
    """Relative distance between 2K̃ᵀX and the gradient by central differences; zero but for differencing error."""
    exact, moves = gradient(arch, params, problem), 1e-5 * np.eye(params.size)
    losses = [[problem.loss(arch.coefficients(params + sign * move)) for sign in (1, -1)] for move in moves]
    return float(np.linalg.norm(-np.diff(losses)[:, 0] / 2e-5 - exact) / np.linalg.norm(exact))


def stationarity(arch: Architecture, params: np.ndarray, problem: Problem) -> float:
    """‖TᵀΣX‖ / ‖ΣX‖, the cosine of ΣX with the tangent space of the model; 0 at a critical point, and where X = 0.

    T is an orthonormal basis of the columns of ∂A/∂W. Where X is zero up to rounding only, the number means nothing.
    """
    force = problem.covariance @ (arch.coefficients(params) - problem.target)
    tangent = ConstraintSpace.from_columns(np.hstack(list(arch.tangents(params).values())), equilibrated=True)
    return float(np.linalg.norm(tangent.basis.T @ force) / (np.linalg.norm(force) or 1.0))


@dataclass(frozen=True, eq=False)
class Curve:
    """A model with one parameter w and coefficients polynomial in it, against a target, Σ = I.

    Parameters
    ----------
    powers : (n, degree + 1) A_i(w) = Σ_k powers[i, k] w^k. target : (n,) A*.

    >>> parabola = Curve([[0, 1, 0], [0, 0, 1]], [1.0, -0.5])  # A = (w, w²)
    >>> parabola.critical_points.size, parabola.crossings(parabola.optimum).size
    (1, 2)
    """

    powers: np.ndarray
    target: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "powers", np.asarray(self.powers, dtype=float))
        object.__setattr__(self, "target", np.asarray(self.target, dtype=float))

    def coefficients(self, w: object) -> np.ndarray:
        """(n, …) coefficients A(w)."""
        return np.stack([Polynomial(row)(np.asarray(w)) for row in self.powers])

    @cached_property
    def _errors(self) -> list[Polynomial]:
        return [Polynomial(row) - value for row, value in zip(self.powers, self.target, strict=True)]

    @cached_property
    def critical_points(self) -> np.ndarray:
        """All real w with K̃(w)ᵀX(w) = 0, ascending."""
        return _real_roots(sum((error.deriv() * error for error in self._errors), Polynomial([0.0])))

    @cached_property
    def optimum(self) -> float:
        """The critical point of least loss."""
        losses = [sum(error(w) ** 2 for error in self._errors) for w in self.critical_points]
        return float(self.critical_points[np.argmin(losses)])

    def crossings(self, at: float) -> np.ndarray:
        """All real w with K̃(at)ᵀX(w) = 0, ascending: where the errors meet the 𝒦^⊥ taken at ``at``."""
        terms = (error.deriv()(at) * error for error in self._errors)  # K̃ = Σ ∂A/∂w with Σ = I
        return _real_roots(sum(terms, Polynomial([0.0])))


def _real_roots(polynomial: Polynomial) -> np.ndarray:
    roots = polynomial.roots()
    return np.sort(roots[np.abs(roots.imag) < 1e-9 * (1 + np.abs(roots))].real)
