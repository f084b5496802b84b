"""What an architecture is: the base class of all models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from capcore.architectures import generic
from capcore.architectures.columns import compress_columns, equilibrate, numerical_rank
from capcore.checks.arguments import counted, finite_array, of_kind
from capcore.checks.double_precision import to_even_scale
from capcore.checks.models import refuse_model

Product = Callable[[np.ndarray], np.ndarray]
"""Of a matrix with a vector, or with columns."""
N_DRAWS = 3  # random parameters at which the rank of a model that is no polynomial is looked at


class Architecture(ABC):
    """A parametrised class of linear models: the map W ↦ A_W of paper 1, Eq. 12.

    A subclass sets the attributes, and gives ``init``, ``coefficients`` and ``jacobian``; everything else follows from
    these. With ``jacobian_modulo(params)``, the Jacobian at integers modulo a prime, its generic capacity is exact.

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
    homogeneous : tuple of str
        Layers in which the model is homogeneous, f(s·w) = s^k f(w): their scale changes no capacity.
    """

    n_inputs: int
    input_dim: int
    n_params: int
    layers: dict[str, slice]
    homogeneous: tuple[str, ...] = ()

    @abstractmethod
    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) random parameters to start from."""

    @abstractmethod
    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients A, lag 0 first."""

    @abstractmethod
    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) derivative ∂A/∂W of paper 1, Eq. 16."""

    def linearise(self, params: object) -> tuple[np.ndarray, Product]:
        """Coefficients (n_inputs · input_dim,) and the function v ↦ Jᵀv."""
        jacobian = self.jacobian(params)
        return self.coefficients(params), lambda vector: jacobian.T @ vector

    def vjp(self, params: object, vector: object) -> np.ndarray:
        """(n_params,) product Jᵀv with v (n_inputs · input_dim,)."""
        return self.linearise(params)[1](self.checked(vector, "vector", self.n_inputs * self.input_dim))

    def tangent_kernel(self, params: object) -> np.ndarray:
        """(n, n) product JJᵀ, the neural tangent kernel in coefficient space; n = n_inputs · input_dim."""
        jacobian = self.jacobian(params)
        return jacobian @ jacobian.T

    def tangents(self, params: object) -> dict[str, np.ndarray]:
        """For each layer, (n, ≤ n) columns that span its part of the Jacobian.

        Columns are scaled to unit length first, then compressed by an orthogonal transformation. Layers may have any
        scale, 1e±300 included, as far as :meth:`at_even_scale` helps.
        """
        arch, even = self.at_even_scale(params)
        jacobian = equilibrate(arch.jacobian(even))
        return {name: compress_columns(jacobian[:, part]) for name, part in self.layers.items()}

    def at_even_scale(self, params: object) -> tuple[Architecture, np.ndarray]:
        """An architecture and parameters (n_params,) with the same constraint spaces, whose layers have even scales.

        The layers that are ``homogeneous`` are multiplied by powers of two, so that nothing else changes, to the last
        bit.
        """
        even = self.checked(params).copy()
        for name in self.homogeneous:
            even[self.layers[name]] = to_even_scale(even[self.layers[name]])
        return self, even

    def is_polynomial(self) -> bool:
        """Whether there is a Jacobian modulo a prime, so that ranks are exact."""
        return hasattr(self, "jacobian_modulo")

    def generic_capacity(self) -> int:
        """Rank of the Jacobian at almost all parameters: κ of paper 1, §4.1, the dimension of the model space.

        It is exact for a polynomial; otherwise the largest numerical rank at three random parameters.
        """
        if self.is_polynomial():
            return generic.exact_rank(self)
        rng = np.random.default_rng(0)
        return max(numerical_rank(equilibrate(self.jacobian(self.init(rng)))) for _ in range(N_DRAWS))

    def checked(self, params: object, name: str = "params", size: int | None = None) -> np.ndarray:
        """(n_params,) finite numbers, or as many as ``size``. Raises ``ValueError`` for others."""
        vector, size = finite_array(params, name, 1), self.n_params if size is None else size
        if vector.size != size:
            raise ValueError(f"{name}: found {counted(vector.size, 'value')}, expected {size} as in {self!r}.")
        return vector


def check_architecture(value: object, name: str) -> None:
    """Raise ``TypeError`` unless ``value`` is an architecture."""
    if not isinstance(value, Architecture):
        refuse_model(value, name)
    of_kind(value, name, Architecture, "an architecture, such as Hierarchical")
