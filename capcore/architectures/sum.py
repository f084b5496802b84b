"""The sum of two architectures: two branches that read the same inputs, and whose outputs are added."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from capcore.architectures import generic
from capcore.architectures.base import Architecture, DenseJacobian, check_architecture
from capcore.architectures.columns import equilibrate, numerical_rank
from capcore.architectures.finite_field import residues
from capcore.architectures.linear import Linear
from capcore.architectures.scales import with_even_layers

N_DRAWS = 3


class Sum(DenseJacobian):
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
            raise ValueError(
                f"one, other: found {one.input_dim} and {other.input_dim} components per input, expected the same."
            )
        self.one, self.other = one, other
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
        values = self._checked(params)
        return values[: self.one.n_params], values[self.one.n_params :]

    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim,) sum of the branches' coefficients."""
        one, other = self.split(params)
        return self.extended(self.one.coefficients(one)) + self.extended(self.other.coefficients(other))

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) Jacobians of the branches, side by side."""
        one, other = self.split(params)
        return np.hstack([self.extended(self.one.jacobian(one)), self.extended(self.other.jacobian(other))])

    def jacobian_modulo(self, params: np.ndarray, prime: int) -> np.ndarray:
        """(n_inputs · input_dim, n_params) Jacobian at integer parameters, modulo a prime."""
        values, size = np.asarray(params), self.one.n_params
        parts = [(self.one, values[:size]), (self.other, values[size:])]
        return np.hstack([self.extended(modulo(arch, part, prime)) for arch, part in parts])

    def linearise(self, params: object) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Coefficients (n_inputs · input_dim,) and the function v ↦ Jᵀv, without J where a branch has none."""
        parts = zip((self.one, self.other), self.split(params), strict=True)
        (one, pull_one), (other, pull_other) = (arch.linearise(part) for arch, part in parts)
        return self.extended(one) + self.extended(other), lambda v: np.concatenate(
            [pull_one(v[: one.size]), pull_other(v[: other.size])]
        )

    def tangents(self, params: object) -> dict[str, np.ndarray]:
        """For each layer of either branch, columns that span its part of the Jacobian; the scale of a layer is even."""
        found: dict[str, np.ndarray] = {}
        for name, arch, part in zip(("one", "other"), (self.one, self.other), self.split(params), strict=True):
            even, at = with_even_layers(arch, part)
            found |= {f"{name}: {layer}": self.extended(columns) for layer, columns in even.tangents(at).items()}
        return found

    def generic_capacity(self) -> int:
        """Exact rank at almost all parameters, at most the sum of the branches'; numerical for a function that is no
        polynomial."""
        if is_exact(self):
            return generic.exact_rank(self)
        rng = np.random.default_rng(0)
        draws = [equilibrate(self.jacobian(self.init(rng))) for _ in range(N_DRAWS)]
        return max(numerical_rank(columns) for columns in draws)

    def extended(self, values: np.ndarray) -> np.ndarray:
        """Coefficients or columns of a branch, with rows of zeros for the inputs that it does not read."""
        missing = self.n_inputs * self.input_dim - len(values)
        return np.concatenate([values, np.zeros((missing, *values.shape[1:]), values.dtype)])


def modulo(arch: Any, params: np.ndarray, prime: int) -> np.ndarray:
    """The Jacobian of a branch modulo a prime; that of a fixed basis is the basis, as exact fractions."""
    if isinstance(arch, Linear) and not hasattr(arch, "jacobian_modulo"):
        return residues(arch.basis, prime).reshape(arch.basis.shape)
    return np.asarray(arch.jacobian_modulo(params, prime))


def is_exact(arch: Any) -> bool:
    """Whether the Jacobian has exact values modulo a prime."""
    if isinstance(arch, Sum):
        return is_exact(arch.one) and is_exact(arch.other)
    polynomial = getattr(arch, "is_polynomial", None)
    return isinstance(arch, Linear) or (hasattr(arch, "jacobian_modulo") and (polynomial is None or polynomial()))
