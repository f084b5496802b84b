"""Random subspaces of R^n, with a dimension, a conditioning or a principal angle of one's choice.

What holds for every subspace is tested on these. The columns are drawn from the rotation-invariant
distribution: no direction of R^n is special.
"""

from __future__ import annotations

import numpy as np

from capcore.validation import finite_number, positive_integer


def random_basis(n: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    """(n, dimension) orthonormal basis of a random subspace of R^n; 1 ≤ dimension ≤ n.

    >>> random_basis(4, 2, np.random.default_rng(0)).shape
    (4, 2)
    """
    n, dimension = positive_integer(n, "n"), positive_integer(dimension, "dimension")
    if dimension > n:
        raise ValueError(f"dimension: found {dimension}, expected at most n = {n}.")
    return np.linalg.qr(rng.normal(size=(n, dimension)))[0]


def spanning_columns(basis: np.ndarray, condition: float, rng: np.random.Generator) -> np.ndarray:
    """(n, k + 1) columns that span the same space as ``basis`` (n, k), neither orthogonal nor independent.

    Parameters
    ----------
    condition : largest over smallest non-zero singular value of the columns, at least 1. One column is redundant.
    """
    if not finite_number(condition, "condition", "a number of at least 1") >= 1:
        raise ValueError(f"condition: found {condition!r}, expected a number of at least 1.")
    k = basis.shape[1]
    scales = np.geomspace(1.0, 1.0 / condition, k)
    return basis @ (random_basis(k, k, rng) * scales) @ random_basis(k + 1, k, rng).T


def pair_at_angle(
    n: int, dimensions: tuple[int, int], angle: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal bases (n, k₁), (n, k₂) of two subspaces whose smallest principal angle is ``angle``.

    Parameters
    ----------
    dimensions : k₁ and k₂, with k₁ + k₂ ≤ n. angle : in radians, from 0 (they share a line) to π/2 (orthogonal).

    The other principal angles are drawn uniformly between ``angle`` and π/2.
    """
    k1, k2 = sorted(positive_integer(k, "dimensions") for k in dimensions)
    if k1 + k2 > n:
        raise ValueError(f"dimensions: found {k1} + {k2}, expected a sum of at most n = {n}.")
    if not 0 <= finite_number(angle, "angle", "an angle in [0, π/2]") <= np.pi / 2:
        raise ValueError(f"angle: found {angle!r}, expected an angle in [0, π/2] radians.")
    angles = np.concatenate([[angle], rng.uniform(angle, np.pi / 2, size=k1 - 1)])
    frame = random_basis(n, k1 + k2, rng)
    small, large = frame[:, :k1], frame[:, k1:]
    tilted = small * np.cos(angles) + large[:, :k1] * np.sin(angles)
    second = np.hstack([tilted, large[:, k1:]]) @ random_basis(k2, k2, rng)
    first = small @ random_basis(k1, k1, rng)
    return (first, second) if dimensions[0] <= dimensions[1] else (second, first)
