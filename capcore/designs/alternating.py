"""The best two layers for many inputs: alternating least squares, with products by FFT and no matrix of that size.

Coefficients of rank r are V Uᵀ, with V (n/m, r) and U (m, r). For given U the loss is a quadratic function of V, and
the other way round; each half is improved by conjugate gradients, in which the covariance enters by products alone.
With the fixed factor orthonormal, no half is worse conditioned than Σ.
"""

import numpy as np
from scipy.linalg import qr, svd
from scipy.sparse.linalg import LinearOperator, cg

from capcore.architectures.base import Product

SWEEPS = 300
STEPS = 60  # of conjugate gradients in one half
INEXACT = 1e-2  # of the gradient at the beginning of a half
STILL = 1e-9  # relative decrease of the loss over a sweep at which it ends


def alternating_loss(
    product: Product, target: np.ndarray, size: int, rank: int, floor: float = 0.0, start: np.ndarray | None = None
) -> float:
    """The loss of the optimum that a start leads to, of coefficients that form an n/m × m matrix of a rank.

    Parameters
    ----------
    product : callable
        X (n, k) ↦ ΣX.
    target : (n,) array
        A*.
    size : int
        m.
    rank : int
    floor : float
        A loss at which it may end.
    start : (m, rank) array, optional
        The first U. Default: that of the truncated singular value decomposition of A*.

    Examples
    --------
    >>> a = np.diag([3.0, 2.0, 1.0])
    >>> round(alternating_loss(lambda x: x, a.ravel(), 3, 1), 9)
    5.0
    """
    wanted = np.reshape(target, (-1, size))
    below = svd(wanted, full_matrices=False)[2][:rank].T if start is None else qr(start, mode="economic")[0]
    factors = [wanted @ below, below]  # V and U, one of them orthonormal

    def pull(matrix: np.ndarray) -> np.ndarray:
        return product(matrix.reshape(-1, 1)).reshape(wanted.shape)

    def loss() -> float:
        error = factors[0] @ factors[1].T - wanted
        return float(np.sum(error * pull(error)))

    reached = loss()
    for _ in range(SWEEPS):
        before = reached
        for side, goal, pulled in ((0, wanted, pull), (1, wanted.T, lambda matrix: pull(matrix.T).T)):
            free = _improved(factors[side], factors[1 - side], goal, pulled)
            factors[side], mixed = qr(free, mode="economic")
            factors[1 - side] = factors[1 - side] @ mixed.T
        reached = loss()
        if reached <= floor or before - reached <= STILL * reached:
            break
    return min(reached, before)


def _improved(free: np.ndarray, fixed: np.ndarray, wanted: np.ndarray, pull: Product) -> np.ndarray:
    """One factor, closer to its best values for the other, orthonormal one."""
    residual = (pull(wanted - free @ fixed.T) @ fixed).ravel()
    normal = LinearOperator((free.size,) * 2, lambda step: (pull(step.reshape(free.shape) @ fixed.T) @ fixed).ravel())
    step, _ = cg(normal, residual, rtol=INEXACT, maxiter=STEPS)
    return free + step.reshape(free.shape)
