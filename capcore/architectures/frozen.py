"""An architecture in which some parameters are fixed and only the others are trained (paper 1, Conjecture 2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from capcore.architectures.base import Architecture, check_architecture
from capcore.architectures.finite_field import PRIME, residues


class Frozen(Architecture):
    """An architecture in which only some parameters are free.

    Parameters
    ----------
    arch : Architecture
        The architecture before any parameter is fixed.
    values : (arch.n_params,) array_like
        A value for every parameter; those of free ones are not used.
    free : array_like of int or bool
        Indices of the free parameters, or a mask (arch.n_params,).

    Attributes
    ----------
    n_params : int
        Number of free parameters, in the order of ``arch``.
    layers : dict
        Layer name → slice of the free parameters; layers without any are left out.

    Raises
    ------
    ValueError
        If no parameter is free or an index does not exist.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> arch = Frozen(Hierarchical(1, 2), values=[2.0, 3.0, 0.0, 0.0], free=[2, 3])
    >>> arch.coefficients([1.0, 5.0]).tolist(), arch.generic_capacity()
    ([2.0, 3.0, 10.0, 15.0], 2)
    """

    def __init__(self, arch: Architecture, values: object, free: object) -> None:
        check_architecture(arch, "arch")
        self.arch: Any = arch
        self.values = arch.checked(values, "values")
        chosen = np.asarray(free)
        if chosen.dtype == bool and chosen.shape == (arch.n_params,):
            chosen = np.flatnonzero(chosen)
        usable = chosen.size > 0 and chosen.ndim == 1 and chosen.dtype.kind in "iu"
        if not usable or chosen.min() < 0 or chosen.max() >= arch.n_params:
            raise ValueError(f"free: found {free!r}, expected some index from 0 to {arch.n_params - 1}, or a mask.")
        self.free = np.unique(chosen)
        self.n_inputs, self.input_dim, self.n_params = arch.n_inputs, arch.input_dim, self.free.size
        self.layers = {}
        for name, part in arch.layers.items():
            first, last = np.searchsorted(self.free, [part.start, part.stop]).tolist()
            if last > first:
                self.layers[name] = slice(first, last)

    def __repr__(self) -> str:
        return f"Frozen({self.arch!r}, {self.n_params} of {self.arch.n_params} parameters free)"

    def embed(self, params: object) -> np.ndarray:
        """(arch.n_params,) all parameters, from the free ones (n_params,)."""
        whole = self.values.copy()
        whole[self.free] = self.checked(params)
        return whole

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) free entries of random parameters of ``arch``."""
        return self.arch.init(rng)[self.free]

    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients A."""
        return self.arch.coefficients(self.embed(params))

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) columns of the free parameters."""
        return self.arch.jacobian(self.embed(params))[:, self.free]

    def jacobian_modulo(self, params: np.ndarray) -> np.ndarray:
        """(n_inputs · input_dim, n_params) Jacobian at integer parameters; the fixed ones keep their values."""
        whole = residues(self.values)
        whole[self.free] = np.asarray(params) % PRIME
        return self.arch.jacobian_modulo(whole)[:, self.free]

    def is_polynomial(self) -> bool:
        """Whether the architecture before any parameter was fixed is a polynomial."""
        return self.arch.is_polynomial()

    def at_even_scale(self, params: object) -> tuple[Frozen, np.ndarray]:
        """A frozen model and its free parameters (n_params,), in which fixed and free ones have even scales."""
        arch, whole = self.arch.at_even_scale(self.embed(params))
        return Frozen(arch, whole, self.free), whole[self.free]
