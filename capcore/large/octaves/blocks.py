"""Nested orthonormal bases of the blocks of a receptive field, and the tangent space in their coordinates.

A block of level l holds N_l = n_1 ⋯ n_l consecutive positions. Whatever lies outside, ΣT restricted to a block is
spanned by the functions that enter through its edges (Φ from the left, Ψ from the right), by the block's own product
S_l U_l for the columns of higher layers, and by S_l Z for those of the layers up to l. With Q_l an orthonormal basis of
[Φ, Ψ, S_l U_l], the range of Q_{l+1} lies in that of the children's Q_l side by side: a QR decomposition of about two
hundred rows replaces one of N_l. The part of the columns Z beyond Q_l, their *detail*, does not depend on anything
outside the block, and is complete at that level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from capcore.capacity.tangent_space import TangentSpace
from capcore.large.octaves.predictor import ExponentialSequence


class Corner(NamedTuple):
    """T on the first n_{l+1} blocks of level l, whose higher digits are all zero.

    Attributes
    ----------
    upper : (n_{l+1}, s_l) array
        Rows of V_l, which multiply the columns of layers 1 … l; no columns for l = 0.
    frame : (n_{l+1}, p_l, κ_{>l}) array
        Coefficients in U_l of the columns of layers l + 1 … L.
    """

    upper: np.ndarray
    frame: np.ndarray


def corners(space: TangentSpace) -> list[Corner]:
    """Corners of levels 0 … L−1, from the highest digit downwards."""
    row, frame = np.ones(1), np.zeros((0, 0))
    result: list[Corner] = []
    for l in range(space.n_layers - 1, -1, -1):
        taps, core = range(space.kernel_sizes[l]), space.complements[l]
        below = space.below[l] if result else core[:, :, :0]
        frames = np.stack([np.hstack([np.kron(row, core[:, t]), below[:, t] @ frame]) for t in taps])
        upper = np.stack([space.above[l - 1][:, t] @ row for t in taps]) if l else np.zeros((len(taps), 0))
        result.append(Corner(upper, frames))
        row, frame = upper[0], frames[0]
    return result[::-1]


class Share(NamedTuple):
    """The blocks of one level l in each of the bands l … L−1, through the rows V of V_l that belong to them.

    Attributes
    ----------
    factor : (f, s_l) array
        Triangular, factorᵀ factor = Σ vᵀv over the blocks of all those bands.
    parts : list of (·, f) arrays
        For each band: partᵀ part sums to the identity, and part @ factor replaces the band's own rows.
    """

    factor: np.ndarray
    parts: list[np.ndarray]


def shares(space: TangentSpace, corner: list[Corner]) -> list[Share]:
    """Shares of levels 1 … L−1. Only triangular factors are added up, so that small shares keep their digits."""
    result = []
    rows: list[np.ndarray] = []
    for l in range(space.n_layers - 1, 0, -1):
        core = space.above[l - 1]
        rows = [np.vstack([r @ core[:, t].T for t in range(core.shape[1])]) for r in rows]
        rows = [qr(r, mode="economic")[1] for r in rows]
        rows = [corner[l].upper[1:], *rows]
        orthogonal, factor = qr(np.vstack(rows), mode="economic")
        ends = np.cumsum([0, *map(len, rows)])
        result.append(Share(factor, [orthogonal[i:j] for i, j in pairwise(ends)]))
    return result[::-1]


RESOLUTION = 4 * np.finfo(float).eps  # share of a function's norm that a basis need not represent


class Family(NamedTuple):
    """Functions X on a block, seen through Σ: own (r, m) = QᵀSX; to_right = ΨᵀX and to_left = ΦᵀX (M, m)."""

    own: np.ndarray
    to_right: np.ndarray
    to_left: np.ndarray

    def __matmul__(self, matrix: np.ndarray) -> Family:
        """Linear combinations: the columns of X @ matrix."""
        return Family(self.own @ matrix, self.to_right @ matrix, self.to_left @ matrix)

    def beside(self, other: Family) -> Family:
        """The columns of both families, those of this one first."""
        return Family(*map(np.hstack, zip(self, other, strict=True)))

    def over(self, bond: np.ndarray) -> Family:
        """The bond index, the fastest of the columns, contracted with (s, s') of the layer over it."""
        s, wider = bond.shape
        count = self.own.shape[1] // s if s else 0  # a layer of zeros above leaves no column of the layers below it
        return Family(*((x.reshape(len(x), count, s) @ bond).reshape(len(x), count * wider) for x in self))


class Block(NamedTuple):
    """How a block meets what lies outside.

    Attributes
    ----------
    extent : int
        N_l, the number of positions.
    sequence : ExponentialSequence
        The covariance.
    left, right : (r, M) array
        Φ and Ψ in the functions that the block's own products are taken with, such as the basis Q_l.
    """

    extent: int
    sequence: ExponentialSequence
    left: np.ndarray
    right: np.ndarray


class Level(NamedTuple):
    """What all blocks of one level share, in the basis Q_l.

    Attributes
    ----------
    block : Block
        Edges in the basis Q_l.
    frame : Family
        The columns U_l, (r, p_l): the part of the tangent space that belongs to higher layers.
    inner : Family
        The columns of layers 1 … l, κ_l · s_l of them: the index of the bond above is the faster one.
    details : (ρ, κ_l · s_l) array
        Coordinates of S_l Z beyond Q_l, in the basis that completes it within the children's.
    """

    block: Block
    frame: Family
    inner: Family
    details: np.ndarray


def side_by_side(blocks: Sequence[Block], families: Sequence[Family]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Functions given on each of successive blocks, first position first, as functions on all of them.

    Returns their own parts (r, m) in every block, with what comes in from the others, and ΨᵀX and ΦᵀX of the whole.
    """
    own, moments = [family.own for family in families], []
    for side in (0, 1):
        states = [(family.to_right, family.to_left)[side] for family in families]
        start, *rest = range(len(families))[:: -1 if side else 1]
        going = states[start]
        for i in rest:
            block, c = blocks[i], blocks[i].sequence
            own[i] = own[i] + ((block.right if side else block.left) * c.weights) @ going
            going = c.advance(going, block.extent) + states[i]
        moments.append(going)
    return own, moments


def levels(space: TangentSpace, sequence: ExponentialSequence) -> Iterator[Level]:
    """Levels 0 … L−1, from single positions upwards; a level costs O((r + κ) r² + κ r s) and never lists positions."""
    level = position(sequence)
    yield level
    for l, core in enumerate(space.below):
        level = _parent(level, core, space.complements[l], space.above[l], space.above[l - 1] if l else None)
        yield level


def image_norm(cores: Sequence[np.ndarray], sequence: ExponentialSequence) -> float:
    """‖ΣX‖ of a tensor train X with cores (r_{l−1}, n_l, r_l).

    >>> round(image_norm([np.array([[[1.0], [1.0]]])], ExponentialSequence(1.0, [0.5], [1.0])) ** 2, 12)
    4.5
    """
    level, above = position(sequence), np.zeros((1, 0, 1))
    for core in cores:
        level = _parent(level, core, core[:, :, :0], above, None)
    return float(np.linalg.norm(level.frame.own))


def position(sequence: ExponentialSequence) -> Level:
    """A block of one position."""
    single = np.ones((1, sequence.rates.size))
    nothing = Family(np.zeros((1, 0)), *(np.zeros((sequence.rates.size, 0)) for _ in range(2)))
    variance = np.full((1, 1), sequence.variance)
    block = Block(1, sequence, single, single)
    return Level(block, Family(variance, single.T, single.T), nothing, np.zeros((0, 0)))


def _parent(
    child: Level, below: np.ndarray, complement: np.ndarray, above: np.ndarray, bond: np.ndarray | None
) -> Level:
    """The next level; ``above`` is the core of the layer over it and ``bond`` that of the layer itself."""
    taps, wider = below.shape[1], above.shape[0]
    extent, c, left, right = child.block

    def joined(children: list[Family]) -> Family:
        own, moments = side_by_side([child.block] * taps, children)
        return Family(np.concatenate(own), *moments)

    frame = joined([child.frame @ below[:, t] for t in range(taps)])
    own_layer = joined([child.frame @ complement[:, t] for t in range(taps)])
    # The layer's own columns V_l ⊗ F_l: one copy for each index of the bond above (the slower one in T).
    inner = own_layer @ spread(complement.shape[2], wider)
    if bond is not None:
        inner = joined([child.inner.over(bond[:, t]) for t in range(taps)]).beside(inner)
    left = np.vstack([c.advance(left.T, t * extent).T for t in range(taps)])
    right = np.vstack([c.advance(right.T, (taps - 1 - t) * extent).T for t in range(taps)])
    basis, rank = _basis(np.hstack([left, right, frame.own]))
    coordinates = basis.T @ inner.own
    q = basis[:, :rank].T
    block = Block(taps * extent, c, q @ left, q @ right)
    families = frame._replace(own=q @ frame.own), inner._replace(own=coordinates[:rank])
    return Level(block, *families, coordinates[rank:])


def _basis(functions: np.ndarray) -> tuple[np.ndarray, int]:
    """Orthogonal matrix whose first columns span the given ones, each up to rounding of its own norm."""
    norms = np.linalg.norm(functions, axis=0)
    q, r, _ = qr(functions[:, norms > 0] / norms[norms > 0], pivoting=True)
    return q, int(np.count_nonzero(np.abs(np.diag(r)) > RESOLUTION))


def spread(n_columns: int, wider: int) -> np.ndarray:
    """(q, s · q · s) every column once for each index of the bond, ordered (index, column, bond)."""
    return np.einsum("ij,st->isjt", np.eye(n_columns), np.eye(wider)).reshape(n_columns, wider * n_columns * wider)
