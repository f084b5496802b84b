"""Fits of models that are linear in some parameters: those are eliminated by a projection, which is exact.

If the coefficients are A = Bw + A₂(W₂), the best w for any W₂ is a least-squares solution. What is left of the loss is
‖(I − P) R (A₂(W₂) − A*)‖², with P the projection onto the columns of RB. It is the loss of the other branch alone under
the Schur complement Σ − ΣB(BᵀΣB)⁻¹BᵀΣ in the place of Σ, so that any method for one branch fits both (variable
projection: Golub & Pereyra 1973).
"""

import numpy as np
from scipy.linalg import lstsq, qr, svd

from capcore.architectures.columns import rank_tolerance
from capcore.architectures.linear import Linear
from capcore.architectures.sum import Sum
from capcore.processes.problem import Problem

NOTHING = 1e-12  # of the largest singular value: what a projection leaves of directions that it removes is rounding


def has_linear_part(arch: object) -> bool:
    """Whether the model, or a branch of a sum, is linear in its parameters.

    >>> from capcore.architectures import AutoRegressiveTaps, Hierarchical
    >>> has_linear_part(Sum(Hierarchical(1, 2), AutoRegressiveTaps(2))), has_linear_part(Hierarchical(1, 2))
    (True, False)
    """
    branches = (arch.one, arch.other) if isinstance(arch, Sum) else (arch,)
    return any(isinstance(branch, Linear) for branch in branches)


def least_squares(
    columns: np.ndarray, values: np.ndarray, tolerance: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """w that minimises ‖columns · w − values‖, the shortest for columns of unit length, and a basis of their span.

    Columns are scaled first. Singular values up to ``tolerance`` of the largest are dropped, by default those up to
    :func:`~capcore.architectures.columns.rank_tolerance`.
    """
    norms = np.linalg.norm(columns, axis=0)
    norms[norms == 0] = 1.0
    u, s, vt = svd(columns / norms, full_matrices=False, check_finite=False)
    counted = s > (rank_tolerance(columns.shape, float(s[0])) if tolerance is None else tolerance * s[0])
    u, s, vt = u[:, counted], s[counted], vt[counted]
    return vt.T @ ((u.T @ values) / s) / norms, u


def without(problem: Problem, basis: np.ndarray, size: int) -> Problem:
    """The problem that is left for the first ``size`` coefficients, once those along ``basis`` (n, p) are free.

    >>> from capcore.architectures import AutoRegressiveTaps
    >>> from capcore.processes import PowerLaw
    >>> posed = Problem.of(AutoRegressiveTaps(4), PowerLaw())
    >>> left = without(posed, np.eye(4)[:, :2], 4)
    >>> round(left.loss(np.zeros(4)) - left.loss(np.array([1.0, 1.0, 0.0, 0.0])), 12)
    0.0
    """
    _, span = least_squares(problem.root @ basis, problem.root @ problem.target)
    root = problem.root - span @ (span.T @ problem.root)
    if size == problem.target.size:
        return Problem(problem.target, root.T @ root, root, problem.variance)
    whole = root @ problem.target
    target = lstsq(root[:, :size], whole, NOTHING, check_finite=False)[0]
    missed = float(np.sum(np.square(whole - root[:, :size] @ target)))
    (upper,) = qr(root[:, :size], mode="r", check_finite=False)
    return Problem(target, upper[:size].T @ upper[:size], upper[:size], problem.variance + missed)
