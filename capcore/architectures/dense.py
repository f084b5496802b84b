"""What follows from a Jacobian that can be written down: products, the tangent kernel, the layers' tangents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from capcore.constraints import compress_columns, equilibrate
from capcore.validation import finite_array


class DenseJacobian(ABC):
    """Base of architectures that give their coefficients and their Jacobian as arrays; the rest comes from these two.

    Subclasses set ``n_inputs``, ``input_dim``, ``n_params`` and ``layers`` (name → slice of the parameter vector).
    """

    n_inputs: int
    input_dim: int
    n_params: int
    layers: dict[str, slice]

    @abstractmethod
    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients A, lag 0 first."""

    @abstractmethod
    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) derivative ∂A/∂W."""

    def linearise(self, params: object) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Coefficients (n_inputs · input_dim,) and the function v ↦ Jᵀv."""
        jacobian = self.jacobian(params)
        return self.coefficients(params), lambda vector: jacobian.T @ vector

    def vjp(self, params: object, vector: object) -> np.ndarray:
        """(n_params,) product Jᵀv with v (n_inputs · input_dim,)."""
        values = finite_array(vector, "vector", 1)
        if values.size != self.n_inputs * self.input_dim:
            raise ValueError(
                f"vector: found {values.size} values, expected {self.n_inputs * self.input_dim}, "
                f"one per coefficient of {self!r}."
            )
        return self.linearise(params)[1](values)

    def tangent_kernel(self, params: object) -> np.ndarray:
        """(n, n) product JJᵀ."""
        jacobian = self.jacobian(params)
        return jacobian @ jacobian.T

    def tangents(self, params: object) -> dict[str, np.ndarray]:
        """For each layer, columns that span its part of the Jacobian, scaled to unit length and compressed."""
        jacobian = equilibrate(self.jacobian(params))
        return {name: compress_columns(jacobian[:, part]) for name, part in self.layers.items()}

    def _checked(self, params: object, name: str = "params") -> np.ndarray:
        """(n_params,) finite numbers. Raises ``ValueError`` for others."""
        vector = finite_array(params, name, 1)
        if vector.size != self.n_params:
            raise ValueError(f"{name}: found {vector.size} values, expected {self.n_params} (n_params) for {self!r}.")
        return vector
