"""Directions of targets: linear functions of the inputs, as orthonormal columns over the examples."""

import numpy as np


def whitened(x: np.ndarray) -> np.ndarray:
    """(N, n) centred columns of x times the inverse square root of their covariance, over √N.

    Where the columns are dependent, as constant pixels are, it is the pseudo-inverse: what it sums to is the rank.

    >>> z = whitened(np.random.default_rng(0).normal(size=(50, 3)))
    >>> np.allclose(z.T @ z, np.eye(3))
    True
    """
    left, sizes, right = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    kept = sizes > 1e-10 * sizes[0]
    return left[:, kept] @ right[kept]
