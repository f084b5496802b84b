"""Linear models: coefficients A = B w for a fixed basis B. With B = I, the fully connected benchmark of Fig. 4."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from capcore.constraints import ConstraintSpace, equilibrate
from capcore.validation import finite_array, positive_integer


class Linear:
    """Coefficients A = B w: a linear map from parameters to coefficients.

    Parameters
    ----------
    basis : (n_inputs · input_dim, n_params) the matrix B, position-major, lag 0 first.
    input_dim : components per input position.

    The least-squares optimum is unique in A, and κ = rank B wherever one looks.

    >>> Linear(np.eye(4)[:, :2]).coefficients([3.0, 5.0]).tolist()
    [3.0, 5.0, 0.0, 0.0]
    """

    def __init__(self, basis: object, input_dim: int = 1) -> None:
        self.basis = finite_array(basis, "basis", 2)
        input_dim = positive_integer(input_dim, "input_dim")
        if self.basis.shape[0] % input_dim:
            raise ValueError(f"basis: found {self.basis.shape[0]} rows, expected a multiple of input_dim {input_dim}.")
        self.input_dim = input_dim
        self.n_inputs = self.basis.shape[0] // input_dim
        self.n_params = self.basis.shape[1]
        self.layers = {"layer 1": slice(0, self.n_params)}

    def __repr__(self) -> str:
        return f"Linear(<{self.basis.shape[0]} x {self.n_params} basis>)"

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) standard normal parameters."""
        return rng.normal(size=(self.n_params,))

    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients B w."""
        return self.linearise(params)[0]

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) the basis itself."""
        return self.basis.copy()

    def linearise(self, params: object) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Coefficients and the function v ↦ Bᵀv."""
        w = finite_array(params, "params", 1)
        if w.size != self.n_params:
            raise ValueError(f"params: found {w.size} values, expected {self.n_params} for {self!r}.")

        def pullback(vector: np.ndarray) -> np.ndarray:
            product: np.ndarray = self.basis.T @ vector
            return product

        return self.basis @ w, pullback

    def vjp(self, params: object, vector: np.ndarray) -> np.ndarray:
        """(n_params,) product Bᵀv."""
        return self.linearise(params)[1](vector)

    def tangent_kernel(self, params: object) -> np.ndarray:
        """(n, n) product BBᵀ."""
        return self.basis @ self.basis.T

    def tangents(self, params: object) -> dict[str, np.ndarray]:
        """The scaled columns of the basis, as the only layer."""
        return {"layer 1": equilibrate(self.basis)}

    def generic_capacity(self) -> int:
        """Rank of the basis (numerical: a real basis has no exact arithmetic to go to)."""
        return ConstraintSpace.from_columns(self.basis).dimension
