"""Which tensors WeightWatcher 0.7.7 takes for layers, the matrices it makes of them, and their eigenvalues."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MIN_EVALS, MAX_EVALS, MAX_N = 8, 15_000, 50_000


@dataclass(frozen=True)
class LayerMatrices:
    """The matrices of one layer, and the numbers that the tool keeps with them.

    ``kind`` : ``dense`` or ``conv2d``. ``stack`` (k, rows, columns) : the matrices, single precision as the tool
    reads them. ``N``, ``M`` : what it calls the larger and the smaller dimension; for a wide convolution with an even
    number of taps, or a kernel larger than its channels, they are the wrong way round, in the tool and so here.
    ``rf`` : matrices in the layer.
    """

    kind: str
    stack: np.ndarray
    N: int
    M: int
    rf: int


def layer_matrices(weights: np.ndarray, *, pool: bool = True) -> LayerMatrices | None:
    """The :class:`~capcore.spectra.weightwatcher.matrices.LayerMatrices` of a tensor, or None where the tool would
    leave it out without saying so.

    Left out are tensors that are not 2- or 4-dimensional or have fewer than two output channels; and layers with fewer
    than 8 or more than 15,000 eigenvalues, pooled or, with ``pool=False``, per slice; and those with N above 50,000.
    Raises ``ValueError`` for weights that are none in single precision.

    >>> layer = layer_matrices(np.zeros((16, 8, 3, 3)))
    >>> layer.stack.shape, layer.N, layer.M, layer.rf
    ((9, 16, 8), 16, 8, 9)
    >>> layer_matrices(np.zeros((16, 3, 3, 3)), pool=False) is None
    True
    """
    if weights.ndim not in (2, 4) or len(weights) < 2 or 0 in weights.shape:
        return None
    with np.errstate(over="ignore"):
        single = np.asarray(weights, dtype=np.float32)
    largest = float(np.abs(weights).max())
    if np.isfinite(largest) and largest and not np.finfo(np.float32).tiny <= np.abs(single).max() < np.inf:
        raise ValueError(
            f"weights: found entries up to {largest:.1e}, expected {np.finfo(np.float32).tiny:.1e} to "
            f"{np.finfo(np.float32).max:.1e}: WeightWatcher computes in single precision. Use analyse_spectra."
        )
    if weights.ndim == 2:
        layer = LayerMatrices("dense", single[None], max(weights.shape), min(weights.shape), 1)
    else:
        rows, columns, height, width = weights.shape
        stack = np.moveaxis(single.reshape(rows, columns, height * width), 2, 0)
        swapped = rows < columns and rows + columns >= height + width and height * width % 2 == 1
        N, M = (columns, rows) if swapped else (rows, columns)
        layer = LayerMatrices("conv2d", stack, N, M, height * width)
    number = layer.M * (layer.rf if pool else 1)
    return layer if MIN_EVALS <= number <= MAX_EVALS and layer.N <= MAX_N else None


def singular_values(layer: LayerMatrices, pool: bool) -> np.ndarray:
    """(k, min(rows, columns)) singular values, descending: of the scaled matrices of a convolution, as the tool
    scales them.

    The factor is √(k/2) with k the number of slices that share a fit: 1 where slices are pooled, so that it is √½,
    and rf where every slice is fitted alone.
    """
    stack = layer.stack.astype(float)
    if layer.kind == "conv2d":
        stack *= np.sqrt((1 if pool else layer.rf) / 2.0)
    return np.linalg.svd(stack, compute_uv=False)
