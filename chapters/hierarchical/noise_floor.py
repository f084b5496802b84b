"""Telling zero eigenvalues from small ones by the negative ones (paper 1, section 5.1.2, footnote 7).

K̃K̃ᵀ has no negative eigenvalues; those that come out negative are rounding, and their size is that of the noise.
"""

from __future__ import annotations

import numpy as np

from capcore.architectures.base import Architecture
from capcore.constraints import gram_eigenvalues
from capcore.optimum import Problem
from capcore.validation import finite_array, positive_integer


def noise_scale(eigenvalues: object) -> float:
    """Modulus of the most negative eigenvalue; 0 where none is negative.

    >>> noise_scale([1.0, 1e-16, -2e-16])
    2e-16
    """
    return max(-float(finite_array(eigenvalues, "eigenvalues", 1).min()), 0.0)


def count_above_noise(eigenvalues: object, factor: float = 1.0) -> int:
    """Number of eigenvalues above ``factor`` times the noise scale: the paper's κ.

    >>> count_above_noise([1.0, 3e-16, -2e-16]), count_above_noise([1.0, 3e-16, -2e-16], factor=10)
    (2, 1)
    """
    values = finite_array(eigenvalues, "eigenvalues", 1)
    return int(np.count_nonzero(values > factor * noise_scale(values)))


def counts_over_orders(matrix: object, n_orders: int, rng: np.random.Generator, factor: float = 1.0) -> np.ndarray:
    """(n_orders,) that count for the same K̃ (n, p) with its rows and columns in random orders.

    Order changes no eigenvalue of K̃K̃ᵀ, only how its rounding falls: a sound rule gives one number.
    """
    columns = finite_array(matrix, "matrix", 2)
    counts = []
    for _ in range(positive_integer(n_orders, "n_orders")):
        shuffled = columns[rng.permutation(columns.shape[0])][:, rng.permutation(columns.shape[1])]
        counts.append(count_above_noise(gram_eigenvalues(shuffled), factor))
    return np.array(counts)


def model_eigenvalues(arch: Architecture, params: np.ndarray, problem: Problem) -> np.ndarray:
    """(n,) eigenvalues of K̃K̃ᵀ, K̃ = Σ ∂A/∂W, at the given parameters, descending: the paper's Λ."""
    return gram_eigenvalues(problem.covariance @ arch.jacobian(params))
