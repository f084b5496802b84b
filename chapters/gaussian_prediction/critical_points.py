"""Critical points of the loss: how stationary a point is, and how the loss curves around it (paper 1, Eq. 16).

K̃ᵀX = 0 holds wherever the gradient vanishes: at the optimum, at a local optimum and at a saddle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh

from capcore.architectures.base import Architecture
from capcore.architectures.hierarchical import Hierarchical
from capcore.constraints import ConstraintSpace
from capcore.optimum import Problem
from capcore.validation import finite_number

FLAT = 1e-7  # curvatures below this share of the largest are differencing error


def gradient(arch: Architecture, params: np.ndarray, problem: Problem) -> np.ndarray:
    """(n_params,) gradient 2K̃ᵀX of the loss, K̃ = ΣJ, X = A − A* (paper 1, Eq. 16, which drops the 2)."""
    return 2 * arch.vjp(params, problem.covariance @ (arch.coefficients(params) - problem.target))


def gradient_by_differences(arch: Architecture, params: np.ndarray, problem: Problem, step: float = 1e-5) -> np.ndarray:
    """(n_params,) gradient of the loss by central differences of the loss itself; no Jacobian is used."""
    step = finite_number(step, "step", "a positive number")
    moves = step * np.eye(params.size)
    losses = [[problem.loss(arch.coefficients(params + sign * move)) for sign in (1, -1)] for move in moves]
    return np.array([(up - down) / (2 * step) for up, down in losses])


def gradient_gap(arch: Architecture, params: np.ndarray, problem: Problem) -> float:
    """Relative distance between 2K̃ᵀX and the gradient by central differences; zero but for differencing error."""
    exact = gradient(arch, params, problem)
    return float(np.linalg.norm(gradient_by_differences(arch, params, problem) - exact) / np.linalg.norm(exact))


def stationarity(arch: Architecture, params: np.ndarray, problem: Problem) -> float:
    """‖TᵀΣX‖ / ‖ΣX‖, the cosine of ΣX with the tangent space of the model; 0 at a critical point, and where X = 0.

    T is an orthonormal basis of the columns of ∂A/∂W. Where X is zero up to rounding only, the number means nothing.
    """
    force = problem.covariance @ (arch.coefficients(params) - problem.target)
    tangent = ConstraintSpace.from_columns(np.hstack(list(arch.tangents(params).values())), equilibrated=True)
    return float(np.linalg.norm(tangent.basis.T @ force) / (np.linalg.norm(force) or 1.0))


def hessian(arch: Architecture, params: np.ndarray, problem: Problem, step: float = 1e-4) -> np.ndarray:
    """(n_params, n_params) second derivatives of the loss, by central differences of the exact gradient."""
    step = finite_number(step, "step", "a positive number")
    columns = [
        (gradient(arch, params + move, problem) - gradient(arch, params - move, problem)) / (2 * step)
        for move in step * np.eye(params.size)
    ]
    return (np.array(columns) + np.array(columns).T) / 2


@dataclass(frozen=True)
class CriticalPoint:
    """What a critical point is like.

    Attributes
    ----------
    loss : excess variance there. stationarity : see :func:`stationarity`.
    capacity : dimension of the constraint space there.
    n_descents : number of directions in which the loss falls to second order (0 at a local optimum).
    """

    loss: float
    stationarity: float
    capacity: int
    n_descents: int

    @property
    def kind(self) -> str:
        """Whether it is a "saddle" (the loss falls in some direction) or a "local optimum"."""
        return "saddle" if self.n_descents else "local optimum"


def describe(arch: Architecture, params: np.ndarray, problem: Problem) -> CriticalPoint:
    """The :class:`CriticalPoint` at ``params``: loss, stationarity, capacity, directions of descent."""
    curvatures = eigvalsh(hessian(arch, params, problem))
    tangents = np.hstack(list(arch.tangents(params).values()))
    return CriticalPoint(
        loss=problem.loss(arch.coefficients(params)),
        stationarity=stationarity(arch, params, problem),
        capacity=ConstraintSpace.from_columns(problem.covariance @ tangents, equilibrated=True).dimension,
        n_descents=int(np.count_nonzero(curvatures < -FLAT * curvatures[-1])),
    )


def add_channel(arch: Hierarchical, params: np.ndarray) -> tuple[Hierarchical, np.ndarray]:
    """The model with one more channel in every hidden layer, and the parameters with zeros in the new ones.

    The coefficients are the same. At a critical point of the smaller model this is one of the larger model too:
    a path through a new channel has two zero weights, so no single weight changes the coefficients to first order.

    >>> larger, padded = add_channel(Hierarchical(channels=[2, 3], n_layers=3), np.ones(22))
    >>> larger.channels, padded.size, int(padded.sum())
    ([3, 4], 38, 22)
    """
    larger = Hierarchical(
        [c + 1 for c in arch.channels], arch.n_layers, arch.kernel_sizes, arch.dilations, arch.input_dim
    )
    kernels = []
    for kernel, (rows, taps, columns) in zip(arch.kernels(params), larger.kernel_shapes, strict=True):
        wide = ((0, rows - kernel.shape[0]), (0, 0), (0, columns - kernel.shape[2]))
        kernels.append(np.pad(kernel, wide).reshape(rows * taps * columns))
    return larger, np.concatenate(kernels)
