"""Hierarchical models with disjoint supports, layer by layer: what each layer reads, and its constraints there.

For one output a stack of disjoint dilations is a tree. Layer ℓ reads c_{ℓ−1} channels at M_{ℓ−1} positions, every unit
of the layer below once, and its matrix W_ℓ has one copy of the kernel per position of its outputs. Signs may be drawn
after every hidden unit. The layers ℓ … L are a linear model of their own, whose input is what layer ℓ reads, with
covariance Bᵀ Σ B for B = W_1 … W_{ℓ−1}; paper 1's definition applies to it as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from capcore.architectures.hierarchical import Hierarchical
from capcore.constraints import ConstraintSpace
from capcore.validation import finite_array


@dataclass(frozen=True, eq=False)
class TreeNetwork:
    """Kernels of a stack with disjoint supports and one output, with a sign after every hidden unit.

    Attributes
    ----------
    kernels : (in, taps, out) of layers 1 … L, layer 1 nearest the input; the uppermost has one output.
    signs : for layers 1 … L − 1, (M_ℓ c_ℓ,) numbers ±1, positions slower than channels; empty for none.

    >>> tree = TreeNetwork([np.ones((1, 2, 3)), np.ones((3, 2, 1))])
    >>> [matrix.shape for matrix in tree.matrices], tree.coefficients.tolist()
    ([(4, 6), (6, 1)], [3.0, 3.0, 3.0, 3.0])
    """

    kernels: Sequence[np.ndarray]
    signs: Sequence[np.ndarray] = ()

    def __post_init__(self) -> None:
        kernels = [finite_array(kernel, "kernels", 3) for kernel in self.kernels]
        for l, (below, above) in enumerate(pairwise(kernels), 1):
            if below.shape[2] != above.shape[0]:
                raise ValueError(
                    f"kernels: found {below.shape[2]} channels out of layer {l} and {above.shape[0]} into the next, "
                    "expected equal numbers."
                )
        if not kernels or kernels[-1].shape[2] != 1:
            raise ValueError("kernels: expected at least one layer, the uppermost with one output channel.")
        object.__setattr__(self, "kernels", kernels)
        if len(self.signs) not in (0, len(kernels) - 1):
            raise ValueError(
                f"signs: found {len(self.signs)} arrays, expected none or {len(kernels) - 1}, one per layer."
            )

    @classmethod
    def of(cls, arch: Hierarchical, params: object) -> TreeNetwork:
        """The trained model. Raises ``ValueError`` for overlapping dilations, where units are read more than once."""
        if not arch.has_disjoint_supports:
            raise ValueError(f"arch: found overlapping dilations {arch.dilations}, expected disjoint supports.")
        return cls(arch.kernels(params))

    @property
    def n_layers(self) -> int:
        """L."""
        return len(self.kernels)

    @cached_property
    def positions(self) -> list[int]:
        """M_0 … M_L: positions of the input and of the outputs of every layer; M_L = 1."""
        taps = [kernel.shape[1] for kernel in self.kernels]
        return [int(np.prod(taps[l:])) for l in range(self.n_layers + 1)]

    @cached_property
    def matrices(self) -> list[np.ndarray]:
        """W_1 … W_L with the signs of their outputs, each (M_{ℓ−1} c_{ℓ−1}, M_ℓ c_ℓ)."""
        found = []
        for l, kernel in enumerate(self.kernels):
            block = kernel.transpose(1, 0, 2).reshape(-1, kernel.shape[2])
            matrix = np.kron(np.eye(self.positions[l + 1]), block)
            found.append(matrix * self.signs[l] if self.signs and l < self.n_layers - 1 else matrix)
        return found

    @cached_property
    def above(self) -> list[np.ndarray]:
        """a_1 … a_{L+1}: coefficients of the output on what layer ℓ reads; a_{L+1} is the output itself."""
        found = [np.ones(1)]
        for matrix in self.matrices[::-1]:
            found.append(matrix @ found[-1])
        return found[::-1]

    @property
    def coefficients(self) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients A of the linear model, lag 0 first."""
        return self.above[0]

    def covariances(self, covariance: np.ndarray) -> list[np.ndarray]:
        """Covariances of what layers 1 … L read, for the network's input (n, n)."""
        found = [np.asarray(covariance, dtype=float)]
        for matrix in self.matrices[:-1]:
            found.append(matrix.T @ found[-1] @ matrix)
        return found

    def own_jacobian(self, layer: int) -> np.ndarray:
        """(M_{ℓ−1} c_{ℓ−1}, parameters) derivative of a_ℓ by the kernel of layer ℓ = ``layer``, 1 … L."""
        kernel, last = self.kernels[layer - 1], layer == self.n_layers
        after = self.above[layer] * (self.signs[layer - 1] if self.signs and not last else 1.0)
        return np.kron(after.reshape(self.positions[layer], -1), np.eye(kernel.shape[0] * kernel.shape[1]))

    def spaces(self, at: int, covariance: np.ndarray) -> list[ConstraintSpace]:
        """Constraint spaces of layers L, L − 1, …, ``at`` (in this order) in the space of what layer ``at`` reads.

        Parameters
        ----------
        covariance : that of what layer ``at`` reads; see :meth:`covariances`.
        """
        found, below = [], np.asarray(covariance, dtype=float)
        for layer in range(at, self.n_layers + 1):
            found.append(ConstraintSpace.from_columns(below @ self.own_jacobian(layer)))
            below = below @ self.matrices[layer - 1]
        return found[::-1]

    def with_signs(self, rng: np.random.Generator) -> TreeNetwork:
        """The same kernels with a fresh random sign after every hidden unit."""
        return TreeNetwork(self.kernels, [rng.choice([-1.0, 1.0], w.shape[1]) for w in self.matrices[:-1]])
