"""TᵀΣT and Tᵀ(c_1, …, c_n) by contraction over the digits of the lag, without listing inputs.

Within a block, small matrices represent Σ in the frames U_l, and follow from those of its children; between blocks an
exponential factorises into a moment of each block and a sum over pairs of blocks,

    Θ_l[m] = Σ_{j > j'} e^(−λ_m N_l (j − j' − 1)) v_j v_j'ᵀ,    v_j the rows of the upper frame V_l,

which follows from that of the level above. A level costs O(M κ s²).
"""

from collections.abc import Sequence

import numpy as np

from capcore.capacity.tangent_space import TangentSpace, _unfold
from capcore.large.octaves.blocks import Block, Family, position, side_by_side, spread
from capcore.large.octaves.predictor import ExponentialSequence


def tangent_forms(space: TangentSpace, sequence: ExponentialSequence) -> tuple[np.ndarray, np.ndarray]:
    """TᵀΣT (κ, κ) and TᵀΣA* = Tᵀ(c_1, …, c_n) (κ,), for one component per position.

    >>> from capcore.architectures import Hierarchical
    >>> arch = Hierarchical(channels=2, n_layers=40)
    >>> space = TangentSpace.of_kernels(arch.kernels(arch.init(np.random.default_rng(0))))
    >>> gram, right = tangent_forms(space, ExponentialSequence(1.0, [0.0], [1.0]))
    >>> bool(np.allclose(gram, np.eye(156))), float(np.abs(right).max())
    (True, 0.0)
    """
    gram, right = np.zeros((space.dimension, space.dimension)), np.zeros(space.dimension)
    pairs, sums = _upper(space, sequence)
    weights, m, extent = sequence.weights[:, None], sequence.rates.size, 1
    _, frame, inner, _ = position(sequence)
    for l, complement in enumerate(space.complements):
        _, taps, q = complement.shape
        s, last = space.ranks_above[l], l == space.n_layers - 1
        below = complement[:, :, :0] if last else space.below[l]
        joint, split = np.concatenate([below, complement], axis=2), below.shape[2]
        own = _parent([frame @ joint[:, t] for t in range(taps)], frame, joint, sequence, extent)
        old = [inner.over(space.above[l - 1][:, t]) for t in range(taps)] if l else [inner] * taps
        raised = _parent(old, frame, joint, sequence, extent)
        # The layer's own columns, one for each index of the bond above and open in that bond (the faster index).
        inner = raised.beside(Family(*(x[:, split:] for x in own)) @ spread(q, s))
        columns, n_columns = space.blocks[l], space.blocks[l].stop
        block = inner.own[split:].reshape(q, n_columns, s).transpose(2, 0, 1)  # pairs within a block of positions
        for moments, theta, others in (
            (own.to_left, pairs[l], inner.to_right),
            (own.to_right, pairs[l].transpose(0, 2, 1), inner.to_left),
        ):
            block = block + _between(weights * moments[:, split:], theta, others.reshape(m, n_columns, s))
        gram[columns, :n_columns] = block.reshape(s * q, n_columns)
        right[columns] = (sums[l].T @ (weights * own.to_left[:, split:])).ravel()
        frame = Family(own.own[:split, :split], own.to_right[:, :split], own.to_left[:, :split])
        inner = inner._replace(own=inner.own[:split])
        extent *= taps
    return np.tril(gram) + np.tril(gram, -1).T, right


def energy(cores: Sequence[np.ndarray], sequence: ExponentialSequence) -> float:
    """XᵀΣX of a tensor train X with cores (r_{l−1}, n_l, r_l), accurate to rounding of its own size.

    >>> energy([np.array([[[1.0], [1.0]]])], ExponentialSequence(1.0, [0.5], [1.0]))
    3.0
    """
    x, extent = position(sequence).frame, 1
    for core in cores:
        x = _parent([x @ core[:, t] for t in range(core.shape[1])], x, core, sequence, extent)
        extent *= core.shape[1]
    return max(0.0, float(x.own.item()))


def _parent(
    children: list[Family], frame: Family, core: np.ndarray, sequence: ExponentialSequence, extent: int
) -> Family:
    """X on the parent, from X on its children of ``extent`` positions; own refers to the child's frame and ``core``."""
    block = Block(extent, sequence, frame.to_left.T, frame.to_right.T)
    own, moments = side_by_side([block] * len(children), children)
    return Family(_unfold(core).T @ np.vstack(own), *moments)


def _between(moments: np.ndarray, pairs: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(s, q, κ) Σ_m moments[m, q] pairs[m, s, s'] others[m, κ, s']."""
    return np.einsum("mq,mst,mkt->sqk", moments, pairs, others, optimize=True)


def _upper(space: TangentSpace, sequence: ExponentialSequence) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For layers 1 … L: Θ_l (M, s_l, s_l), and Σ_j e^(−λ N_l j) v_j (M, s_l)."""
    m = sequence.rates.size
    pairs, sums = [np.zeros((m, 1, 1))], [np.ones((m, 1))]
    for l in range(space.n_layers - 1, 0, -1):
        core = space.above[l - 1]
        s, taps, _ = core.shape
        rates = sequence.rates * float(space.extents[l])
        decay = np.exp(-np.multiply.outer(np.arange(2 * taps - 1), rates))[..., None]
        sums.append(sum(decay[t] * (sums[-1] @ core[:, t].T) for t in range(taps)))
        theta = np.zeros((m, s, s))
        for t, u in np.ndindex(taps, taps):
            theta += decay[taps - 1 - u + t][..., None] * (core[:, t] @ pairs[-1] @ core[:, u].T)
            if t > u:
                theta += decay[t - u - 1][..., None] * (core[:, t] @ core[:, u].T)
        pairs.append(theta)
    return pairs[::-1], sums[::-1]
