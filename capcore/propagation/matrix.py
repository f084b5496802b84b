"""Transport of capacity by any matrix: κ below = (W∘W) κ above (paper 2, Eq. 2).

Equation 2 is one layer off: κ^ℓ lives on the *inputs* of layer ℓ, so it is W_{ℓ−1} that takes it to κ^{ℓ−1}. Here a
layer sends capacity from its outputs to its inputs, with W (in, out) as in X_ℓ = f(Wᵀ X_{ℓ−1}). As a Markov kernel
it is P(y → x) = W_xy², one column for every starting position y: capacity is conserved where the columns sum to one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from capcore.validation import finite_array

TOLERANCE = 1e-12  # of a column's sum: rounding of square roots and squares, for up to some thousand entries


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


def scale_to_one(sums: np.ndarray, name: str) -> np.ndarray:
    """1/sums (m,), refusing columns that hold nothing."""
    if (sums <= 0).any():
        raise ValueError(
            f"{name}: column {int(np.flatnonzero(sums <= 0)[0])} is zero and cannot be normalised. "
            "That output reads no input: take it out, or give it a weight."
        )
    return 1 / sums


@dataclass(frozen=True, eq=False)
class MatrixTransport:
    """Capacity weights of a layer that is a matrix.

    Attributes
    ----------
    weights : (n_in, n_out), dense or sparse, none negative: the squared weights W∘W.
    shape : (*positions, channels) of the inputs, with n_in entries; ``None`` stands for (n_in, 1).

    >>> MatrixTransport.of_weights([[0.6, 0.0], [-0.8, 1.0]]).operator((2, 1))[0].toarray().round(2).tolist()
    [[0.36, 0.0], [0.64, 1.0]]
    """

    weights: np.ndarray | sparse.csr_array
    shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if sparse.issparse(self.weights):
            matrix = sparse.csr_array(self.weights, dtype=float)
            nonnegative(matrix.data if matrix.nnz else [0.0], "weights", 1)
        else:
            matrix = sparse.csr_array(nonnegative(self.weights, "weights", 2))
        object.__setattr__(self, "weights", matrix)
        if self.shape is not None and int(np.prod(self.shape)) != matrix.shape[0]:
            raise ValueError(f"shape: found {self.shape}, expected one with {matrix.shape[0]} entries, one per row.")

    @classmethod
    def of_weights(cls, weights: object, shape: tuple[int, ...] | None = None) -> MatrixTransport:
        """From the signed weights W (n_in, n_out) of a network, dense or sparse."""
        if sparse.issparse(weights):
            return cls(sparse.csr_array(weights).power(2), shape)
        return cls(finite_array(weights, "weights", 2) ** 2, shape)

    @property
    def ndim(self) -> int:
        """Number of axes of positions, as far as it is known: one."""
        return 1

    @property
    def below(self) -> tuple[int, ...]:
        """(*positions, channels) of the inputs."""
        return self.shape or (self.weights.shape[0], 1)

    def input_shape(self, above: tuple[int, ...]) -> tuple[int, ...]:
        """(*positions, channels) of the inputs for outputs (*positions, channels)."""
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
        scale = scale_to_one(np.asarray(self.weights.sum(axis=0)).reshape(-1), "weights")
        return MatrixTransport(self.weights @ sparse.diags_array(scale), self.shape)
