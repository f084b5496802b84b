"""The same hierarchical model in other coordinates of its hidden channels, and trees with orthonormal layers.

Any invertible matrix may be put between two layers and its inverse after it. Paper 1's capacities do not notice, since
they are those of the coefficients; squared weights do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from capcore.validation import finite_number, positive_integer
from chapters.cumulated_capacity.tree_network import TreeNetwork


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

    def split(block: np.ndarray, layer: int) -> tuple[np.ndarray, np.ndarray]:
        q, r = np.linalg.qr(block)
        return q, r

    return _recoordinated(tree, split)


def whitened(tree: TreeNetwork, covariance: np.ndarray) -> TreeNetwork:
    """The same function with hidden channels of unit variance, uncorrelated at one position (mean over positions).

    Directions of no variance, below 1e-12 of the largest, are left out.
    """
    sigma = np.asarray(covariance, dtype=float)

    def split(block: np.ndarray, layer: int) -> tuple[np.ndarray, np.ndarray]:
        nonlocal sigma
        m, c = tree.positions[layer + 1], block.shape[1]
        matrix = np.kron(np.eye(m), block)
        above = (matrix.T @ sigma @ matrix).reshape(m, c, m, c)
        values, vectors = np.linalg.eigh(np.einsum("iaib->ab", above) / m)
        kept = values > 1e-12 * values[-1]
        turn = vectors[:, kept] / np.sqrt(values[kept])
        matrix = np.kron(np.eye(m), block @ turn)
        sigma = matrix.T @ sigma @ matrix
        return block @ turn, (vectors[:, kept] * np.sqrt(values[kept])).T

    return _recoordinated(tree, split)


def residual_tree(channels: int, n_layers: int, jump: float, rng: np.random.Generator) -> TreeNetwork:
    """Residual layers of kernel size 2: tap 0 is √(1 − jump) times the identity, tap 1 √jump times a random rotation.

    Their columns are orthonormal. The input has as many components per position as there are channels; the output is
    the first channel of the uppermost layer.

    >>> residual_tree(2, 3, 0.1, np.random.default_rng(0)).coefficients.shape
    (16,)
    """
    share = finite_number(jump, "jump")
    if not 0 < share < 1:
        raise ValueError(f"jump: found {jump!r}, expected between 0 and 1: the share of capacity that jumps.")
    channels, kernels = positive_integer(channels, "channels"), []
    for _ in range(positive_integer(n_layers, "n_layers")):
        turn = np.linalg.qr(rng.normal(size=(channels, channels)))[0]
        kernels.append(np.stack([np.sqrt(1 - share) * np.eye(channels), np.sqrt(share) * turn], axis=1))
    return TreeNetwork([*kernels[:-1], kernels[-1][:, :, :1]])
