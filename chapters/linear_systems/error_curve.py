"""The error curve of a one-parameter model on two inputs, and where it meets 𝒦^⊥ (paper 1, Figure 2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from capcore.architectures.smoothing import ExponentialSmoothing
from capcore.constraints import ConstraintSpace
from capcore.optimum import Problem, fit
from capcore.processes import Process

IN_USE = (0.0, 1.0)
"""Smoothing factors that are used in practice: weights that are positive and decay."""


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Errors X = A(α) − A* of exponential smoothing on two inputs, and the constraint at the optimum.

    Attributes
    ----------
    arch, problem : the model, and the target A* and covariance Σ it is fitted to.
    optimum : α at the minimum of the loss over all real α. space : 𝒦 at the optimum, a line in the plane.
    crossings : ascending, all real α at which the error is orthogonal to 𝒦; the optimum is one of them.
    """

    arch: ExponentialSmoothing = field(repr=False)
    problem: Problem = field(repr=False)
    optimum: float
    space: ConstraintSpace = field(repr=False)
    crossings: np.ndarray

    def errors(self, alphas: ArrayLike) -> np.ndarray:
        """(m, 2) points of the curve."""
        alphas = np.asarray(alphas, dtype=float)
        return self.arch.curve(alphas) - self.problem.target if alphas.size else np.empty((0, 2))

    def losses(self, alphas: ArrayLike) -> np.ndarray:
        """(m,) loss XᵀΣX at points of the curve."""
        return self.losses_at(self.errors(alphas))

    def losses_at(self, errors: np.ndarray) -> np.ndarray:
        """(…,) loss XᵀΣX of any errors (…, 2) in the plane."""
        return np.sum(np.square(errors @ self.problem.root.T), axis=-1)

    def constrained(self, alphas: ArrayLike) -> np.ndarray:
        """(m,) k·X(α), with k the unit vector of 𝒦: zero where the curve meets 𝒦^⊥."""
        return self.errors(alphas) @ self.space.basis[:, 0]

    def slopes(self, alphas: ArrayLike) -> np.ndarray:
        """(m,) derivative dL/dα: zero at a critical point."""
        jacobians = np.array([self.arch.jacobian([alpha])[:, 0] for alpha in np.atleast_1d(alphas)])
        return 2 * np.sum(jacobians * (self.errors(alphas) @ self.problem.covariance), axis=1)

    @property
    def crossings_in_use(self) -> np.ndarray:
        """Those of the ``crossings`` with a smoothing factor between 0 and 1."""
        return self.crossings[(self.crossings >= IN_USE[0]) & (self.crossings <= IN_USE[1])]

    @property
    def other_crossings(self) -> np.ndarray:
        """Those of the ``crossings`` that are not the optimum (further than 1e-4 from it in α)."""
        return self.crossings[np.abs(self.crossings - self.optimum) > 1e-4]


def error_curve(process: Process, seed: int = 0) -> ErrorCurve:
    """The error curve of exponential smoothing on two inputs, fitted to a process.

    >>> from capcore.processes import PowerLaw
    >>> curve = error_curve(PowerLaw())
    >>> curve.crossings_in_use.size, bool(abs(curve.crossings_in_use[0] - curve.optimum) < 1e-6)
    (1, True)
    """
    arch = ExponentialSmoothing(n_inputs=2)
    problem = Problem.of(arch, process)
    params = fit(arch, problem, start=np.array([0.5]), n_starts=5, rng=seed).params
    space = ConstraintSpace.from_columns(problem.covariance @ arch.jacobian(params))
    normal = space.basis[:, 0]
    return ErrorCurve(arch, problem, float(params[0]), space, arch.solve(normal, float(normal @ problem.target)))
