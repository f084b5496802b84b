"""The sum of two architectures: two branches that read the same inputs, and whose outputs are added."""

from typing import Any

import numpy as np

from capcore.architectures.base import Architecture, check_architecture


class Sum(Architecture):
    """Two branches side by side, whose coefficients are added: a stack beside a few taps, say.

    Where a branch is linear in its parameters, a fit eliminates them. The other branch then predicts what is left,
    under the Schur complement of Σ, and the joint optimum is exact in the linear branch.

    Parameters
    ----------
    one, other : Architecture
        The branches. The one with fewer inputs reads the most recent ones.

    Attributes
    ----------
    n_inputs : int
        Of the longer branch.
    n_params : int
        Those of ``one``, then those of ``other``.
    layers : dict
        Layers of both, as "one: layer 1", "other: layer 1", ….

    Raises
    ------
    ValueError
        If the branches read inputs of different dimensions.

    Examples
    --------
    >>> from capcore.architectures import AutoRegressiveTaps, Hierarchical
    >>> arch = Sum(AutoRegressiveTaps(2), Hierarchical(channels=1, n_layers=2))
    >>> arch.coefficients([1.0, 2.0, 1.0, 1.0, 1.0, 3.0]).tolist(), arch.n_params, arch.generic_capacity()
    ([2.0, 3.0, 3.0, 3.0], 6, 4)
    """

    def __init__(self, one: Architecture, other: Architecture) -> None:
        check_architecture(one, "one")
        check_architecture(other, "other")
        if one.input_dim != other.input_dim:
            raise ValueError(f"input_dim: found {one.input_dim} and {other.input_dim}, expected one for both branches.")
        self.one: Any = one
        self.other: Any = other
        self.input_dim = one.input_dim
        self.n_inputs = max(one.n_inputs, other.n_inputs)
        self.n_params = one.n_params + other.n_params
        shift = one.n_params
        self.layers = {f"one: {name}": part for name, part in one.layers.items()}
        for name, part in other.layers.items():
            self.layers[f"other: {name}"] = slice(part.start + shift, part.stop + shift)

    def __repr__(self) -> str:
        return f"Sum({self.one!r}, {self.other!r})"

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) random parameters of both branches."""
        return np.concatenate([self.one.init(rng), self.other.init(rng)])

    def split(self, params: object) -> tuple[np.ndarray, np.ndarray]:
        """The parameters of the two branches."""
        values = self.checked(params)
        return values[: self.one.n_params], values[self.one.n_params :]

    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim,) sum of the branches' coefficients."""
        one, other = self.split(params)
        return self.extended(self.one.coefficients(one)) + self.extended(self.other.coefficients(other))

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) Jacobians of the branches, side by side."""
        one, other = self.split(params)
        return np.hstack([self.extended(self.one.jacobian(one)), self.extended(self.other.jacobian(other))])

    def jacobian_modulo(self, params: np.ndarray) -> np.ndarray:
        """(n_inputs · input_dim, n_params) Jacobian at integer parameters, modulo a prime."""
        one, other = np.split(np.asarray(params), [self.one.n_params])
        parts = [self.one.jacobian_modulo(one), self.other.jacobian_modulo(other)]
        return np.hstack([self.extended(part) for part in parts])

    def tangents(self, params: object) -> dict[str, np.ndarray]:
        """For each layer of either branch, columns that span its part of the Jacobian."""
        one, other = self.split(params)
        columns = [*self.one.tangents(one).values(), *self.other.tangents(other).values()]
        return dict(zip(self.layers, map(self.extended, columns), strict=True))

    def is_polynomial(self) -> bool:
        """Whether both branches are polynomials."""
        return self.one.is_polynomial() and self.other.is_polynomial()

    def extended(self, values: np.ndarray) -> np.ndarray:
        """Coefficients or columns of a branch, with rows of zeros for the inputs that it does not read."""
        missing = self.n_inputs * self.input_dim - len(values)
        return np.concatenate([values, np.zeros((missing, *values.shape[1:]), values.dtype)])
