"""Least squares: fits of models that are linear in their parameters, which need no descent."""

import numpy as np
from scipy.linalg import svd

from capcore.architectures.columns import rank_tolerance


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
