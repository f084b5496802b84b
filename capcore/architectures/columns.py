"""Columns of a Jacobian: their scale, and the space that they span in double precision."""

import numpy as np
from scipy.linalg import qr, svd


def rank_tolerance(shape: tuple[int, int], largest: float) -> float:
    """The threshold at or below which singular values count as zero, everywhere in the package.

    ``largest`` · eps · max(shape), as in ``numpy.linalg.matrix_rank``; the larger side is counted as at
    most 64 times the smaller, since by then the columns have been compressed by an orthogonal transformation.
    """
    small, large = sorted(shape)
    return float(largest * np.finfo(float).eps * min(large, 64 * small))


def compress_columns(matrix: np.ndarray) -> np.ndarray:
    """At most n columns with the same column space and the same singular values as ``matrix`` (n, p)."""
    n, p = matrix.shape
    if p <= n:
        return matrix
    (r,) = qr(matrix.T, mode="r", overwrite_a=False, check_finite=False)
    return r[:n].T


def equilibrate(matrix: np.ndarray) -> np.ndarray:
    """``matrix`` with every non-zero column scaled to unit length; the column space is unchanged.

    Lengths are taken after dividing by the largest entry, so that neither 1e±200 overflows.
    """
    largest = np.abs(matrix).max(axis=0)
    scaled = matrix / np.where(largest > 0, largest, 1.0)
    lengths = np.linalg.norm(scaled, axis=0)
    return scaled / np.where(lengths > 0, lengths, 1.0)


def column_space(columns: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, float]:
    """Orthonormal basis (n, r), singular values, descending, and the threshold above which they were counted.

    Parameters
    ----------
    columns : (n, m) array
        Of unit length, or compressed.
    shape : (int, int)
        Of the matrix before compression.
    """
    basis, values, _ = svd(columns, full_matrices=False, check_finite=False)
    threshold = rank_tolerance(shape, float(values[0]))
    return basis[:, : np.count_nonzero(values > threshold)], values, threshold


def numerical_rank(columns: np.ndarray) -> int:
    """Dimension of the space of columns (n, p) whose lengths are as they should be."""
    return column_space(compress_columns(columns), columns.shape)[0].shape[1]
