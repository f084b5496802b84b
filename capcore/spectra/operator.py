"""The linear map that a convolution applies, exactly, for circular padding on a grid of any size.

A circular convolution mixes no frequencies: on each frequency f of the grid it is one small matrix, the kernel's
discrete Fourier transform Σ_τ W_τ exp(−2πi f·τ), and its singular values are those of all these matrices together
(Sedghi, Gupta & Long 2019). With a stride s the frequencies that the coarser grid cannot tell apart meet in one
output: their matrices stand side by side, divided by √s per axis. With zeros as padding the map is another; for grids
that are large against the kernel its spectrum is close.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np

from capcore.spectra.eigenvalues import EPSILON, GramSpectra, gram_spectra
from capcore.validation import positive_integer

ENTRIES = 2**22  # complex numbers of one batch of frequencies, 64 MiB


def operator_spectra(
    weights: np.ndarray,
    grid: int | Sequence[int],
    *,
    stride: int | Sequence[int] = 1,
    dilation: int | Sequence[int] = 1,
) -> GramSpectra:
    """Spectrum of a circular convolution: λ = σ² over all frequencies and groups, descending.

    Parameters
    ----------
    weights : (groups, out/groups, in/groups, \\*kernel), as :meth:`~capcore.spectra.layers.Layer.weights` has them.
    grid : positions of the input along each axis of the kernel, or one number for all. A kernel that is longer wraps
        around. stride, dilation : as the layer has them; the stride must divide the grid.

    There are groups·Π(grid/stride)·min(out/groups, in/groups·Π stride) values: those that the smaller Gram matrix of
    the whole map has. The padding's offset does not matter, as shifts are unitary. Raises ``ValueError`` for a stride
    that leaves positions over: there is no circular map then.

    >>> operator_spectra(np.array([[[[1.0, 1.0]]]]), 4).eigenvalues.round(12).tolist()
    [4.0, 2.0, 2.0, 0.0]
    """
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


def matrix_shape(
    shape: Sequence[int], grid: int | Sequence[int], stride: int | Sequence[int] = 1
) -> tuple[tuple[int, int], int]:
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


def per_axis(value: int | Sequence[int], name: str, ndim: int) -> tuple[int, ...]:
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
