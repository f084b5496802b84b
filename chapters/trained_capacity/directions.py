"""Directions of targets: functions of the inputs, as orthonormal columns over the examples.

Which capacity an input or a frequency has depends on them. *Whitened*: inputs times the inverse square root of their
covariance, orthonormal and as near to the inputs as such columns can be; *as they are*: each function by itself,
centred and normalised, so that correlated ones share what they have in common.
"""

from itertools import combinations

import numpy as np
from scipy.fft import dctn

SIDE = 8  # of an image


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


def as_they_are(x: np.ndarray) -> np.ndarray:
    """(N, n) centred columns of x with norm one; a constant column is zero."""
    centred = x - x.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    return centred / np.where(norms > 1e-10 * norms.max(), norms, np.inf)


def principal(x: np.ndarray) -> np.ndarray:
    """(N, r) principal components of x, the largest first, with norm one."""
    left, sizes, _ = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    return left[:, sizes > 1e-10 * sizes[0]]


def cosines() -> np.ndarray:
    """(64, 64) orthonormal two-dimensional cosine modes of an image in columns, row by row."""
    return dctn(np.eye(SIDE**2).reshape(-1, SIDE, SIDE), norm="ortho", axes=(1, 2)).reshape(SIDE**2, -1)


def bands() -> np.ndarray:
    """(64,) band 0 … 3 of each cosine mode by its larger frequency, and -1 for the constant one.

    >>> np.bincount(bands()[1:]).tolist()
    [3, 12, 20, 28]
    """
    higher = np.maximum(*np.divmod(np.arange(SIDE**2), SIDE))
    return np.where(higher == 0, -1, higher // 2)


def polynomials(u: np.ndarray) -> dict[str, np.ndarray]:
    """Orthonormal columns for orders of interaction, each orthogonal to those before it and to constants.

    "linear" (N, n); "single" (N, 2n), degrees two and three of one input, by input; "products" (N, n(n − 1)/2) of two
    inputs, in the order of ``itertools.combinations``.

    u : (N, n) inputs of mean zero and variance one, nearly uncorrelated.
    """
    n = u.shape[1]
    blocks = {
        "constant": np.ones((len(u), 1)),
        "linear": u,
        "single": np.stack([u**2 - 1, u**3 - 3 * u], axis=2).reshape(len(u), 2 * n),
        "products": np.stack([u[:, i] * u[:, j] for i, j in combinations(range(n), 2)], axis=1),
    }
    found: dict[str, np.ndarray] = {}
    before = np.zeros((len(u), 0))
    for name, block in blocks.items():
        rest = block - before @ (before.T @ block)
        left, _, right = np.linalg.svd(rest, full_matrices=False)
        found[name] = left @ right  # the orthonormal columns nearest to these
        before = np.hstack([before, found[name]])
    return found


def per_input(singles: np.ndarray, products: np.ndarray) -> np.ndarray:
    """(n,) what is not linear: both polynomials of an input, and half of each product that it is in.

    singles : (2n,) capacities. products : (n(n − 1)/2,) capacities.
    """
    n = len(singles) // 2
    found = singles.reshape(n, 2).sum(axis=1)
    for (i, j), value in zip(combinations(range(n), 2), products, strict=True):
        found[[i, j]] += value / 2
    return found
