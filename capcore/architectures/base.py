"""What the rest of the package asks of an architecture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np


class Architecture(Protocol):
    """A parametrised class of linear models, params (n_params,) → coefficients (n_inputs · input_dim,)."""

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
        """(n_inputs · input_dim, n_params) derivative ∂A/∂W."""
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
        """Exact rank of the Jacobian at almost all parameters."""
        ...


@runtime_checkable
class PoleModel(Protocol):
    """An architecture whose coefficients are sums of exponentials: the poles' weights can be eliminated from a fit."""

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
        """(n, channels) exponentials, and their derivatives by the poles."""
        ...

    def coefficients(self, params: np.ndarray) -> np.ndarray:
        """(n_inputs,) coefficients."""
        ...

    def with_channels(self, channels: int) -> PoleModel:
        """The same model with another number of channels."""
        ...
