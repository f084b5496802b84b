"""A proven lower bound of the loss of any stack: low-rank approximation in a metric that lies below Σ.

A stack that is cut above its first m inputs has coefficients A that form an n/m × m matrix of rank at most r. If Σ were
a Kronecker product Q ⊗ P, the least loss of such a matrix would be the sum of the squared singular values of
Q^½ A* P^½ beyond the first r (Eckart & Young 1936; Mirsky 1960). For any P, Q and the largest c with Σ ⪰ c Q ⊗ P, the
loss is at least c times that sum, whatever the architecture and the optimiser.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, eigvalsh, svdvals

LONGEST = 1024
"""Inputs up to which it is computed: it takes the least eigenvalue of an n × n matrix for each place of a cut."""


def proven_losses(covariance: np.ndarray, target: np.ndarray, size: int) -> np.ndarray:
    """(min(m, n/m) + 1,) lower bounds of the loss of coefficients with rank 0, 1, … at the cut of ``size`` = m inputs.

    P is the covariance of m neighbouring inputs, and Q that of blocks, averaged in the metric of P.

    Parameters
    ----------
    covariance : (n, n) array
        Σ, positive definite.
    target : (n,) array
        A*.
    size : int
        m, a divisor of n.

    Examples
    --------
    >>> q, p, a = np.diag([4.0, 1.0]), np.eye(2), np.array([[3.0, 0.0], [0.0, 1.0]])
    >>> proven_losses(np.kron(q, p), a.ravel(), 2).round(9).tolist()
    [37.0, 1.0, 0.0]
    """
    blocks = len(target) // size
    within = covariance[:size, :size]
    solved = cho_solve(cho_factor(within), np.eye(size))
    across = np.einsum("jakb,ab->jk", covariance.reshape(blocks, size, blocks, size), solved) / size
    root_across, root_within = cholesky(across), cholesky(within)
    share = float(eigvalsh(covariance, np.kron(across, within), subset_by_index=(0, 0))[0])
    values = svdvals(root_across @ np.reshape(target, (blocks, size)) @ root_within.T)
    tails = np.append(np.cumsum(np.square(values)[::-1])[::-1], 0.0)
    return max(share, 0.0) * tails
