"""Transport of capacity by a convolution with any number of axes and channels, dilated, causal or centred.

Its squared weights are the W∘W of paper 2, Eq. 2, where W is convolutional (§3.1), dilated (§3.6), with several
channels (§3.7) or several axes (§3.8). What happens to capacity that leaves the range of positions is its *boundary*:

``periodic``
    It comes back at the other end: circular convolution.
``absorbing``
    It is lost, as with zero padding; the loss is recorded.
``reflecting``
    It is folded back at the edge, mirror-symmetrically: position −1 is position 0, −2 is 1, and so on.
``renormalised``
    It is not sent, and the columns near the edge are scaled up to their full sum, as in a convolution whose weights
    are normalised at every output separately. For nearest neighbours it agrees with ``reflecting`` to first order in
    the rates, so that both have one limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from capcore.checks.arguments import finite_array, of_kind, one_of, plain_fields, positive_integer
from capcore.propagation.matrix import columns_to_one, nonnegative, require_stochastic, squares
from capcore.results.notebook import Record

BOUNDARIES = ("periodic", "absorbing", "reflecting", "renormalised")
"""What may happen to capacity that leaves the range of positions."""


def moved(positions: np.ndarray, length: int, boundary: str) -> tuple[np.ndarray, np.ndarray]:
    """Positions (m,) mapped back into 0 … length − 1, and which of them (m,) are inside.

    >>> moved(np.array([-1, 0, 4, 9]), 4, "reflecting")[0].tolist()
    [0, 0, 3, 1]
    """
    if boundary in ("absorbing", "renormalised"):
        return np.clip(positions, 0, length - 1), (positions >= 0) & (positions < length)
    turned = positions % (length if boundary == "periodic" else 2 * length)
    return np.minimum(turned, 2 * length - 1 - turned), np.ones(positions.shape, dtype=bool)


def convolution_operator(
    kernel: np.ndarray, offsets: np.ndarray, shape: tuple[int, ...], boundary: str
) -> tuple[sparse.csr_array, np.ndarray]:
    """Sparse matrix of a convolution, and what every column loses at an absorbing boundary.

    Parameters
    ----------
    kernel : (in, m, out) array
        Numbers of any sign, one (in, out) block for every offset.
    offsets : (m, d) array
        Whole numbers.
    shape : tuple of int
        Numbers of positions along the d axes.
    boundary : str
        One of :data:`BOUNDARIES`.

    Returns
    -------
    matrix : (n · in, n · out) scipy.sparse.csr_array
        Position-major, for n positions; entry ((y + j, i), (y, o)) is kernel[i, j, o].
    lost : (n · out,) array
        Loss of each column; zero except for ``absorbing``.
    """
    below, _, above = kernel.shape
    n = int(np.prod(shape))
    starts = np.indices(shape).reshape(len(shape), n)
    rows, columns, values = [], [], []
    lost = np.zeros((n, above))
    for tap, offset in enumerate(offsets):
        landed = [moved(y + j, size, boundary) for y, j, size in zip(starts, offset, shape, strict=True)]
        inside = np.logical_and.reduce([within for _, within in landed])
        target = np.ravel_multi_index([where for where, _ in landed], shape)
        lost[~inside] += kernel[:, tap].sum(axis=0)
        i, o = np.nonzero(kernel[:, tap])
        rows.append(np.add.outer(i, target[inside] * below).ravel())
        columns.append(np.add.outer(o, np.flatnonzero(inside) * above).ravel())
        values.append(np.repeat(kernel[i, tap, o], inside.sum()))
    at = np.concatenate(rows), np.concatenate(columns)
    matrix = sparse.csr_array((np.concatenate(values), at), shape=(n * below, n * above))
    if boundary != "renormalised":
        return matrix, lost.reshape(-1)
    full = np.tile(kernel.sum(axis=(0, 1)), n)
    inside_sums = matrix.sum(axis=0)  # full − lost would cancel where most of a column leaves
    if (bad := (inside_sums <= 0) & (full > 0)).any():
        column = int(np.flatnonzero(bad)[0])
        raise ValueError(f"boundary: all of column {column} leaves the positions {shape}. Use more positions.")
    scale = np.divide(full, inside_sums, out=np.ones_like(full), where=full > 0)
    return (matrix @ sparse.diags_array(scale)).tocsr(), np.zeros_like(full)


@dataclass(frozen=True, eq=False, repr=False)
class ConvolutionTransport(Record):
    """Capacity weights of a convolution: capacity at position y moves to y + (tap − origin) · dilation.

    It is W∘W of paper 2, Eq. 2, and with several channels D_ℓ of Eq. 24. The same class represents jump rates, the
    generator of the limits: see :mod:`capcore.propagation.generator`.

    Attributes
    ----------
    weights : (in, *taps, out) array
        Non-negative: the squared kernel. It has as many axes of taps as there are axes of positions.
    dilation : int or tuple of int
        At least 1, or one for every axis.
    origin : int, tuple of int or "centre"
        Tap that reads the output's own position, or one for every axis. ``"centre"``, the default, needs odd numbers of
        taps; 0 is causal where positions are lags, as in :class:`~capcore.architectures.hierarchical.Hierarchical`.

    Examples
    --------
    >>> ConvolutionTransport.of_offsets({-1: 0.25, 0: 0.5, 1: 0.25}).operator((3, 1), "absorbing")[0].toarray()
    array([[0.5 , 0.25, 0.  ],
           [0.25, 0.5 , 0.25],
           [0.  , 0.25, 0.5 ]])
    """

    weights: np.ndarray
    dilation: int | tuple[int, ...] = 1
    origin: int | tuple[int, ...] | str = "centre"

    def __post_init__(self) -> None:
        plain_fields(self)
        of_kind(self.origin, "origin", int | np.integer | tuple | list | str, "a whole number, several, or 'centre'")
        weights = nonnegative(self.weights, "weights", tuple(range(3, 8)))
        taps = weights.shape[1:-1]
        vars(self).update(weights=weights, dilation=_per_axis(self.dilation, "dilation", len(taps), 1))
        if self.origin == "centre" and any(size % 2 == 0 for size in taps):
            raise ValueError(f"origin: 'centre' needs odd numbers of taps, found {taps}. Give one, such as origin=0.")
        origin = tuple(size // 2 for size in taps) if self.origin == "centre" else self.origin
        vars(self)["origin"] = _per_axis(origin, "origin", len(taps), 0)

    @classmethod
    def of_weights(
        cls, kernel: object, dilation: int | tuple[int, ...] = 1, origin: int | tuple[int, ...] | str = "centre"
    ) -> ConvolutionTransport:
        """The squares of the signed kernel (in, *taps, out) of a network."""
        return cls(squares(finite_array(kernel, "kernel", tuple(range(3, 8))), "kernel"), dilation, origin)

    @classmethod
    def of_offsets(cls, weights: Mapping[int | tuple[int, ...], float]) -> ConvolutionTransport:
        """One channel, from ``{offset: weight}`` with whole numbers, or tuples of them, as offsets.

        >>> ConvolutionTransport.of_offsets({(0, 1): 1.0, (1, 0): 2.0}).weights[0, ..., 0].tolist()
        [[0.0, 1.0], [2.0, 0.0]]
        """
        if not weights:
            raise ValueError("weights: found no offset, expected at least one.")
        offsets = np.array([np.atleast_1d(offset) for offset in weights])
        if not np.issubdtype(offsets.dtype, np.integer) or offsets.ndim != 2:
            raise ValueError(f"weights: found offsets {list(weights)}, expected whole numbers or equally long tuples.")
        low = np.minimum(offsets.min(axis=0), 0)
        values = np.zeros(np.maximum(offsets.max(axis=0), 0) - low + 1)
        values[tuple((offsets - low).T)] = list(weights.values())
        return cls(values[None, ..., None], 1, tuple(int(-j) for j in low))

    @property
    def ndim(self) -> int:
        """Number of axes d."""
        return self.weights.ndim - 2

    @property
    def offsets(self) -> np.ndarray:
        """(m, d) displacement of every tap, in C order of the taps."""
        taps = self.weights.shape[1:-1]
        return (np.indices(taps).reshape(self.ndim, -1).T - np.array(self.origin)) * np.array(self.dilation)

    @property
    def blocks(self) -> np.ndarray:
        """(m, in, out) weights in the order of ``offsets``."""
        below, above = self.weights.shape[0], self.weights.shape[-1]
        return np.moveaxis(self.weights.reshape(below, -1, above), 1, 0)

    @property
    def sums(self) -> np.ndarray:
        """(out,) sum over inputs and taps for every output channel."""
        return self.weights.reshape(-1, self.weights.shape[-1]).sum(axis=0)

    def input_shape(self, above: tuple[int, ...]) -> tuple[int, ...]:
        """Shape (*positions, channels) of the inputs for outputs of shape (*positions, channels)."""
        if len(above) != self.ndim + 1 or above[-1] != self.weights.shape[-1]:
            expected = f"{self.ndim} axes of positions and then {self.weights.shape[-1]} channel(s)"
            raise ValueError(f"output: found shape {above}, expected {expected}.")
        return (*above[:-1], self.weights.shape[0])

    def columns(self, above: tuple[int, ...]) -> np.ndarray:
        """(n · out,) sums of the columns, away from the boundary."""
        self.input_shape(above)
        return np.tile(self.sums, int(np.prod(above[:-1])))

    def operator(self, above: tuple[int, ...], boundary: str = "periodic") -> tuple[sparse.csr_array, np.ndarray]:
        """Sparse matrix (n · in, n · out), and what every column loses at the boundary (n · out,)."""
        self.input_shape(above)
        kernel = self.weights.reshape(len(self.weights), -1, above[-1])
        return convolution_operator(kernel, self.offsets, above[:-1], one_of(boundary, "boundary", BOUNDARIES))

    def scaled(self, factor: float) -> ConvolutionTransport:
        """All weights times ``factor``."""
        return replace(self, weights=self.weights * factor)

    def dilated(self, dilation: int | tuple[int, ...]) -> ConvolutionTransport:
        """The same weights at another dilation."""
        return replace(self, dilation=dilation)

    def normalised(self) -> ConvolutionTransport:
        """Every output channel's weights divided by their sum, so that capacity is conserved."""
        return replace(self, weights=columns_to_one(self.weights, "weights"))

    def require_equal_channels(self) -> None:
        """Raise ``ValueError`` unless there are as many channels below as above."""
        below, above = self.weights.shape[0], self.weights.shape[-1]
        if below != above:
            raise ValueError(f"weights: found {above} channels above and {below} below, expected equal numbers.")

    def require_stochastic(self) -> ConvolutionTransport:
        """Itself; raises :class:`~capcore.propagation.matrix.NotStochasticError` unless capacity is conserved."""
        advice = "Use .normalised() to divide every column by its sum."
        require_stochastic(self.sums, "weights: the squared weights of output channel", advice)
        return self


def _per_axis(value: object, name: str, ndim: int, minimum: int) -> tuple[int, ...]:
    values = tuple(value) if isinstance(value, tuple | list) else (value,) * ndim
    if len(values) != ndim:
        raise ValueError(f"{name}: found {len(values)} numbers, expected one or {ndim}, one for every axis of taps.")
    return tuple(positive_integer(item, name, minimum) for item in values)
