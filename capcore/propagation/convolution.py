"""Transport of capacity by a convolution: of any number of axes and channels, dilated, causal or centred."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from capcore.propagation.boundaries import check_boundary, convolution_operator
from capcore.propagation.matrix import TOLERANCE, NotStochasticError, columns_to_one, nonnegative, squares
from capcore.validation import finite_array, positive_integer


@dataclass(frozen=True, eq=False)
class ConvolutionTransport:
    """Capacity weights of a convolution: capacity at position y moves to y + (tap − origin) · dilation.

    The same object holds jump rates, as the generator of the limits: see :mod:`capcore.propagation.generator`.

    Attributes
    ----------
    weights : (in, *taps, out), none negative: the squared kernel. As many axes of taps as of positions.
    dilation : whole number of at least 1, or one for every axis.
    origin : tap that reads the output's own position, or one for every axis. ``"centre"``, the default, needs odd
        numbers of taps; 0 is causal where positions are lags, as in
        :class:`~capcore.architectures.hierarchical.Hierarchical`.

    >>> ConvolutionTransport.of_offsets({-1: 0.25, 0: 0.5, 1: 0.25}).operator((3, 1), "absorbing")[0].toarray()
    array([[0.5 , 0.25, 0.  ],
           [0.25, 0.5 , 0.25],
           [0.  , 0.25, 0.5 ]])
    """

    weights: np.ndarray
    dilation: int | tuple[int, ...] = 1
    origin: int | tuple[int, ...] | str = "centre"

    def __post_init__(self) -> None:
        weights = nonnegative(self.weights, "weights", tuple(range(3, 8)))
        taps = weights.shape[1:-1]
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "dilation", _per_axis(self.dilation, "dilation", len(taps), 1))
        if self.origin == "centre":
            if any(size % 2 == 0 for size in taps):
                raise ValueError(
                    f"origin: 'centre' needs odd numbers of taps, found {taps}. Give the tap that reads the output's "
                    "own position, such as origin=0."
                )
            object.__setattr__(self, "origin", tuple(size // 2 for size in taps))
        else:
            object.__setattr__(self, "origin", _per_axis(self.origin, "origin", len(taps), 0))

    @classmethod
    def of_weights(
        cls, kernel: object, dilation: int | tuple[int, ...] = 1, origin: int | tuple[int, ...] | str = "centre"
    ) -> ConvolutionTransport:
        """From the signed kernel (in, *taps, out) of a network."""
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
        for offset, value in zip(offsets, weights.values(), strict=True):
            values[tuple(offset - low)] = value
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
        """(*positions, channels) of the inputs for outputs (*positions, channels)."""
        if len(above) != self.ndim + 1 or above[-1] != self.weights.shape[-1]:
            raise ValueError(
                f"output: found shape {above}, expected {self.ndim} axes of positions and then "
                f"{self.weights.shape[-1]} channel(s), as in the layer's kernel of shape {self.weights.shape}."
            )
        return (*above[:-1], self.weights.shape[0])

    def columns(self, above: tuple[int, ...]) -> np.ndarray:
        """(n · out,) sums of the columns, away from the boundary."""
        self.input_shape(above)
        return np.tile(self.sums, int(np.prod(above[:-1])))

    def operator(self, above: tuple[int, ...], boundary: str = "periodic") -> tuple[sparse.csr_array, np.ndarray]:
        """Sparse matrix (n · in, n · out), and what every column loses at the boundary (n · out,)."""
        self.input_shape(above)
        kernel = np.moveaxis(self.blocks, 0, 1)
        return convolution_operator(kernel, self.offsets, above[:-1], check_boundary(boundary))

    def scaled(self, factor: float) -> ConvolutionTransport:
        """All weights times ``factor``."""
        return ConvolutionTransport(self.weights * factor, self.dilation, self.origin)

    def dilated(self, dilation: int | tuple[int, ...]) -> ConvolutionTransport:
        """The same weights at another dilation."""
        return ConvolutionTransport(self.weights, dilation, self.origin)

    def normalised(self) -> ConvolutionTransport:
        """Every output channel's weights divided by their sum, so that capacity is conserved."""
        return self._with(columns_to_one(self.weights, "weights"))

    def require_stochastic(self) -> ConvolutionTransport:
        """Itself, if capacity is conserved; otherwise :class:`~capcore.propagation.matrix.NotStochasticError`."""
        worst = int(np.argmax(np.abs(self.sums - 1)))
        if abs(self.sums[worst] - 1) > TOLERANCE:
            raise NotStochasticError(
                f"weights: the squared weights of output channel {worst} sum to {self.sums[worst]:.12g}, expected 1, "
                "so that capacity is conserved. Use .normalised() to divide every column by its sum."
            )
        return self

    def _with(self, weights: np.ndarray) -> ConvolutionTransport:
        return ConvolutionTransport(weights, self.dilation, self.origin)


def _per_axis(value: object, name: str, ndim: int, minimum: int) -> tuple[int, ...]:
    values = tuple(value) if isinstance(value, tuple | list) else (value,) * ndim
    if len(values) != ndim:
        raise ValueError(f"{name}: found {len(values)} numbers, expected one or {ndim}, one for every axis of taps.")
    return tuple(positive_integer(item, name, minimum) for item in values)
