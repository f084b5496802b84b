"""Eigenvalues of WᵀW, for stacks of matrices and for the linear map that a convolution applies.

Both are computed from the smaller Gram matrix in double precision, which is two to three times faster than singular
values. The price is the relative accuracy of the smallest eigenvalues. Each eigenvalue has an error of at most
(10 + max(rows, columns))·ε·λ_max, so smaller ones are meaningless. (Rounding errors that all add up could be larger,
but every test against singular values stays well within this bound.) Zeros that follow from rows or
columns of zeros are exact, and they are counted.

A convolution with circular padding does not mix frequencies, whatever the size of its grid. At each frequency f it is
one small matrix, the kernel's discrete Fourier transform Σ_τ W_τ exp(−2πi f·τ), and its singular values are those of
all these matrices together (Sedghi, Gupta & Long 2019). With a stride s, the coarser output grid cannot tell certain
frequencies apart, so their matrices are joined side by side and divided by √s per axis. Zero padding gives a different
map, but its spectrum is close if the grid is much larger than the kernel.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from capcore.checks.arguments import plain_array, positive_integer
from capcore.results.notebook import Record

BLOCK = 4096  # rows converted to double precision at a time
ENTRIES = 2**22  # complex numbers in one batch of frequencies, 64 MiB
SMALLEST = 1e-303
"""Above this, the largest eigenvalue keeps its digits, because the smallest numbers, 5e-324 apart, are far finer."""


@dataclass(frozen=True, repr=False)
class GramSpectra(Record):
    """Spectra of a stack of matrices, with m = min(rows, columns) eigenvalues each.

    Attributes
    ----------
    eigenvalues : (..., m) array
        Eigenvalues of WᵀW or W Wᵀ, whichever is smaller: descending, non-negative, and not divided by N.
    n_zeros : (...) array
        Number of eigenvalues that are exactly zero because rows or columns are zero.
    """

    eigenvalues: np.ndarray
    n_zeros: np.ndarray


def gram_spectra(matrices: np.ndarray) -> GramSpectra:
    """Spectra of real or complex matrices (..., rows, columns), N times those of paper 3, Eq. 2.

    Values that are not finite raise ``ValueError``, and so do values whose squares overflow or underflow.

    >>> gram_spectra(np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 0.0]])).eigenvalues.tolist()
    [9.0, 4.0]
    """
    matrices = plain_array(matrices, "matrices", "c")
    if matrices.ndim < 2 or not min(matrices.shape[-2:]):
        raise ValueError(f"matrices: found the shape {matrices.shape}, expected (…, rows, columns), each at least one.")
    largest = np.abs(matrices).max(axis=(-2, -1)) if matrices.size else np.zeros(matrices.shape[:-2])
    if not np.isfinite(largest).all():
        raise ValueError("matrices: found NaN or infinite values, expected finite numbers.")
    exponents = np.maximum(np.frexp(largest.astype(float))[1], -1022)  # scaling by powers of two is exact
    values = np.linalg.eigvalsh(_gram(matrices, exponents))[..., ::-1]
    nonzero = matrices != 0
    rows, columns = (nonzero.any(axis=axis).sum(axis=-1) for axis in (-1, -2))
    n_zeros = values.shape[-1] - np.minimum(rows, columns)
    beyond = np.arange(values.shape[-1]) >= (values.shape[-1] - n_zeros)[..., None]
    values = np.where(beyond, 0.0, np.maximum(values, 0.0))
    with np.errstate(over="ignore"):
        values = np.ldexp(values, 2 * exponents[..., None])
    small = largest.any() and values.max() < SMALLEST
    if small or not np.isfinite(values).all():
        expected = f"from {SMALLEST:g}" if small else "below 1e308"
        raise ValueError(f"matrices: found entries up to {largest.max():.1e}, expected squares {expected}. Rescale.")
    return GramSpectra(values, n_zeros)


def _gram(matrices: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Products (..., m, m) along the longer axis, in blocks so that a mapped file of half precision stays on disk."""
    if matrices.shape[-2] < matrices.shape[-1]:
        matrices = matrices.swapaxes(-1, -2)
    kind = complex if np.iscomplexobj(matrices) else float
    scale = np.ldexp(1.0, -exponents)[..., None, None]
    gram = np.zeros((*matrices.shape[:-2], matrices.shape[-1], matrices.shape[-1]), kind)
    for start in range(0, matrices.shape[-2], BLOCK):
        block = matrices[..., start : start + BLOCK, :].astype(kind) * scale
        gram += block.conj().swapaxes(-1, -2) @ block
    return gram


