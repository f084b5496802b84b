"""Eigenvalues of noise without its matrix: a Gaussian matrix has the singular values of a band of random numbers.

Householder reflections reduce an N × M matrix of independent standard normal entries, M ≤ N, to two diagonals. What is
not yet reduced stays Gaussian and independent of what is, so all entries of the result are known beforehand: χ
variables with N, N − 1, … degrees of freedom on the diagonal, and with M − 1, M − 2, … above it (Silverstein 1985;
Dumitriu & Edelman 2002). A draw therefore needs 2M − 1 random numbers, memory for a few vectors, and some M²
operations, in which LAPACK computes the eigenvalues of the tridiagonal matrix BBᵀ from the two diagonals (``dsterf``, a
quarter faster than ``dlasq1``). Their errors are a small multiple of ε·λ_max. The smallest eigenvalue of noise is far
above that: it is about λ_max/(4M²) for a square matrix, and larger for any other.

Reducing b columns at a time gives b diagonals above the main one instead: χ variables with M − b, M − b − 1, … degrees
of freedom on the outermost, and normal numbers between. The first b rows and columns then stay apart from the others,
so a fixed b × b block can be added to them (Bloemendal & Virág 2016 treat spikes in this way). This is how a few large
entries are drawn in a matrix of noise: rows and columns can be permuted, so any positions will do.
"""

import numpy as np
import scipy

from capcore.checks.arguments import all_of_kind, of_kind, positive_integer

NONE = np.zeros((0, 0))
"""No block."""


def noise_eigenvalues(shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Draw the eigenvalues (m,), descending, of WᵀW for a matrix W of independent standard normal entries.

    They are N times those of paper 3, Eq. 2, for weights of unit variance, m = min(shape), and have exactly the law of
    the eigenvalues of such a matrix, which is never formed.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of W.
    rng : Generator
        Source of the 2m − 1 random numbers.

    Examples
    --------
    >>> values = noise_eigenvalues((400, 100), np.random.default_rng(0)) / 400
    >>> values.shape, bool(abs(values.mean() - 1) < 0.05), bool(2.1 < values[0] < 2.4)  # the bulk ends at 2.25
    ((100,), True, True)
    """
    all_of_kind(shape, "shape", int | np.integer, "whole numbers", 2)
    of_kind(rng, "rng", np.random.Generator)
    rows, columns = (positive_integer(side, "shape") for side in shape)
    return eigenvalues_of(band((rows, columns), rng, NONE))


def band(shape: tuple[int, int], rng: np.random.Generator, block: np.ndarray) -> list[np.ndarray]:
    """Draw an upper band matrix (m, m) with the singular values of noise: its diagonals, the main one first.

    ``block`` (b, b) : entries that W has in its first b rows and columns, b at most m/2. Where it is zero, W stays
    random.
    """
    n, m = max(shape), min(shape)
    entries = block.T if shape[0] < shape[1] else block
    b = max(1, len(entries))
    diagonals = [np.sqrt(rng.chisquare(n - np.arange(m)))]
    diagonals += [rng.standard_normal(m - k) for k in range(1, b)]
    diagonals += [np.sqrt(rng.chisquare(m - b - np.arange(m - b)))] if m > b else []
    if entries.any():
        first = _first_block(entries, n, rng)
        for k in range(b):
            diagonals[k][: b - k] = first.diagonal(k)
    return diagonals


def eigenvalues_of(diagonals: list[np.ndarray]) -> np.ndarray:
    """Eigenvalues (m,) of BBᵀ, descending, for an upper band matrix B such as of :func:`band`."""
    diagonal, beside = _tridiagonal(diagonals)
    eigenvalues = scipy.linalg.lapack.dsterf(diagonal, beside)[0] if len(beside) else diagonal
    return np.maximum(eigenvalues, 0.0)[::-1]


def _first_block(entries: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Triangular factor (b, b) of the first b columns: the block, and below it n − b rows of normal numbers.

    Only the triangular factor of those rows is drawn: χ variables on its diagonal and normal numbers above.
    """
    b = len(entries)
    if b == 1:
        return np.sqrt(entries**2 + rng.chisquare(n - 1))
    core = np.where(entries != 0, entries, rng.standard_normal((b, b)))
    below = np.triu(rng.standard_normal((b, b)), 1)
    np.fill_diagonal(below, np.sqrt(rng.chisquare(n - b - np.arange(b))))
    return np.asarray(np.linalg.qr(np.concatenate([core, below]), mode="r"))


def _tridiagonal(diagonals: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal (m,) and off-diagonal (m − 1,) of a tridiagonal matrix with the eigenvalues of BBᵀ.

    ``diagonals`` : of the upper band matrix B, the main one first. LAPACK leaves the tridiagonal form in place of the
    band BBᵀ when it is asked for a single eigenvalue.
    """
    m, width = len(diagonals[0]), len(diagonals) - 1
    gram = np.zeros((max(width, 1) + 1, m), order="F")
    for k in range(width + 1):
        for p in range(width + 1 - k):  # B[i, i + k + p]·B[i + k, i + k + p] is a part of entry (i + k, i)
            gram[k, : m - k - p] += diagonals[k + p] * diagonals[p][k:]
    unit = np.ldexp(1.0, np.frexp(gram.max())[1])  # LAPACK would scale large numbers, and leave them so
    if width > 1:
        gram /= unit
        scipy.linalg.lapack.dsbevx(gram, 0, 0, 1, 1, compute_v=0, range=2, lower=1, overwrite_ab=1)
        gram *= unit
    return gram[0], gram[1, : m - 1]
