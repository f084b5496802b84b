"""Eigenvalues of WᵀW: of stacks of matrices, and of the linear map that a convolution applies.

Both by way of the smaller Gram matrix in double precision, two to three times faster than singular values. What it
costs is relative accuracy of the smallest eigenvalues: each is off by at most ``resolution`` = (10 + max(rows,
columns))·ε·λ_max, so that those below it say nothing. (Rounding errors that all add up could be larger; the bound
holds, with room to spare, in every test against singular values.) Zeros that rows or columns of zeros imply are exact,
and counted.

A convolution is taken with circular padding on a grid of any size: it mixes no frequencies. On each frequency f of the
grid it is one small matrix, the kernel's discrete Fourier transform Σ_τ W_τ exp(−2πi f·τ), and its singular values are
those of all these matrices together (Sedghi, Gupta & Long 2019). With a stride s the frequencies that the coarser grid
cannot tell apart meet in one output: their matrices stand side by side, divided by √s per axis. With zeros as padding
the map is another; for grids that are large against the kernel its spectrum is close.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np

from capcore.gate import of_kind, plain_array, plain_number
from capcore.validation import positive_integer

Lengths: TypeAlias = int | Sequence[int]
"""One number for all axes of a kernel, or one for each."""
EPSILON = float(np.finfo(float).eps)
BLOCK = 4096  # rows converted to double precision together
ENTRIES = 2**22  # complex numbers of one batch of frequencies, 64 MiB
SMALLEST = 1e-303
"""Beside a largest eigenvalue from here on, steps of the smallest numbers there are, 5e-324, are far below rounding."""


@dataclass(frozen=True)
class GramSpectra:
    """Spectra of a stack of matrices, each of m = min(rows, columns) values.

    Attributes
    ----------
    eigenvalues : (..., m) array
        Of WᵀW or W Wᵀ, whichever is smaller, descending, none negative; not divided by N.
    n_zeros : (...) array
        How many of them are exactly zero because rows or columns are.
    resolution : (...) array
        Largest error.
    """

    eigenvalues: np.ndarray
    n_zeros: np.ndarray
    resolution: np.ndarray


def gram_spectra(matrices: np.ndarray) -> GramSpectra:
    """Spectra of (..., rows, columns) real or complex matrices: N times those of paper 3, Eq. 2.

    Raises ``ValueError`` for values that are not finite, or whose squares leave double precision at either end.

    >>> gram_spectra(np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 0.0]])).eigenvalues.tolist()
    [9.0, 4.0]
    """
    matrices = plain_array(matrices, "matrices", "c")
    matrices = np.asarray(matrices)
    if matrices.ndim < 2 or not min(matrices.shape[-2:]):
        raise ValueError(f"matrices: found the shape {matrices.shape}, expected (…, rows, columns), each at least one.")
    largest = np.abs(matrices).max(axis=(-2, -1)) if matrices.size else np.zeros(matrices.shape[:-2])
    if not np.isfinite(largest).all():
        raise ValueError("matrices: found NaN or infinite values, expected finite numbers.")
    exponents = np.frexp(largest.astype(float))[1]  # powers of two, so that scaling is exact
    values = np.linalg.eigvalsh(_gram(matrices, exponents))[..., ::-1]
    nonzero = matrices != 0
    rows, columns = (nonzero.any(axis=axis).sum(axis=-1) for axis in (-1, -2))
    n_zeros = values.shape[-1] - np.minimum(rows, columns)
    beyond = np.arange(values.shape[-1]) >= (values.shape[-1] - n_zeros)[..., None]
    values = np.where(beyond, 0.0, np.maximum(values, 0.0))
    with np.errstate(over="ignore"):
        values = np.ldexp(values, 2 * exponents[..., None])
    if not np.isfinite(values).all():
        raise ValueError(f"matrices: found entries up to {largest.max():.1e}, expected squares below 1e308. Rescale.")
    if largest.any() and values.max() < SMALLEST:
        raise ValueError(
            f"matrices: found entries up to {largest.max():.1e}, expected squares above {SMALLEST:g}, below which "
            "digits are lost. Rescale."
        )
    return GramSpectra(values, n_zeros, values[..., 0] * EPSILON * (10 + max(matrices.shape[-2:])))


def _gram(matrices: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """(..., m, m) products along the longer axis, in blocks: a mapped file of half precision stays on disk."""
    if matrices.shape[-2] < matrices.shape[-1]:
        matrices = matrices.swapaxes(-1, -2)
    kind = complex if np.iscomplexobj(matrices) else float
    scale = np.ldexp(1.0, -exponents)[..., None, None]
    gram = np.zeros((*matrices.shape[:-2], matrices.shape[-1], matrices.shape[-1]), kind)
    for start in range(0, matrices.shape[-2], BLOCK):
        block = matrices[..., start : start + BLOCK, :].astype(kind) * scale
        gram += block.conj().swapaxes(-1, -2) @ block
    return gram


def operator_spectra(weights: np.ndarray, grid: Lengths, *, stride: Lengths = 1, dilation: Lengths = 1) -> GramSpectra:
    """Spectrum of a circular convolution: λ = σ² over all frequencies and groups, descending.

    There are groups·Π(grid/stride)·min(out/groups, in/groups·Π stride) values: those that the smaller Gram matrix of
    the whole map has. The padding's offset does not matter, as shifts are unitary.

    Parameters
    ----------
    weights : (groups, out/groups, in/groups, *kernel) array
        As :meth:`~capcore.spectra.layers.Layer.weights` has them.
    grid : int or sequence of int
        Positions of the input along each axis of the kernel, or one number for all. A kernel that is longer wraps
        around.
    stride, dilation : int or sequence of int
        As the layer has them; the stride must divide the grid.

    Raises
    ------
    ValueError
        For a stride that leaves positions over: there is no circular map then.

    Examples
    --------
    >>> operator_spectra(np.array([[[[1.0, 1.0]]]]), 4).eigenvalues.round(12).tolist()
    [4.0, 2.0, 2.0, 0.0]
    """
    weights = plain_array(weights, "weights")
    grid = plain_number(grid, "grid")
    of_kind(grid, "grid", int | np.integer | tuple | list, "one whole number, or one for each axis")
    stride = plain_number(stride, "stride")
    of_kind(stride, "stride", int | np.integer | tuple | list, "one whole number, or one for each axis")
    dilation = plain_number(dilation, "dilation")
    of_kind(dilation, "dilation", int | np.integer | tuple | list, "one whole number, or one for each axis")
    matrix_shape(weights.shape, grid, stride)
    ndim = weights.ndim - 3
    sizes = [
        per_axis(value, name, ndim) for value, name in ((grid, "grid"), (stride, "stride"), (dilation, "dilation"))
    ]
    parts = [(gram_spectra(m), times) for group in weights for m, times in _matrices(group, *sizes)]
    values = np.concatenate([np.repeat(spectra.eigenvalues, times, axis=0).ravel() for spectra, times in parts])
    n_zeros = sum(int(spectra.n_zeros @ times) for spectra, times in parts)
    transform = values.max() * EPSILON * weights[0, 0, 0].size  # rounding of the sums over taps
    resolution = transform + max(float(spectra.resolution.max()) for spectra, _ in parts)
    return GramSpectra(np.sort(values)[::-1], np.array(n_zeros), np.array(resolution))


def matrix_shape(shape: Sequence[int], grid: Lengths, stride: Lengths = 1) -> tuple[tuple[int, int], int]:
    """Rows and columns of the matrix at one frequency, and the number of frequencies, for weights of a shape.

    >>> matrix_shape((1, 16, 8, 3, 3), 32, 2)
    ((16, 32), 256)
    """
    if len(shape) < 4:
        raise ValueError(f"weights: found the shape {(*shape,)}, expected (groups, out/groups, in/groups, *kernel).")
    lengths, strides = per_axis(grid, "grid", len(shape) - 3), per_axis(stride, "stride", len(shape) - 3)
    for length, step in zip(lengths, strides, strict=True):
        if length % step:
            raise ValueError(f"stride: found {step} on {length} positions, expected a divisor. Take another grid.")
    return (shape[1], shape[2] * prod(strides)), prod(lengths) // prod(strides)


def per_axis(value: Lengths, name: str, ndim: int) -> tuple[int, ...]:
    """One positive number for each axis.

    >>> per_axis(3, "grid", 2)
    (3, 3)
    """
    values = (value,) * ndim if isinstance(value, int | np.integer) else tuple(value)
    if len(values) != ndim:
        raise ValueError(f"{name}: found {len(values)} numbers for {ndim} axes of the kernel, expected one for each.")
    return tuple(positive_integer(entry, name) for entry in values)


def _matrices(
    weights: np.ndarray, lengths: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Batches of (b, out, in·Π stride) matrices, and (b,) how often each occurs: real weights pair f with −f."""
    n_out, n_in, *kernel = weights.shape
    kernel_taps = weights.reshape(n_out * n_in, -1).astype(float)
    offsets = np.array(list(product(*map(range, kernel)))) * dilations  # (taps, axes)
    coarse = tuple(length // step for length, step in zip(lengths, strides, strict=True))
    frequencies, multiplicities = _half(coarse)
    aliases = np.array(list(product(*map(range, strides)))) * coarse  # (Π stride, axes)
    batch = max(1, ENTRIES // (n_out * n_in * len(aliases)))
    for start in range(0, len(frequencies), batch):
        some = frequencies[start : start + batch, None, :] + aliases  # (b, Π stride, axes)
        turns = (some @ np.diag(np.lcm.reduce(lengths) // np.array(lengths)) @ offsets.T) % np.lcm.reduce(lengths)
        phases = np.exp(-2j * np.pi * turns / np.lcm.reduce(lengths))  # whole turns are removed exactly
        symbol = (phases @ kernel_taps.T).reshape(*some.shape[:2], n_out, n_in) / np.sqrt(len(aliases))
        yield np.moveaxis(symbol, 1, 2).reshape(len(some), n_out, -1), multiplicities[start : start + batch]


def _half(coarse: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """One of each pair of frequencies f and −f of a grid, and whether it stands for one or two."""
    frequencies = np.array(list(np.ndindex(*coarse)))
    mirrored = -frequencies % coarse
    index = np.arange(len(frequencies))
    other = np.ravel_multi_index(tuple(mirrored.T), coarse)
    kept = index <= other
    return frequencies[kept], np.where(index == other, 1, 2)[kept]