def operator_spectra(weights: np.ndarray, grid: int, *, stride: int = 1) -> GramSpectra:
    """Spectrum of a circular convolution: λ = σ² over all frequencies and groups, descending.

    There are groups·Π(grid/stride)·min(out/groups, in/groups·Π stride) values, as many as the smaller Gram matrix of
    the whole map has. The offset of the padding does not matter, because shifts are unitary.

    Parameters
    ----------
    weights : (groups, out/groups, in/groups, *kernel) array
        Weights as returned by :meth:`~capcore.spectra.layers.Layer.weights`.
    grid : int
        Number of input positions along each axis of the kernel. A longer kernel wraps around.
    stride : int
        Stride of the layer along each axis. It must divide the grid.

    Raises
    ------
    ValueError
        If the stride does not divide the grid, because then there is no circular map.

    Examples
    --------
    >>> operator_spectra(np.array([[[[1.0, 1.0]]]]), 4).eigenvalues.round(12).tolist()
    [4.0, 2.0, 2.0, 0.0]
    """
    weights = plain_array(weights, "weights")
    grid, stride = positive_integer(grid, "grid"), positive_integer(stride, "stride")
    matrix_shape(weights.shape, grid, stride)
    parts = [(gram_spectra(m), times) for group in weights for m, times in _matrices(group, grid, stride)]
    values = np.concatenate([np.repeat(spectra.eigenvalues, times, axis=0).ravel() for spectra, times in parts])
    n_zeros = sum(int(spectra.n_zeros @ times) for spectra, times in parts)
    return GramSpectra(np.sort(values)[::-1], np.array(n_zeros))


def matrix_shape(shape: Sequence[int], grid: int, stride: int = 1) -> tuple[tuple[int, int], int]:
    """Rows and columns of the matrix at one frequency, and the number of frequencies, for weights of this shape.

    >>> matrix_shape((1, 16, 8, 3, 3), 32, 2)
    ((16, 32), 256)
    """
    n_axes = len(shape) - 3
    if n_axes < 1:
        raise ValueError(f"weights: found the shape {(*shape,)}, expected (groups, out/groups, in/groups, *kernel).")
    if grid % stride:
        raise ValueError(f"stride: found {stride} on {grid} positions, expected a divisor. Take another grid.")
    return (shape[1], shape[2] * stride**n_axes), (grid // stride) ** n_axes


def _matrices(weights: np.ndarray, grid: int, stride: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield batches of matrices (b, out, in·Π stride) and how often each occurs (b,): real weights pair f with −f.

    Taken once, both have the same eigenvalues to the last bit; a tail is cut at one of them, and rounding that parts
    them would move the cut.
    """
    n_out, n_in, *kernel = weights.shape
    taps = weights.reshape(n_out * n_in, -1).astype(float)
    offsets = np.array(list(np.ndindex(*kernel)))  # (taps, axes)
    coarse = (grid // stride,) * len(kernel)
    frequencies, multiplicities = _half(coarse)
    aliases = np.array(list(np.ndindex((stride,) * len(kernel)))) * coarse  # (Π stride, axes)
    batch = max(1, ENTRIES // (n_out * n_in * len(aliases)))
    for start in range(0, len(frequencies), batch):
        some = frequencies[start : start + batch, None, :] + aliases  # (b, Π stride, axes)
        phases = np.exp(-2j * np.pi * ((some @ offsets.T) % grid) / grid)  # whole turns are removed exactly
        symbol = (phases @ taps.T).reshape(*some.shape[:2], n_out, n_in) / np.sqrt(len(aliases))
        yield np.moveaxis(symbol, 1, 2).reshape(len(some), n_out, -1), multiplicities[start : start + batch]


def _half(coarse: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """One of each pair of frequencies f and −f of a grid, and the number of frequencies, 1 or 2, that it represents."""
    frequencies = np.array(list(np.ndindex(*coarse)))
    index = np.arange(len(frequencies))
    mirrored = np.ravel_multi_index(tuple((-frequencies % coarse).T), coarse)
    first = index <= mirrored
    return frequencies[first], np.where(index == mirrored, 1, 2)[first]
