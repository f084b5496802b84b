"""What happens to capacity that leaves the range of positions.

``periodic``
    It comes back at the other end: circular convolution.
``absorbing``
    It is gone: zero padding. What is lost is counted.
``reflecting``
    It is folded back at the edge, mirror-symmetrically: position −1 is position 0, −2 is 1, and so on.
``renormalised``
    None of it is sent, and the columns near the edge are scaled up to their full sum: a convolution whose weights are
    normalised at every output separately. For nearest neighbours it agrees with ``reflecting`` to first order in the
    rates, so that both have one limit.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from capcore.validation import one_of

BOUNDARIES = ("periodic", "absorbing", "reflecting", "renormalised")


def check_boundary(boundary: object) -> str:
    """``boundary`` if it is one of ``BOUNDARIES``.

    >>> check_boundary("absorbin")
    Traceback (most recent call last):
    ...
    ValueError: boundary: found 'absorbin', expected one of ... Did you mean 'absorbing'?
    """
    return one_of(boundary, "boundary", BOUNDARIES)


def moved(positions: np.ndarray, length: int, boundary: str) -> tuple[np.ndarray, np.ndarray]:
    """Positions (m,) brought back into 0 … length − 1, and which of them (m,) are inside.

    >>> moved(np.array([-1, 0, 4, 9]), 4, "reflecting")[0].tolist()
    [0, 0, 3, 1]
    """
    inside = (positions >= 0) & (positions < length)
    if boundary in ("absorbing", "renormalised"):
        return np.where(inside, positions, 0), inside
    everywhere = np.ones(positions.shape, dtype=bool)
    if boundary == "periodic":
        return positions % length, everywhere
    folded = positions % (2 * length)
    return np.where(folded < length, folded, 2 * length - 1 - folded), everywhere


def convolution_operator(
    kernel: np.ndarray, offsets: np.ndarray, shape: tuple[int, ...], boundary: str
) -> tuple[sparse.csr_array, np.ndarray]:
    """Sparse matrix of a convolution, and what every column loses at an absorbing boundary.

    Parameters
    ----------
    kernel : (in, m, out) numbers of any sign, one (in, out) block for every offset. offsets : (m, d) whole numbers.
    shape : numbers of positions along the d axes. boundary : see the module.

    Returns
    -------
    matrix : (n · in, n · out), position-major, for n positions; entry ((y + j, i), (y, o)) is kernel[i, j, o].
    lost : (n · out,) what is missing in each column. Zero but for ``absorbing``.
    """
    below, _, above = kernel.shape
    n = int(np.prod(shape))
    starts = np.indices(shape).reshape(len(shape), n)
    rows, columns, values = [], [], []
    lost = np.zeros((n, above))
    for tap, offset in enumerate(offsets):
        landed = [moved(y + j, size, boundary) for y, j, size in zip(starts, offset, shape, strict=True)]
        inside = np.logical_and.reduce([kept for _, kept in landed])
        target = np.ravel_multi_index([where for where, _ in landed], shape)
        lost[~inside] += kernel[:, tap].sum(axis=0)
        for i, o in np.argwhere(kernel[:, tap]):
            rows.append(target[inside] * below + i)
            columns.append(np.flatnonzero(inside) * above + o)
            values.append(np.full(int(inside.sum()), kernel[i, tap, o]))
    empty = [np.zeros(0, dtype=int)]
    at = (np.concatenate(rows or empty), np.concatenate(columns or empty))
    matrix = sparse.csr_array((np.concatenate(values or [np.zeros(0)]), at), shape=(n * below, n * above))
    if boundary != "renormalised":
        return matrix, lost.reshape(-1)
    full = np.tile(kernel.sum(axis=(0, 1)), n)
    kept = full - lost.reshape(-1)
    if (bad := (kept <= 0) & (full > 0)).any():
        column = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"boundary: 'renormalised' needs something left to scale up, but all of column {column} leaves the "
            f"{'×'.join(map(str, shape))} positions. Use more positions or another boundary."
        )
    scale = np.divide(full, kept, out=np.ones_like(full), where=full > 0)
    return (matrix @ sparse.diags_array(scale)).tocsr(), np.zeros_like(full)
