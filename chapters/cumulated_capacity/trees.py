"""Hierarchical models with disjoint supports as trees, and the same trees in other coordinates of hidden channels.

For one output a stack of disjoint dilations is a tree. Layer ℓ reads c_{ℓ−1} channels at M_{ℓ−1} positions, every unit
of the layer below once, and its matrix W_ℓ has one copy of the kernel per position of its outputs. Signs may be drawn
after every hidden unit. The layers ℓ … L are a linear model of their own, whose input is what layer ℓ reads, with
covariance Bᵀ Σ B for B = W_1 … W_{ℓ−1}; paper 1's definition applies to it as it stands.

Any invertible matrix may be put between two layers and its inverse after it. Paper 1's capacities do not notice, since
they are those of the coefficients; squared weights do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Self

import numpy as np

from capcore import ConstraintSpace, Hierarchical


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

    @classmethod
    def of(cls, arch: Hierarchical, params: object) -> Self:
        """The trained model, of disjoint dilations: no unit is read more than once."""
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
        matrices = []
        for l, kernel in enumerate(self.kernels):
            block = kernel.transpose(1, 0, 2).reshape(-1, kernel.shape[2])
            matrix = _kron(np.eye(self.positions[l + 1]), block)
            matrices.append(matrix * self.signs[l] if self.signs and l < self.n_layers - 1 else matrix)
        return matrices

    @cached_property
    def above(self) -> list[np.ndarray]:
        """a_1 … a_{L+1}: coefficients of the output on what layer ℓ reads; a_{L+1} is the output itself."""
        return [*accumulate(self.matrices[::-1], lambda above, w: w @ above, initial=np.ones(1))][::-1]

    @property
    def coefficients(self) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients A of the linear model, lag 0 first."""
        return self.above[0]

    def covariances(self, covariance: np.ndarray) -> list[np.ndarray]:
        """Covariances of what layers 1 … L read, for the network's input (n, n)."""
        start = np.asarray(covariance, dtype=float)
        return [*accumulate(self.matrices[:-1], lambda sigma, w: w.T @ sigma @ w, initial=start)]

    def own_jacobian(self, layer: int) -> np.ndarray:
        """(M_{ℓ−1} c_{ℓ−1}, parameters) derivative of a_ℓ by the kernel of layer ℓ = ``layer``, 1 … L."""
        kernel, last = self.kernels[layer - 1], layer == self.n_layers
        after = self.above[layer] * (self.signs[layer - 1] if self.signs and not last else 1.0)
        return _kron(after.reshape(self.positions[layer], -1), np.eye(kernel.shape[0] * kernel.shape[1]))

    def spaces(self, at: int, covariance: np.ndarray) -> list[ConstraintSpace]:
        """Constraint spaces of layers L, L − 1, …, ``at`` (in this order) in the space of what layer ``at`` reads.

        Parameters
        ----------
        covariance : that of what layer ``at`` reads; see :meth:`covariances`.
        """
        spaces, below = [], np.asarray(covariance, dtype=float)
        for layer in range(at, self.n_layers + 1):
            spaces.append(ConstraintSpace.from_columns(below @ self.own_jacobian(layer)))
            below = below @ self.matrices[layer - 1]
        return spaces[::-1]

    def with_signs(self, rng: np.random.Generator) -> Self:
        """The same kernels with a fresh random sign after every hidden unit."""
        return replace(self, signs=[rng.choice([-1.0, 1.0], w.shape[1]) for w in self.matrices[:-1]])


def _kron(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``np.kron`` of two matrices; for small ones it takes most of its time to look at their axes."""
    return (a[:, None, :, None] * b[:, None, :]).reshape(len(a) * len(b), -1)


def _recoordinated(tree: TreeNetwork, split: Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]) -> TreeNetwork:
    """Kernels from the input on: ``split`` takes the block (taps · in, out) of layer l to a new one and a carry."""
    kernels, carry = [], np.eye(tree.kernels[0].shape[0])
    for l, kernel in enumerate(tree.kernels):
        turned = np.einsum("ab,btc->tac", carry, kernel)
        block = turned.reshape(-1, kernel.shape[2])
        if l + 1 < tree.n_layers:
            block, carry = split(block, l)
        kernels.append(block.reshape(*turned.shape[:2], -1).transpose(1, 0, 2))
    return TreeNetwork(kernels)


def rotated(tree: TreeNetwork, rng: np.random.Generator) -> TreeNetwork:
    """The same function with the hidden channels of every layer turned by a random orthogonal matrix.

    Signs of channels, which no squared weight sees and which processors choose differently in an optimum, are fixed
    before: trees that differ in signs only are turned into the same one.
    """

    def split(block: np.ndarray, layer: int) -> tuple[np.ndarray, np.ndarray]:
        signs = np.where(rng.normal(size=len(block)) @ block < 0, -1.0, 1.0)
        q = signs[:, None] * np.linalg.qr(rng.normal(size=(block.shape[1],) * 2))[0]
        return block @ q, q.T

    return _recoordinated(tree, split)


def isometric(tree: TreeNetwork) -> TreeNetwork:
    """The same function with orthonormal columns in every layer but the uppermost.

    A layer's triangular factor goes into the layer above it: the left-canonical form of a tensor train. Channels that
    cannot be independent, more of them than a layer's inputs, are left out.

    >>> tree = isometric(TreeNetwork([np.array([[[3.0], [4.0]]]), np.ones((1, 2, 1))]))
    >>> np.abs(tree.matrices[0]).sum(axis=0).round(9).tolist(), tree.coefficients.round(9).tolist()
    ([1.4, 1.4], [3.0, 4.0, 3.0, 4.0])
    """

    return _recoordinated(tree, lambda block, layer: np.linalg.qr(block))


def whitened(tree: TreeNetwork, covariance: np.ndarray) -> TreeNetwork:
    """The same function with hidden channels of unit variance, uncorrelated at one position (mean over positions).

    Directions of no variance, below 1e-12 of the largest, are left out.
    """
    sigma = np.asarray(covariance, dtype=float)

    def split(block: np.ndarray, layer: int) -> tuple[np.ndarray, np.ndarray]:
        nonlocal sigma
        m, c = tree.positions[layer + 1], block.shape[1]
        matrix = _kron(np.eye(m), block)
        above = (matrix.T @ sigma @ matrix).reshape(m, c, m, c)
        values, vectors = np.linalg.eigh(np.einsum("iaib->ab", above) / m)
        large = values > 1e-12 * values[-1]
        turn = vectors[:, large] / np.sqrt(values[large])
        matrix = _kron(np.eye(m), block @ turn)
        sigma = matrix.T @ sigma @ matrix
        return block @ turn, (vectors[:, large] * np.sqrt(values[large])).T

    return _recoordinated(tree, split)


def residual_tree(channels: int, n_layers: int, jump: float, rng: np.random.Generator) -> TreeNetwork:
    """Residual layers of kernel size 2: tap 0 is √(1 − jump) times the identity, tap 1 √jump times a random rotation.

    Their columns are orthonormal. The input has as many components per position as there are channels; the output is
    the first channel of the uppermost layer.

    >>> residual_tree(2, 3, 0.1, np.random.default_rng(0)).coefficients.shape
    (16,)
    """
    kernels = []
    for _ in range(n_layers):
        turn = np.linalg.qr(rng.normal(size=(channels, channels)))[0]
        kernels.append(np.stack([np.sqrt(1 - jump) * np.eye(channels), np.sqrt(jump) * turn], axis=1))
    return TreeNetwork([*kernels[:-1], kernels[-1][:, :, :1]])
