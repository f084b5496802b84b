"""Balance the layers of a stack: the same coefficients, with neighbouring layers of equal scales.

The channels of a hidden layer may be mixed by any invertible matrix and mixed back by the next layer, whatever the
dilations: the coefficients stay, and a search moves best where neighbouring layers have equal scales.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cholesky, solve, svd

RIDGE = 1e-12  # of the trace: keeps the Gram matrix of an idle channel invertible


def balance(kernels: Sequence[np.ndarray], sweeps: int = 20) -> list[np.ndarray]:
    """Kernels (in, taps, out) with the same coefficients, in which neighbouring layers have equal scales.

    At every hidden layer the channels are mixed so that the Gram matrix of their incoming weights equals that of their
    outgoing weights, and is diagonal. Balanced kernels have the smallest sum of squares.

    >>> [kernel.ravel().tolist() for kernel in balance([np.full((1, 1, 1), 8.0), np.full((1, 1, 1), 2.0)])]
    [[4.0], [4.0]]
    """
    balanced = [kernel.copy() for kernel in kernels]
    for _ in range(sweeps):
        for l in range(len(balanced) - 1):
            mix, unmix = _mixing(balanced[l], balanced[l + 1])
            balanced[l] = balanced[l] @ mix
            balanced[l + 1] = np.einsum("km,mto->kto", unmix, balanced[l + 1])
    return balanced


def _mixing(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M and M⁻¹ (c, c) such that the Gram matrices of lower·M and M⁻¹·upper are equal and diagonal."""
    c = lower.shape[2]
    flat_in, flat_out = lower.reshape(-1, c), upper.reshape(c, -1)
    into, out = flat_in.T @ flat_in, flat_out @ flat_out.T
    if not np.trace(into) > 0 or not np.trace(out) > 0:  # a layer of zeros: nothing to balance
        return np.eye(c), np.eye(c)
    roots = [cholesky(gram + RIDGE * np.trace(gram) * np.eye(c), lower=True) for gram in (into, out)]
    u, s, _ = svd(roots[0].T @ roots[1])
    mix = solve(roots[0].T, u) * np.sqrt(s)
    unmix = (u / np.sqrt(s)).T @ roots[0].T
    return mix, unmix
