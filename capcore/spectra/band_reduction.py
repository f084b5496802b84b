"""Orthogonal reduction of large matrices to band form, by matrix products with blocks of columns.

LAPACK reduces a matrix to two diagonals in one step, but half of that work is matrix–vector products, which are limited
by memory. Here each block of columns is reduced by a QR decomposition, and the rest is matrix products (Bischof, Lang &
Sun 2000, "A framework for symmetric band reduction"; Großer & Lang 1999 for two sides). LAPACK then reduces the
remaining band to two diagonals by rotations, in a time that grows as n² times the band's width.

With Q = 1 − VTVᵀ (Schreiber & Van Loan 1989), one step on a symmetric A is QᵀAQ = A − VWᵀ − WVᵀ with
W = AVT − ½VTᵀVᵀAVT. For a general A it is Q₁ᵀAQ₂ = A − V₁Y₁ᵀ − Z₂V₂ᵀ with Y₁ᵀ = T₁ᵀV₁ᵀA and Z₂ = (A − V₁Y₁ᵀ)V₂T₂. The
transformations are orthogonal, so rounding errors are of order ε times the norm.
"""

from __future__ import annotations

import numpy as np
import scipy

from capcore.spectra.lapack import call


def gram_matrix(a: np.ndarray) -> np.ndarray:
    """Lower triangle of AᵀA (n, n), in column-major order, for an (m, n) array in either order."""
    m, n = a.shape
    if not a.flags.forc:
        a = np.ascontiguousarray(a)
    transposed, step = ("T", m) if a.flags.f_contiguous else ("N", n)
    found = np.zeros((n, n), order="F")
    call("dsyrk", "L", transposed, n, m, 1.0, a, step, 0.0, found, n)
    return found


def banded_eigenvalues(a: np.ndarray, width: int) -> np.ndarray:
    """Eigenvalues (n,), ascending, of the symmetric (n, n) matrix in the lower triangle of ``a``, which is overwritten.

    ``a`` must be in column-major order, and the band's width at least one.

    >>> banded_eigenvalues(np.array([[2.0, 9.0], [1.0, 2.0]], order="F"), 1).round(12).tolist()
    [1.0, 3.0]
    """
    n = len(a)
    for k in range(0, n - width, width):
        panel, rest = a[k + width :, k : k + width], a[k + width :, k + width :]
        v, t, r = _reflectors(panel)
        panel[: len(r)] = r
        av = np.empty_like(v)
        size, columns = v.shape
        call("dsymm", "L", "L", size, columns, 1.0, rest, n, v, size, 0.0, av, size)
        z = av @ t
        w = np.asfortranarray(z - v @ (0.5 * t.T @ (v.T @ z)))
        call("dsyr2k", "L", "N", size, columns, -1.0, v, size, w, size, 1.0, rest, n)
    width = min(width, n - 1)
    band, found, beside, none = np.zeros((width + 1, n), order="F"), np.empty(n), np.empty(n), np.empty(1)
    for i in range(width + 1):
        band[i, : n - i] = a.diagonal(-i)
    call("dsbtrd", "N", "L", n, width, band, width + 1, found, beside, none, 1, np.empty(n), 0)
    call("dsterf", n, found, beside, 0)
    return found


def banded_singular_values(a: np.ndarray, width: int) -> np.ndarray:
    """Singular values (n,), descending, of the (m, n) matrix ``a``, m ≥ n, which is overwritten.

    ``a`` must be in column-major order, and the band's width at least one.

    >>> banded_singular_values(np.array([[0.0, 2.0], [1.0, 0.0]], order="F"), 1).round(12).tolist()
    [2.0, 1.0]
    """
    m, n = a.shape
    for k in range(0, n, width):
        end = min(k + width, n)
        v, t, r = _reflectors(a[k:, k:end])
        a[k:end, k:end] = r
        if end == n:
            break
        rest = a[k:, end:]
        y = (v @ t).T @ rest
        v2, t2, r2 = _reflectors((rest[: end - k] - v[: end - k] @ y).T)
        a[k:end, end : end + len(r2)] = r2.T
        rest, v, v2t2 = rest[end - k :], v[end - k :], v2 @ t2
        z = rest @ v2t2 - v @ (y @ v2t2)
        left, right = np.vstack([v.T, z.T]), np.vstack([y, v2.T])
        columns, rows = n - end, m - end
        call("dgemm", "N", "T", rows, columns, len(left), -1.0, left, rows, right, columns, 1.0, rest, m)
    return _of_upper_band(a, min(width, n - 1))


def _of_upper_band(a: np.ndarray, width: int) -> np.ndarray:
    """Singular values (n,), descending, of the band of ``a``: its main diagonal and the ``width`` diagonals above."""
    n, none = a.shape[1], np.empty(1)
    band = np.zeros((width + 1, n), order="F")
    for i in range(width + 1):
        band[width - i, i:] = a.diagonal(i)[: n - i]
    found, above = np.empty(n), np.empty(n)
    rotations = (none, 1) * 3  # placeholders, because the rotations are not needed
    call("dgbbrd", "N", n, n, 0, 0, width, band, width + 1, found, above, *rotations, np.empty(2 * n), 0)
    call("dlasq1", n, found, above, np.empty(4 * n), 0)
    return found


def _reflectors(panel: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """QR decomposition of an (m, n) array, k = min(m, n): V (m, k) in column-major order, T (k, k) and R (k, n)."""
    k = min(panel.shape)
    packed, t, _ = scipy.linalg.lapack.dgeqrt(k, np.array(panel, order="F"), overwrite_a=1)
    r, v = np.triu(packed[:k]), packed[:, :k]
    v[:k] = np.tril(v[:k], -1)
    np.fill_diagonal(v, 1.0)
    return v, np.triu(t), r
