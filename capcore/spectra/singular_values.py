"""Singular values of one large matrix, by the fastest route whose error is known to be small enough.

LAPACK's own route (``gesdd``, which ``numpy.linalg.svd`` and ``scipy.linalg.svd`` call) reduces the matrix to two
diagonals, mostly by matrix–vector products, which are slow. Two other routes use matrix–matrix products almost
everywhere:

``gram``
    Eigenvalues λ = σ² of the smaller Gram matrix. Their errors are about (10 + √m)·ε·λ_max, where m is the longer side,
    so small ones lose relative accuracy. The route is tried for matrices that are clearly longer than wide, and used
    only if this error is at most 1e-8 of the smallest λ. (The bound is empirical. The largest error seen was two thirds
    of it, at λ_max, where LAPACK's own variants differ by a third as much.)
``band``
    Orthogonal transformations to band form, which LAPACK then takes further (:mod:`capcore.spectra.band_reduction`). A
    matrix that is much longer than wide gets a QR decomposition first. As with LAPACK, the error of every σ is a small
    multiple of ε·σ_max.

The fallback, if SciPy lacks a routine that these need, is LAPACK's own route, ``svd``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from threadpoolctl import threadpool_limits

from capcore.checks.arguments import plain_array, plain_number, whole
from capcore.results.notebook import as_table
from capcore.spectra.band_reduction import banded_eigenvalues, banded_singular_values, gram_matrix
from capcore.spectra.lapack import available

EPSILON = float(np.finfo(float).eps)
RELATIVE = 1e-8
"""Largest relative error that is accepted for an eigenvalue of the Gram matrix."""
OBLONG = 1.25
"""Ratio of the longer to the shorter side from which the Gram matrix is tried."""
QR_FIRST = 5 / 3
"""Ratio of the sides above which starting with a QR decomposition saves operations (Chan 1982)."""
LARGE, NARROW, WIDE = 512, 16, 32
"""Shorter side from which these routes save time, and two widths of the band, as measured on one processor."""
ORDINARY = 400
"""Matrices whose largest entry is within 2^±400 are squared without rescaling."""


@dataclass(frozen=True)
class SingularValues:
    """Singular values of a matrix.

    Attributes
    ----------
    values : (n,) array
        The singular values, descending, with n = min(rows, columns).
    method : str
        The route that computed them: ``gram``, ``band`` or ``svd``.
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    values: np.ndarray
    method: str

    _repr_html_ = as_table


def large_singular_values(matrix: np.ndarray, *, width: int | None = None) -> SingularValues:
    """Compute the :class:`~capcore.spectra.singular_values.SingularValues` of a real matrix in double precision.

    It saves time if both sides are at least ``LARGE``. For smaller matrices its values are just as good, but LAPACK's
    own route is as fast.

    Parameters
    ----------
    matrix : (rows, columns) array
    width : int, optional
        Width of the band: by default 16, or 32 if both sides exceed 1500.

    Raises
    ------
    ValueError
        If values are not finite, or if the array is not a matrix.

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
    """Limit BLAS to one thread, because NumPy's and SciPy's take turns here, and waiting threads of each spin."""
    available()  # loads SciPy's BLAS, so that the limit applies to it
    return threadpool_limits(1, user_api="blas")


def _scaled(matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """Turn a matrix so that it is at least as long as wide, and divide it by a power of two if its scale is unusual.

    Returns the matrix in double precision, and the exponent of that power.
    """
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
    """Singular values (n,), descending, or None if the smallest is less accurate than ``RELATIVE`` allows.

    Columns of zeros are left out of the Gram matrix, because their singular values are exactly zero.
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
    """Smallest eigenvalue that a Gram matrix over m rows gives to within ``RELATIVE``, if its largest is ``largest``.

    >>> f"{smallest_accepted(8192, 1.0):.1e}"
    '2.2e-06'
    """
    return (10 + m**0.5) * EPSILON * largest / RELATIVE
