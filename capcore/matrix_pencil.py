"""The poles of a sequence that is nearly a sum of exponentials, by the matrix pencil of its Hankel matrix.

The Hankel matrix H_ij = A_{i+j} of a sum of c exponentials has rank c, and shifting its column space by one row
multiplies it by the poles (Hua & Sarkar, 1990). Complex poles come in conjugate pairs.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvals, hankel, lstsq, svd


def hankel_svd(target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors (h, h) and singular values (h,) of the Hankel matrix of a target (n,), h = n // 2 ≥ 1."""
    half = target.size // 2
    u, s, _ = svd(hankel(target[:half], target[half - 1 :]), full_matrices=False)
    return u, s


def hankel_rank(target: np.ndarray) -> int:
    """Poles that the target shows in double precision: singular values of its Hankel matrix above 1e-14 of the largest.

    >>> hankel_rank(0.5 ** np.arange(8) + 2 * 0.25 ** np.arange(8))
    2
    """
    if target.size < 2:
        return 0
    s = hankel_svd(target)[1]
    return int(np.count_nonzero(s > 1e-14 * s[0]))


def pencil_poles(target: np.ndarray, count: int) -> np.ndarray:
    """At most ``count`` complex poles of the target, by the matrix pencil of its Hankel matrix, the largest first.

    A target that is a sum of exponentials gives its own poles:

    >>> np.round(pencil_poles(0.5 ** np.arange(8) + 2 * 0.25 ** np.arange(8), 2).real, 9).tolist()
    [0.5, 0.25]
    """
    rank = min(count, hankel_rank(target), target.size // 2 - 1)
    if rank < 1:
        return np.zeros(0, complex)
    u = hankel_svd(target)[0]
    found = eigvals(lstsq(u[:-1, :rank], u[1:, :rank])[0])
    return found[np.argsort(-np.abs(found), kind="stable")]


def real_poles(poles: np.ndarray, count: int) -> np.ndarray:
    """(count,) real poles near the given ones: a complex pair becomes two poles either side of its real part."""
    found: list[float] = []
    for pole in poles:
        if pole.imag > 1e-9:
            found += [pole.real - 0.05, pole.real + 0.05]
        elif pole.imag >= -1e-9:
            found.append(float(pole.real))
    found = found[:count]
    return np.array(found + np.linspace(0, 0.95, count - len(found)).tolist())
