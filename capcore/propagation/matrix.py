"""Transport of capacity by any matrix: κ below = (W∘W) κ above (paper 2, Eq. 2).

Paper 2, Eq. 2, is off by one layer: κ^ℓ lives on the *inputs* of layer ℓ, so W_{ℓ−1} takes it to κ^{ℓ−1}. Here
a layer sends capacity from its outputs to its inputs, with W (in, out) as in X_ℓ = f(Wᵀ X_{ℓ−1}) of Eq. 1. As a Markov
kernel it is P(y → x) = W_xy², one column for every starting position y: capacity is conserved if columns sum to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from capcore.checks.arguments import all_of_kind, finite_array, of_kind
from capcore.results.notebook import Record

TOLERANCE = 1e-12  # of a column's sum: rounding of square roots and squares, for up to a few thousand entries


class NotStochasticError(ValueError):
    """Capacity would not be conserved: a layer's squared weights do not sum to one over its inputs."""


def nonnegative(values: object, name: str, ndim: int | tuple[int, ...]) -> np.ndarray:
    """``values`` as a finite array without negative entries: capacities, rates, fractions."""
    array = finite_array(values, name, ndim)
    if (array < 0).any():
        where = tuple(int(i) for i in np.argwhere(array < 0)[0])
        raise ValueError(
            f"{name}: found {array[where]:g} at index {where}, expected squares or rates, none negative. "
            "Signed weights of a network are squared by `of_weights`."
        )
    return array


def squares(values: np.ndarray, name: str) -> np.ndarray:
    """Squares of weights; raises ``ValueError`` if they leave double precision."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest and not 1e-150 < largest < 1e150:
        raise ValueError(
            f"{name}: found weights up to {largest:.1e}, expected 1e-150 to 1e150: their squares would leave double "
            "precision. Rescale; .normalised() undoes it."
        )
    return values**2


def representable(values: np.ndarray, name: str) -> np.ndarray:
    """``values`` if they are finite; otherwise raises an error about the scale of the input."""
    if not np.isfinite(values).all():
        raise ValueError(f"{name}: found results beyond 1.8e308, the end of double precision. Scale {name} down.")
    return values


def columns_to_one(weights: np.ndarray, name: str) -> np.ndarray:
    """Non-negative weights (…, m) of any scale, with columns scaled to the sum 1; refuses columns of zeros.

    Powers of two are taken out first, which is exact and keeps every sum within double precision.
    """
    columns = weights.reshape(-1, weights.shape[-1])
    largest = columns.max(axis=0)
    if (largest <= 0).any():
        raise ValueError(
            f"{name}: column {int(np.flatnonzero(largest <= 0)[0])} is zero and cannot be normalised. "
            "That output reads no input: take it out, or give it a weight."
        )
    level = np.ldexp(weights, -np.frexp(largest)[1])
    return level / level.reshape(columns.shape).sum(axis=0)


def require_stochastic(sums: np.ndarray, whose: str, advice: str) -> None:
    """Raise :class:`NotStochasticError` unless every column's sum is one: ``whose`` names the weights and a column."""
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > TOLERANCE:
        raise NotStochasticError(
            f"{whose} {worst} sum to {sums[worst]:.12g}, expected 1, so that capacity is conserved. {advice}"
        )


def with_channels(values: object, name: str, ndim: int, dims: tuple[int, ...] = ()) -> np.ndarray:
    """Non-negative capacities (*positions, channels); with one channel its axis may be left out.

    There are ``ndim`` axes of positions; ``dims`` are the numbers of axes admitted if not ndim and ndim + 1.
    """
    array = nonnegative(values, name, dims or (ndim, ndim + 1))
    return array[..., None] if array.ndim == ndim else array


@dataclass(frozen=True, eq=False, repr=False)
class MatrixTransport(Record):
    """Capacity weights W∘W of a layer that is a matrix (paper 2, Eq. 2).

    Attributes
    ----------
    weights : (n_in, n_out) array
        Dense or sparse, non-negative: the squared weights W∘W.
    shape : tuple of int, optional
        (*positions, channels) of the inputs, with n_in entries; (n_in, 1) if left out.

    Examples
    --------
    >>> MatrixTransport.of_weights([[0.6, 0.0], [-0.8, 1.0]]).operator((2, 1))[0].toarray().round(2).tolist()
    [[0.36, 0.0], [0.64, 1.0]]
    """

    weights: np.ndarray | sparse.csr_array
    shape: tuple[int, ...] | None = None
    ndim: ClassVar[int] = 1
    """Number of axes of positions, as far as it is known."""

    def __post_init__(self) -> None:
        of_kind(self.shape, "shape", tuple | list | None, "a tuple of whole numbers")
        all_of_kind(self.shape or (), "shape", int | np.integer, "whole numbers")
        given = self.weights if sparse.issparse(self.weights) else nonnegative(self.weights, "weights", 2)
        matrix = sparse.csr_array(given, dtype=float)
        nonnegative(matrix.data if matrix.nnz else [0.0], "weights", 1)
        object.__setattr__(self, "weights", matrix)
        if self.shape is not None and int(np.prod(self.shape)) != matrix.shape[0]:
            raise ValueError(f"shape: found {self.shape}, expected one with {matrix.shape[0]} entries, one per row.")

    @classmethod
    def of_weights(cls, weights: object, shape: tuple[int, ...] | None = None) -> MatrixTransport:
        """The transport of a network's signed weights W (n_in, n_out), dense or sparse."""
        given = weights if sparse.issparse(weights) else finite_array(weights, "weights", 2)
        matrix = sparse.csr_array(given, dtype=float)
        matrix.data = squares(matrix.data, "weights")
        return cls(matrix, shape)

    @property
    def below(self) -> tuple[int, ...]:
        """(*positions, channels) of the inputs."""
        return self.shape or (self.weights.shape[0], 1)

    def input_shape(self, above: tuple[int, ...]) -> tuple[int, ...]:
        """Shape (*positions, channels) of the inputs for outputs of shape (*positions, channels)."""
        if int(np.prod(above)) != self.weights.shape[1]:
            raise ValueError(
                f"output: found {int(np.prod(above))} entries (shape {above}), expected {self.weights.shape[1]}, "
                "one for every column of the layer's weights."
            )
        return self.below

    def columns(self, above: tuple[int, ...]) -> np.ndarray:
        """(n_out,) sums of the columns."""
        self.input_shape(above)
        return np.asarray(self.weights.sum(axis=0)).reshape(-1)

    def operator(self, above: tuple[int, ...], boundary: str = "periodic") -> tuple[sparse.csr_array, np.ndarray]:
        """The matrix (n_in, n_out), and the loss (n_out,) at the boundary, which is zero."""
        self.input_shape(above)
        return self.weights, np.zeros(self.weights.shape[1])

    def scaled(self, factor: float) -> MatrixTransport:
        """All weights times ``factor``."""
        return MatrixTransport(self.weights * factor, self.shape)

    def normalised(self) -> MatrixTransport:
        """Every column divided by its sum, so that capacity is conserved."""
        return MatrixTransport(columns_to_one(sparse.csr_array(self.weights).toarray(), "weights"), self.shape)
