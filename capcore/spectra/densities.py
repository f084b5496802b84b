"""Empirical spectral densities: the eigenvalues of X = WᵀW/N (paper 3, Eq. 2), with every choice that went into them.

This module computes the densities of one layer. For those of a whole network, take the report of
:func:`~capcore.spectra.analysis.analyse_spectra`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import prod

import numpy as np

from capcore.checkpoints.tensors import non_finite_count
from capcore.results.notebook import Record
from capcore.spectra.eigenvalues import GramSpectra, gram_spectra, matrix_shape, operator_spectra
from capcore.spectra.layers import Layer, Skipped, slices, unfolded
from capcore.spectra.noise import null_weights
from capcore.spectra.options import DensityOptions

Shape = tuple[int, int]
Tap = tuple[int, ...] | None
"""Position of a slice in the kernel, or None for a whole layer."""


@dataclass(frozen=True, eq=False)
class Density(Record):
    """The empirical spectral density ρ(λ) of a layer or of one of its slices, as eigenvalues (paper 3, Eqs 1 and 2).

    Attributes
    ----------
    layer, kind : str
        Name and kind of the layer.
    tap : tuple of int or None
        Position of the slice in the kernel, or None for a whole layer.
    eigenvalues : (n,) array
        Eigenvalues of X = WᵀW/N, descending, non-negative, and read-only.
    shape : tuple of int
        Rows and columns of each matrix.
    n_matrices : int
        Number of matrices that were pooled.
    n_zeros : int
        Number of eigenvalues that are exactly zero because rows or columns are zero.
    divided_by : float
        The divisor N.
    """

    layer: str
    kind: str
    tap: Tap
    eigenvalues: np.ndarray = field(repr=False)
    shape: tuple[int, int]
    n_matrices: int
    n_zeros: int
    divided_by: float

    @property
    def name(self) -> str:
        """Name of the layer, followed by the tap if it is a slice."""
        return tap_name(self.layer, self.tap)


@dataclass(frozen=True, repr=False)
class Densities(Record):
    """Densities of one or several layers, and every tensor or slice without a density, with the reason."""

    densities: tuple[Density, ...]
    skipped: tuple[Skipped, ...]

    def __iter__(self) -> Iterator[Density]:
        return iter(self.densities)

    def __len__(self) -> int:
        return len(self.densities)


def layer_densities(layer: Layer, options: DensityOptions) -> Densities:
    """Compute the densities of one layer (paper 3, Eq. 2), one in all or one per slice, and list what is skipped.

    Parameters
    ----------
    layer : Layer
        From :func:`~capcore.spectra.layers.find_layers`.
    options : DensityOptions
        Which matrices to take, how to divide them, and whether a null takes their place.

    Raises
    ------
    ValueError
        If squares of the weights leave double precision.

    Examples
    --------
    >>> from capcore.checkpoints import read_checkpoint
    >>> from capcore.spectra import find_layers
    >>> weights = np.random.default_rng(0).normal(size=(20, 50))
    >>> (density,) = layer_densities(find_layers(read_checkpoint({"fc": weights})).layers[0], DensityOptions())
    >>> density.name, density.shape, density.divided_by
    ('fc', (20, 50), 50.0)
    """
    arrangement = arrangement_of(layer, options)
    shape, n_matrices = matrices_of(layer, arrangement, options)
    reason = unfit_reason(layer, options)
    if not reason:
        weights = layer.weights()
        bad = non_finite_count(weights)
        reason = f"{bad} weights are NaN or infinite." if bad else "" if weights.any() else "All weights are zero."
    if reason:
        return Densities((), (Skipped(layer.name, layer.tensor.shape, reason),))
    if options.null:
        weights = _null(layer, weights, options)
    return scaled_densities(layer, _spectra(layer, weights, arrangement, options), shape, n_matrices, options)


def scaled_densities(
    layer: Layer, spectra: Iterable[tuple[Tap, GramSpectra]], shape: Shape, n_matrices: int, options: DensityOptions
) -> Densities:
    """Turn undivided spectra into densities, in the units of the options; zero slices are listed as skipped.

    spectra : pairs of a slice's tap, or ``None``, with the spectra of WᵀW of ``n_matrices`` matrices of that shape.
    """
    densities = []
    skipped = []
    divisor = options.divisor(shape)
    ratio = options.factor(layer) ** 2 / divisor
    for tap, part in spectra:
        values = np.sort(part.eigenvalues, axis=None)[::-1] * ratio
        if not part.eigenvalues.any():
            skipped.append(Skipped(tap_name(layer.name, tap), shape, "All weights of this slice are zero."))
            continue
        values.setflags(write=False)
        n_zeros = int(part.n_zeros.sum())
        densities.append(Density(layer.name, layer.kind, tap, values, shape, n_matrices, n_zeros, divisor))
    return Densities(tuple(densities), tuple(skipped))


def arrangement_of(layer: Layer, options: DensityOptions) -> str:
    """The arrangement that applies to a layer: the chosen one for a convolution, ``unfolded`` without a kernel.

    The matrices of a stack do not share an input, so they are either pooled or taken one by one.

    >>> from capcore.checkpoints import read_checkpoint
    >>> from capcore.spectra import find_layers
    >>> layer = find_layers(read_checkpoint({"fc": np.ones((32, 16))})).layers[0]
    >>> arrangement_of(layer, DensityOptions("pooled"))
    'unfolded'
    """
    if layer.kind == "stack":
        return "slices" if options.arrangement == "slices" else "pooled"
    return options.arrangement if layer.kernel else "unfolded"


def matrices_of(layer: Layer, arrangement: str, options: DensityOptions) -> tuple[Shape, int]:
    """Shape of each matrix, and the number of matrices in one density, which is 0 if the layer's grid is not known.

    arrangement : from :func:`arrangement_of`.

    >>> from capcore.checkpoints import read_checkpoint
    >>> from capcore.spectra import find_layers
    >>> layer = find_layers(read_checkpoint({"conv": np.ones((32, 16, 3, 3))})).layers[0]
    >>> [matrices_of(layer, name, DensityOptions(name)) for name in ("slices", "pooled", "unfolded")]
    [((32, 16), 1), ((32, 16), 9), ((32, 144), 1)]
    """
    groups, n_out, n_in, *kernel = layer.shape
    if arrangement == "operator":
        grid = options.grid_of(layer)
        if not grid:
            return (n_out, n_in), 0
        shape, positions = matrix_shape(layer.shape, grid, options.stride_of(layer))
        return shape, groups * positions
    if arrangement == "unfolded":
        return (n_out, n_in * prod(kernel)), groups
    return (n_out, n_in), groups * (prod(kernel) if arrangement == "pooled" else 1)


def tap_name(layer: str, tap: Tap) -> str:
    """Name of a layer, followed by the tap of a slice."""
    return layer if tap is None else f"{layer}[{', '.join(map(str, tap))}]"


def names_of(layer: Layer, arrangement: str) -> list[str]:
    """Names of the densities of a layer, including slices that turn out to be zero."""
    return [tap_name(layer.name, tap) for tap in (taps(layer.kernel) if arrangement == "slices" else [None])]


def taps(kernel: tuple[int, ...]) -> list[tuple[int, ...]]:
    """List the positions of the taps, in the order of :func:`~capcore.spectra.layers.slices`.

    >>> taps((1, 2))
    [(0, 0), (0, 1)]
    """
    return list(np.ndindex(*kernel))


def unfit_reason(layer: Layer, options: DensityOptions) -> str:
    """Why the shape of its matrices prevents a layer's analysis, or an empty string if it does not.

    >>> from capcore.checkpoints import read_checkpoint
    >>> from capcore.spectra import find_layers
    >>> (layer,) = find_layers(read_checkpoint({"conv": np.ones((32, 3, 2, 2))})).layers
    >>> unfit_reason(layer, DensityOptions("pooled")), unfit_reason(layer, DensityOptions("unfolded"))
    ('4 matrices of 32 × 3: 3 eigenvalue(s) each, fewer than the minimum of 10.', '')
    """
    arrangement = arrangement_of(layer, options)
    shape, n_matrices = matrices_of(layer, arrangement, options)
    if not n_matrices:
        return "No grid given: its operator depends on the size of its input."
    size = f"{shape[0]} × {shape[1]}"
    if min(shape) == 1 and arrangement != "operator":
        (rows, columns), _ = matrices_of(layer, "unfolded", options)
        more = layer.is_convolution and min(rows, columns) > 1
        advice = f" It is depthwise, or of one channel; unfolded it is {rows} × {columns}." if more else ""
        return f"{size}: no matrix but a vector, whose one eigenvalue is its squared norm.{advice}"
    many = f"{n_matrices} matrices of {size}" if n_matrices > 1 else size
    together = n_matrices if arrangement == "operator" else layer.groups  # blocks of one map
    if min(shape) * together < options.minimum:
        per_matrix = " each" if together == 1 < n_matrices else ""
        number = min(shape) * together
        return f"{many}: {number} eigenvalue(s){per_matrix}, fewer than the minimum of {options.minimum}."
    if min(shape) > options.maximum:
        return f"{many}: the shorter side is longer than the maximum of {options.maximum}."
    return ""


def _spectra(
    layer: Layer, weights: np.ndarray, arrangement: str, options: DensityOptions
) -> Iterator[tuple[Tap, GramSpectra]]:
    if arrangement == "operator":
        yield None, operator_spectra(weights, options.grid_of(layer), stride=options.stride_of(layer))
    elif arrangement == "slices":
        yield from zip(taps(layer.kernel), map(gram_spectra, slices(weights)), strict=True)
    elif layer.kind == "stack":  # one by one, for it may be large
        parts = zip(*(vars(gram_spectra(part)).values() for part in slices(weights)), strict=True)
        yield None, GramSpectra(*map(np.concatenate, parts))
    else:
        yield None, gram_spectra(slices(weights) if arrangement == "pooled" else unfolded(weights))


def _null(layer: Layer, weights: np.ndarray, options: DensityOptions) -> np.ndarray:
    """The null in place of the weights; the matrices of a stack, which may differ in scale, have one each."""
    null = partial(null_weights, null=options.null or "", seed=options.seed, draw=options.draw)
    if layer.kind != "stack":
        return null(weights, name=layer.name)
    names = names_of(layer, "slices")
    return np.stack([null(part, name=name) for part, name in zip(slices(weights), names, strict=True)], axis=-1)
