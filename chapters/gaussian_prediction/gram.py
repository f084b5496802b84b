"""Counting constraints: the singular values of K̃ against the eigenvalues of its Gram matrix (paper 1, section 4.3).

The paper counts the non-zero eigenvalues of K̃K̃ᵀ. They are the squares of the singular values of K̃, so what lies
below √eps of the largest drowns in rounding, and how much lies there depends on the parameters chosen for the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import svdvals

from capcore.architectures.base import Architecture
from capcore.architectures.hierarchical import Hierarchical
from capcore.constraints import ConstraintSpace, gram_eigenvalues
from capcore.optimum import Problem
from capcore.validation import finite_array, finite_number
from chapters.linear_systems.random_spaces import random_basis


@dataclass(frozen=True, eq=False)
class Counts:
    """Two ways to count the directions of K̃ (n, p).

    Attributes
    ----------
    singular_values : (min(n, p),) of K̃ as it is, relative to the largest.
    eigenvalues : (n,) of K̃K̃ᵀ, relative to the largest, descending; some are negative by rounding.
    by_eigenvalues : eigenvalues above n·ε of the largest, the usual threshold.
    by_singular_values : the package's count, :class:`~capcore.constraints.ConstraintSpace`.
    """

    singular_values: np.ndarray
    eigenvalues: np.ndarray
    by_eigenvalues: int
    by_singular_values: int


def count_directions(matrix: object) -> Counts:
    """Both counts for the columns of ``matrix`` (n, p).

    >>> counts = count_directions(np.diag([1.0, 1e-10]))
    >>> counts.by_singular_values, counts.by_eigenvalues
    (2, 1)
    """
    columns = finite_array(matrix, "matrix", 2)
    s, values = svdvals(columns), gram_eigenvalues(columns)
    return Counts(
        singular_values=s / s[0],
        eigenvalues=values / values[0],
        by_eigenvalues=int(np.count_nonzero(values > values.size * np.finfo(float).eps * values[0])),
        by_singular_values=ConstraintSpace.from_columns(columns).dimension,
    )


def constraint_matrix(arch: Architecture, params: np.ndarray, problem: Problem) -> np.ndarray:
    """(n, n_params) K̃ = ΣJ itself, neither scaled nor compressed (paper 1, Eq. 16)."""
    return problem.covariance @ arch.jacobian(params)


def counts_under_mixing(
    arch: Hierarchical, params: np.ndarray, problem: Problem, conditions: Sequence[float] | np.ndarray, seed: int = 0
) -> list[Counts]:
    """Both counts after :func:`regauge` with each condition number, the same random rotations for all of them."""
    mixed = [regauge(arch, params, condition, np.random.default_rng(seed)) for condition in conditions]
    return [count_directions(constraint_matrix(arch, other, problem)) for other in mixed]


def regauge(arch: Hierarchical, params: np.ndarray, condition: float, rng: np.random.Generator) -> np.ndarray:
    """(n_params,) other parameters of the same model: the channels of every hidden layer mixed and mixed back.

    Kernel l is multiplied by a random matrix G_l of the given condition number, kernel l + 1 by its inverse. The
    coefficients and the constraint space do not change; the lengths and angles of the columns of K̃ do.

    >>> arch = Hierarchical(channels=2, n_layers=3)
    >>> params = arch.init(np.random.default_rng(0))
    >>> other = regauge(arch, params, 10.0, np.random.default_rng(1))
    >>> bool(np.allclose(arch.coefficients(other), arch.coefficients(params)))
    True
    """
    if not finite_number(condition, "condition", "a number of at least 1") >= 1:
        raise ValueError(f"condition: found {condition!r}, expected a number of at least 1.")
    kernels = arch.kernels(params)
    for l, width in enumerate(arch.channels):
        left, right = random_basis(width, width, rng), random_basis(width, width, rng)
        scales = np.geomspace(1.0, 1.0 / condition, width) if width > 1 else np.array([1.0 / condition])
        kernels[l] = kernels[l] @ (left * scales) @ right.T
        kernels[l + 1] = np.tensordot(right @ (left / scales).T, kernels[l + 1], 1)
    return np.concatenate([kernel.reshape(-1) for kernel in kernels])
