"""Newton's method with a trust region on the manifold of tensor trains of fixed ranks.

Each iteration computes the κ × κ Riemannian Hessian (:mod:`capcore.large.quadratic`), takes the exact minimiser of the
quadratic model within a ball, and returns to the manifold by rounding. Where the model is accurate the steps are
Newton's, and converge quadratically; plain Gauss–Newton, which leaves out the curvature, converges linearly here.
Source: Absil, Mahony & Sepulchre (2008), *Optimization Algorithms on Matrix Manifolds*, chapter 7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from capcore.architectures.tensor_train import contract
from capcore.capacity.tangent_space import TangentSpace
from capcore.large.quadratic import ToeplitzProblem, tangent_hessian
from capcore.large.retraction import bond_matrices, retract, shift

SHRINK, GROW = 0.25, 0.75  # gains below and above which the radius changes
ACCEPT = 1e-4  # the least gain of a step that is taken
BLIND = 1e3  # decrease that a step must promise for the loss to judge it, in units of the loss's rounding
TRIES = 4  # number of last, tiny steps, each with its own rounding, of which the best is kept
SMALLEST_RADIUS = 1e-15  # of ‖A‖: a step this short no longer changes the coefficients
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Point:
    """A tensor train on the manifold, with the gradient of the loss there.

    Attributes
    ----------
    problem : ToeplitzProblem
        The quadratic problem.
    cores : list of (r_{l−1}, n_l, r_l) arrays
        The train A.
    """

    problem: ToeplitzProblem
    cores: Sequence[np.ndarray]

    @cached_property
    def coefficients(self) -> np.ndarray:
        """(n,) A."""
        return contract(self.cores)

    @cached_property
    def error(self) -> np.ndarray:
        """(n,) X = A − A*."""
        return self.coefficients - self.problem.target

    @cached_property
    def pull(self) -> np.ndarray:
        """(n,) ΣX, half the gradient in the space of coefficients."""
        return self.problem.apply(self.error)

    @property
    def loss(self) -> float:
        """XᵀΣX."""
        return max(0.0, float(self.error @ self.pull))

    @cached_property
    def space(self) -> TangentSpace:
        """T at this point."""
        return TangentSpace.of_kernels(self.cores)

    @cached_property
    def gradient(self) -> np.ndarray:
        """(κ,) TᵀΣX, half the Riemannian gradient."""
        return self.space.project(self.pull)

    @property
    def stationarity(self) -> float:
        """‖TᵀΣX‖ / ‖ΣX‖: 0 at a stationary point, and if there is no error at all."""
        size = float(np.linalg.norm(self.pull))
        return float(np.linalg.norm(self.gradient)) / size if size > 0 else 0.0

    @cached_property
    def bonds(self) -> list[np.ndarray]:
        """M_1 … M_{L−1} of :func:`~capcore.large.retraction.bond_matrices`."""
        return bond_matrices(self.space, self.cores)

    def hessian(self) -> np.ndarray:
        """(κ, κ) half the Riemannian Hessian."""
        normal = self.pull - self.space.expand(self.gradient)
        return tangent_hessian(self.space, self.problem.autocovariance, normal, self.bonds)

    def decrease(self, other: Point) -> float:
        """The loss here minus that at ``other``, without cancellation between nearly equal losses."""
        return float((self.coefficients - other.coefficients) @ (self.pull + other.pull))


class Descent(NamedTuple):
    """Where the iteration ended.

    Attributes
    ----------
    point : Point
        The last point.
    losses : list of float
        Values at the start and after every step.
    resolution : float
        The stationarity that a relative change of A by one rounding, along a random tangent, would cause.
    converged : bool
        Whether the point can be trusted as an optimum.
    message : str
        Why it stopped.
    """

    point: Point
    losses: list[float]
    resolution: float
    converged: bool
    message: str


def minimise_newton(
    point: Point,
    max_iterations: int = 200,
    tolerance: float = 1e-8,
    floor: float = 1e-26,
    callback: Callable[[], object] | None = None,
) -> Descent:
    """Find a stationary point of the loss, from a point whose ranks are those of its tangent space.

    Once rounding of the loss hides the promised decrease, steps are judged by the stationarity instead, and taken core
    by core, until it no longer falls.

    Parameters
    ----------
    point : Point
        The start.
    max_iterations : int
        Steps tried, taken or not.
    tolerance : float
        Stop when the stationarity ‖TᵀΣX‖/‖ΣX‖ is at most this and no direction has negative curvature.
    floor : float
        Stop when the loss is at most this: below it the error is too small for its direction to mean anything.
    """
    size = float(np.linalg.norm(point.coefficients)) or 1.0
    radius = 0.1 * size
    losses = [point.loss]
    eigen = None
    resolution, failures = 0.0, 0

    def end(converged: bool, message: str) -> Descent:
        return Descent(point, losses, resolution, converged, message)

    for _ in range(max_iterations + 1):
        if point.loss <= floor:
            return end(True, "target attained: the loss is at its floor")
        if eigen is None:
            eigen = eigh(point.hessian(), check_finite=False)
            values, vectors = eigen
            spread = float(np.sqrt(np.mean(np.square(values))))
            resolution = EPS * size * spread / float(np.linalg.norm(point.pull))
        convex = values[0] > -len(values) * EPS * values[-1]
        if point.stationarity <= tolerance and convex:
            return end(True, "stationary: the gradient on the manifold is below its tolerance")
        if len(losses) > max_iterations:
            break
        step, predicted = trust_region_step(values, vectors, point.gradient, radius)
        blind = convex and predicted < BLIND * EPS * size * float(np.linalg.norm(point.pull))
        trial = Point(point.problem, (shift if blind else retract)(point.space, point.cores, step))
        if trial.space.dimension != point.space.dimension:
            gain = -1.0
        elif blind:
            gain = 1.0 if trial.stationarity < point.stationarity else -1.0
        else:
            gain = point.decrease(trial) / predicted if predicted > 0 else -1.0
        length = float(np.linalg.norm(step))
        if blind:
            failures += gain < 0
        elif not gain > SHRINK:
            radius = 0.25 * length
        elif gain > GROW and length > 0.99 * radius:
            radius *= 2.0
        if gain > ACCEPT:
            point, eigen = trial, None
        losses.append(point.loss)
        if callback:
            callback()
        if failures == TRIES or radius < SMALLEST_RADIUS * size:
            if point.stationarity <= max(tolerance, resolution):
                return end(True, "stationary: to the rounding of the coefficients")
            return end(False, "stalled: no step lowers the loss or the gradient any more")
    return end(False, f"stopped after {max_iterations} iteration{'' if max_iterations == 1 else 's'}")


def trust_region_step(
    values: np.ndarray, vectors: np.ndarray, gradient: np.ndarray, radius: float
) -> tuple[np.ndarray, float]:
    """The minimiser (κ,) of 2 gᵀx + xᵀHx over ‖x‖ ≤ radius, and its decrease; H is given by its eigenpairs.

    Source: Conn, Gould & Toint (2000), *Trust-Region Methods*, section 7.3; in the hard case the step is
    completed along the direction of most negative curvature.

    >>> trust_region_step(np.array([1.0, 2.0]), np.eye(2), np.array([-1.0, 0.0]), 10.0)[1]
    1.0
    """
    g = vectors.T @ gradient
    lowest = float(values[0])

    def at(shift: float) -> np.ndarray:
        return -g / (values + shift)

    def excess(shift: float) -> float:
        return 1 / radius - 1 / float(np.linalg.norm(at(shift)))

    least = max(0.0, -lowest) + 10 * EPS * max(abs(lowest), float(values[-1]))
    if lowest > 0 and np.linalg.norm(g / values) <= radius:
        x = at(0.0)
    elif np.linalg.norm(at(least)) <= radius:
        x = at(least)
        if lowest < 0:
            x[0] = np.copysign(np.sqrt(max(0.0, radius**2 - float(x[1:] @ x[1:]))), -g[0])
    else:
        x = at(brentq(excess, least, least + float(np.linalg.norm(g)) / radius, rtol=1e-10))
    return vectors @ x, -float(2 * g @ x + values @ np.square(x))
