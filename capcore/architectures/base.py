"""The interface of an architecture, and a base class for architectures that compute their Jacobian as an array."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

from capcore.architectures.columns import compress_columns, equilibrate
from capcore.checks.arguments import finite_array


class Architecture(Protocol):
    """A parametrised class of linear models: the map W ↦ A_W of paper 1, Eq. 12.

    Attributes
    ----------
    n_inputs : int
        Number of input positions.
    input_dim : int
        Components per position.
    n_params : int
        Number of parameters.
    layers : dict
        Layer name → slice of the parameter vector.
    """

    n_inputs: int
    input_dim: int
    n_params: int
    layers: dict[str, slice]

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) random parameters to start from."""
        ...

    def coefficients(self, params: np.ndarray) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients A, lag 0 first."""
        ...

    def jacobian(self, params: np.ndarray) -> np.ndarray:
        """(n_inputs · input_dim, n_params) derivative ∂A/∂W of paper 1, Eq. 16."""
        ...

    def linearise(self, params: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Coefficients and the function v ↦ Jᵀv."""
        ...

    def vjp(self, params: np.ndarray, vector: np.ndarray) -> np.ndarray:
        """(n_params,) product Jᵀv."""
        ...

    def tangent_kernel(self, params: np.ndarray) -> np.ndarray:
        """(n, n) product JJᵀ."""
        ...

    def tangents(self, params: np.ndarray) -> dict[str, np.ndarray]:
        """For each layer, columns that span its part of the Jacobian (equilibrated and compressed)."""
        ...

    def generic_capacity(self) -> int:
        """Exact rank of the Jacobian at almost all parameters: κ of paper 1, §4.1, the dimension of the model space."""
        ...


@runtime_checkable
class PoleModel(Protocol):
    """An architecture whose coefficients are sums of exponentials, so that a fit can eliminate the poles' weights."""

    n_inputs: int
    channels: int

    def poles(self, params: object) -> np.ndarray:
        """(channels,) poles."""
        ...

    def weights(self, params: object) -> np.ndarray:
        """(channels,) their weights."""
        ...

    def assemble(self, poles: object, weights: object) -> np.ndarray:
        """(n_params,) parameters with these poles and weights."""
        ...

    def basis(self, poles: object) -> tuple[np.ndarray, np.ndarray]:
        """(n, channels) exponentials, and their derivatives with respect to the poles."""
        ...

    def coefficients(self, params: np.ndarray) -> np.ndarray:
        """(n_inputs,) coefficients."""
        ...

    def with_channels(self, channels: int) -> PoleModel:
        """The same model with another number of channels."""
        ...


class DenseJacobian(ABC):
    """Base class of architectures that return coefficients and Jacobian as arrays; everything else follows from these.

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


def check_architecture(value: object, name: str) -> None:
    """Raise ``TypeError`` unless ``value`` is an architecture: recognised by what it can do, and no class."""
    if isinstance(value, type) or not (hasattr(value, "jacobian") and hasattr(value, "n_params")):
        raise TypeError(f"{name}: found {type(value).__name__}, expected an architecture, and not its class.")
