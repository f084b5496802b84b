"""Singular values of one large matrix: the fastest route whose error is known to be small enough.

LAPACK's own (``gesdd``, which ``numpy.linalg.svd`` and ``scipy.linalg.svd`` call) reduces the matrix to two diagonals,
mostly by products of matrix and vector. Two other routes do nearly all of their work in products of matrices:

``gram``
    Eigenvalues λ = σ² of the smaller Gram matrix. Each is off by about (10 + √m)·ε·λ_max, with m the longer side, so
    that small ones lose relative accuracy. The route is taken for matrices clearly longer than wide, and refused
    unless that error is at most 1e-8 of the smallest λ. (The bound is empirical: the largest error found is two thirds
    of it, at λ_max, where LAPACK's own variants differ by a third as much.)
``band``
    Orthogonal transformations to a band, and LAPACK from there on (:mod:`capcore.spectra.band_reduction`); before
    them a QR decomposition of what is much longer than wide. Every σ is off by a small multiple of ε·σ_max, as LAPACK's
    are.

``svd`` is LAPACK's own, where SciPy lacks a routine that these need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from threadpoolctl import threadpool_limits

from capcore.gate import plain_array, plain_number, whole
from capcore.spectra.band_reduction import banded_eigenvalues, banded_singular_values, gram_matrix
from capcore.spectra.lapack import available

EPSILON = float(np.finfo(float).eps)
RELATIVE = 1e-8
"""Largest relative error of an eigenvalue of the Gram matrix."""
OBLONG = 1.25
"""Longer over shorter side from which on the smallest eigenvalue of a Gram matrix is tried."""
QR_FIRST = 5 / 3
"""The same from which on a QR decomposition first needs fewer operations (Chan 1982)."""
LARGE, NARROW, WIDE = 512, 16, 32
"""Smaller side from which on these routes save time, and widths of the band, by measurement on one processor."""
ORDINARY = 400
"""Largest entries within 2^±400 are squared as they are."""


@dataclass(frozen=True)
class SingularValues:
    """Singular values of a matrix.

    Attributes
    ----------
    values : (n,) array
        Descending, n = min(rows, columns).
    method : str
        ``gram``, ``band`` or ``svd``: the route that gave them.
    """

    values: np.ndarray
    method: str


def large_singular_values(matrix: np.ndarray, *, width: int | None = None) -> SingularValues:
    """The :class:`~capcore.spectra.singular_values.SingularValues` of a real (rows, columns) matrix, in double
    precision.

    For sides from ``LARGE`` on: below, its values are as good, but those of LAPACK's own route are there as soon.

    Parameters
    ----------
    matrix : (rows, columns) array
    width : int, optional
        Of the band; by default 16, and 32 beside more than 1500 rows and columns.

    Raises
    ------
    ValueError
        For values that are not finite, or arrays that are no matrix.

    Examples
    --------
    >>> found = large_singular_values(np.array([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]]))
    >>> found.values.round(12).tolist(), found.method
    ([4.0, 3.0], 'gram')
    """
    matrix = plain_array(matrix, "matrix")
    width = plain_number(width, "width")
    whole(width, "width", True)
    tall, exponent = _scaled(matrix)
    width = width or (NARROW if tall.shape[1] <= 1500 else WIDE)
    try:
        values, method = _routes(tall, width)
    except np.linalg.LinAlgError:
        values, method = np.linalg.svd(tall, compute_uv=False), "svd"
    return SingularValues(np.ldexp(values, exponent), method)


def _routes(tall: np.ndarray, width: int) -> tuple[np.ndarray, str]:
    if not available():
        raise np.linalg.LinAlgError
    m, n = tall.shape
    if m >= OBLONG * n and (values := _by_gram_matrix(tall, width)) is not None:
        return values, "gram"
    work = np.array(tall, order="F")
    if m > QR_FIRST * n:
        work = np.asfortranarray(np.triu(scipy.linalg.lapack.dgeqrf(work, lwork=64 * n, overwrite_a=1)[0][:n]))
    with _one_thread():
        return banded_singular_values(work, width), "band"


def _one_thread() -> Any:
    """BLAS on one thread: NumPy's and SciPy's take turns here, and the threads of each wait by spinning."""
    available()  # SciPy's is loaded
    return threadpool_limits(1, user_api="blas")


def _scaled(matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """The matrix, at least as long as wide, in double precision and near one, and the power of two taken out of it."""
    matrix = np.asarray(matrix, dtype=float)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"matrix: found the shape {matrix.shape}, expected (rows, columns), each at least one.")
    largest = float(max(matrix.max(), -matrix.min()))
    if not np.isfinite(largest):
        raise ValueError("matrix: found NaN or infinite values, expected finite numbers.")
    exponent = int(np.frexp(largest)[1])
    exponent = exponent if abs(exponent) > ORDINARY else 0
    matrix = np.ldexp(matrix, -exponent) if exponent else matrix
    return (matrix if len(matrix) >= matrix.shape[1] else matrix.T), exponent


def _by_gram_matrix(tall: np.ndarray, width: int) -> np.ndarray | None:
    """(n,) singular values, descending, or None where the smallest is less accurate than ``RELATIVE`` allows.

    Columns of zeros are left out of the Gram matrix: their singular values are exactly zero.
    """
    m, n = tall.shape
    gram = gram_matrix(tall)
    kept = gram.diagonal() > 0
    if not kept.all():
        if tall[:, ~kept].any() or not kept.any():
            return None
        gram = np.asfortranarray(gram[np.ix_(kept, kept)])
    with _one_thread():
        eigenvalues = banded_eigenvalues(gram, width)
    if not eigenvalues[0] >= smallest_accepted(m, eigenvalues[-1]):
        return None
    return np.append(np.sqrt(eigenvalues[::-1]), np.zeros(n - len(eigenvalues)))


def smallest_accepted(m: int, largest: float) -> float:
    """The eigenvalue of a Gram matrix over m rows that is just known to ``RELATIVE``, beside its largest one.

    >>> f"{smallest_accepted(8192, 1.0):.1e}"
    '2.2e-06'
    """
    return (10 + m**0.5) * EPSILON * largest / RELATIVE
