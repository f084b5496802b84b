"""What slices of a convolution say of the map that it applies: kernels that differ though their slices do not.

Paper 3 takes one matrix per tap of a kernel. Here the map itself is written out entry by entry, for kernels and grids
so small that it fits, and pairs of kernels are made whose slices have equal spectra.
"""

from itertools import product

import numpy as np

from capcore.checkpoints.arrays import of_arrays
from capcore.spectra.densities import layer_densities
from capcore.spectra.eigenvalues import operator_spectra
from capcore.spectra.layers import find_layers
from capcore.spectra.options import DensityOptions

SLACK = 1e-12


def circular_matrix(kernel: np.ndarray, grid: int) -> np.ndarray:
    """(out·grid², in·grid²) matrix of a circular convolution in two dimensions, entry by entry.

    kernel : (out, in, k, k). Output position p reads input position p + τ through the tap τ.

    >>> circular_matrix(np.arange(1.0, 3.0).reshape(1, 1, 1, 2), 2)[0].tolist()
    [1.0, 2.0, 0.0, 0.0]
    """
    n_out, n_in, *lengths = kernel.shape
    matrix = np.zeros((n_out, grid, grid, n_in, grid, grid))
    for row, column in product(range(grid), repeat=2):
        for i, j in product(*map(range, lengths)):
            matrix[:, row, column, :, (row + i) % grid, (column + j) % grid] += kernel[:, :, i, j]
    return matrix.reshape(n_out * grid**2, n_in * grid**2)


def equal_taps(matrix: np.ndarray, length: int = 3) -> np.ndarray:
    """(out, in, length, length) kernel with ``matrix`` at every tap: it sums over its window."""
    return np.repeat(matrix, length**2, axis=1).reshape(*matrix.shape, length, length)


def rotated_taps(matrix: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(out, in, 3, 3) kernel with ``matrix`` times a rotation of the inputs at each tap, another at each.

    Every slice has the singular values of ``matrix``, and so has W Wᵀ of the unfolded kernel up to a factor.
    """
    rotations = np.linalg.qr(rng.normal(size=(9, matrix.shape[1], matrix.shape[1])))[0]
    return np.moveaxis(matrix @ rotations, 0, -1).reshape(*matrix.shape, 3, 3)


def eigenvalues(kernel: np.ndarray, arrangement: str = "slices", grid: int = 8) -> list[np.ndarray]:
    """Descending eigenvalues of WᵀW of a kernel (out, in, k, k), nothing divided by N: one array per matrix analysed.

    ``arrangement`` : as :class:`~capcore.spectra.options.DensityOptions` has it. ``grid`` : for ``operator``.
    """
    if arrangement == "slices" and min(kernel.shape[:2]) == 1:  # vectors, which the package lists as no matrices
        return [np.array([square]) for square in np.square(kernel).sum(axis=(0, 1)).ravel()]
    sizes = grid if arrangement == "operator" else None
    options = DensityOptions(arrangement=arrangement, divide_by="nothing", grid=sizes, minimum=1)
    (layer,) = find_layers(of_arrays({"kernel": kernel})).layers
    return [density.eigenvalues for density in layer_densities(layer, options).densities]


def gap(values: object, expected: object) -> float:
    """Largest difference between two spectra, each in any order, as a share of the largest value expected.

    >>> gap([1.0, 2.0], [2.0, 1.5])
    0.25
    """
    first, second = np.sort(np.asarray(values)), np.sort(np.asarray(expected))
    return float(np.abs(first - second).max() / np.abs(second).max())


def svd_gap(matrix: np.ndarray, eigenvalues: np.ndarray) -> float:
    """:func:`gap` of eigenvalues of WᵀW/N, N the longer side, to the squared singular values of a matrix."""
    return gap(eigenvalues, np.linalg.svd(matrix, compute_uv=False) ** 2 / max(matrix.shape))


def norm_kept(kernel: np.ndarray, grid: int = 8) -> float:
    """Relative gap between Σλ over the slices and Σλ of the operator per position of the grid (Parseval)."""
    whole = operator_spectra(kernel[None], grid).eigenvalues.sum() / grid**2
    return float(abs(sum(part.sum() for part in eigenvalues(kernel)) / whole - 1))


def norm_bounds(kernel: np.ndarray, grid: int = 8) -> tuple[float, float, float]:
    """Largest singular value of a slice, of the operator, and the sum of the slices' largest: never descending.

    The first two agree for a single tap, the last two for equal taps.
    """
    largest = [float(np.sqrt(part[0])) for part in eigenvalues(kernel)]
    return max(largest), float(np.sqrt(operator_spectra(kernel[None], grid).eigenvalues[0])), sum(largest)


def bounds_hold(n_kernels: int, rng: np.random.Generator, grid: int = 8) -> bool:
    """Whether :func:`norm_bounds` are in order for random kernels of random shapes, some with taps that are alike."""
    good = []
    for _ in range(n_kernels):
        n_out, n_in, length = rng.integers(1, 7), rng.integers(1, 7), rng.integers(1, 4)
        common = equal_taps(rng.normal(size=(n_out, n_in)), int(length))
        kernel = common + rng.choice([0.0, 0.1, 1.0, 10.0]) * rng.normal(size=common.shape)
        low, middle, high = norm_bounds(kernel, grid)
        good.append(low <= middle * (1 + SLACK) and middle <= high * (1 + SLACK))
    return all(good)
