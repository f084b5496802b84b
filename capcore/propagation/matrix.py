"""Transport of capacity by any matrix: κ below = (W∘W) κ above (paper 2, Eq. 2).

Paper 2, Eq. 2, is off by one layer: κ^ℓ lives on the *inputs* of layer ℓ, so W_{ℓ−1} takes it to κ^{ℓ−1}. Here
a layer sends capacity from its outputs to its inputs, with W (in, out) as in X_ℓ = f(Wᵀ X_{ℓ−1}) of Eq. 1. As a Markov
kernel it is P(y → x) = W_xy², one column for every starting position y: capacity is conserved if columns sum to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from capcore.checks.arguments import finite_array
from capcore.results.notebook import Record

TOLERANCE = 1e-12  # of a column's sum: rounding of square roots and squares, for up to a few thousand entries


class NotStochasticError(ValueError):
    """Capacity would not be conserved: a layer's squared weights do not sum to one over its inputs."""


def nonnegative(values: object, name: str, ndim: int | tuple[int, ...]) -> np.ndarray:
    """``values`` as a finite array without negative entries: capacities, rates, fractions."""
    array = finite_array(values, name, ndim)
    if (array < 0).any():
        raise ValueError(f"{name}: found {array[array < 0][0]:g}, expected none negative, as of_weights gives them.")
    return array


def squares(values: np.ndarray, name: str) -> np.ndarray:
    """Squares of weights; raises ``ValueError`` if they leave double precision."""
    largest = np.abs(values).max(initial=0.0)
    if largest and not 1e-150 < largest < 1e150:
        raise ValueError(f"{name}: found weights up to {largest:.1e}, expected 1e-150 to 1e150. Rescale them.")
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
        raise ValueError(f"{name}: column {np.argmin(largest)} is zero, expected a weight in each. Or take it out.")
    level = np.ldexp(weights, -np.frexp(largest)[1])
    return level / level.reshape(columns.shape).sum(axis=0)


def require_stochastic(sums: np.ndarray, whose: str, advice: str) -> None:
    """Raise :class:`NotStochasticError` unless every column's sum is one: ``whose`` names the weights and a column."""
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > TOLERANCE:
        raise NotStochasticError(f"{whose} {worst} sum to {sums[worst]:.12g}, expected 1. {advice}")


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

    Examples
    --------
    >>> MatrixTransport.of_weights([[0.6, 0.0], [-0.8, 1.0]]).operator((2, 1))[0].toarray().round(2).tolist()
    [[0.36, 0.0], [0.64, 1.0]]
    """

    weights: np.ndarray | sparse.csr_array
    ndim: ClassVar[int] = 1
    """Number of axes of positions, as far as it is known."""

    def __post_init__(self) -> None:
        matrix = _sparse(self.weights)
        nonnegative(matrix.data if matrix.nnz else [0.0], "weights", 1)
        vars(self)["weights"] = matrix

    @classmethod
    def of_weights(cls, weights: object) -> MatrixTransport:
        """The transport of a network's signed weights W (n_in, n_out), dense or sparse."""
        matrix = _sparse(weights)
        matrix.data = squares(matrix.data, "weights")
        return cls(matrix)

    def input_shape(self, above: tuple[int, ...]) -> tuple[int, ...]:
        """Shape (n_in, 1) of the inputs for outputs of shape (*positions, channels)."""
        if np.prod(above) != self.weights.shape[1]:
            raise ValueError(f"output: found {np.prod(above)} entries, expected {self.weights.shape[1]}.")
        return self.weights.shape[0], 1

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
        return MatrixTransport(self.weights * factor)

    def normalised(self) -> MatrixTransport:
        """Every column divided by its sum, so that capacity is conserved."""
        return MatrixTransport(columns_to_one(sparse.csr_array(self.weights).toarray(), "weights"))


def _sparse(weights: Any) -> sparse.csr_array:
    given = weights if sparse.issparse(weights) else finite_array(weights, "weights", 2)
    return sparse.csr_array(given, dtype=float)
