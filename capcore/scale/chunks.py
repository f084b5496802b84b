"""A tensor train's tangent basis in chunks of successive inputs, each made of the same few columns.

A chunk is one setting of the upper layers' digits: B = n_1 ⋯ n_b successive positions. Layers up to b differ from chunk
to chunk only through V_b: T = Σ_r V_b[I, r] F_r. Layers above b see a chunk only through U_b: T = U_b C_I.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.tangent_space import TangentSpace


@dataclass(frozen=True, eq=False)
class Chunks:
    """T in chunks of ``size`` positions.

    Attributes
    ----------
    size : B. count : N = n / B. rows : B · d.
    fixed : (s, κ_low, B · d) the F_r, transposed: columns of the layers within a chunk.
    weights : (N, s) V_b. frame : (p, B · d) U_b, transposed. coarse : (N, p, κ_high) the C_I.
    """

    size: int
    count: int
    rows: int
    fixed: np.ndarray
    weights: np.ndarray
    frame: np.ndarray
    coarse: np.ndarray

    @classmethod
    def of(cls, space: TangentSpace, size: int) -> Chunks:
        """Chunks of as nearly as possible ``size`` positions."""
        extents = np.array([*space.extents[1:], space.n_inputs], dtype=float)
        depth = int(np.argmin(np.abs(np.log(extents / size)))) + 1  # b
        n, d, last = space.n_inputs, space.input_dim, depth == space.n_layers
        chunk = int(extents[depth - 1])
        rank = space.ranks_above[depth - 1]
        lower = [np.eye(d)]
        for core in space.below[:depth]:
            lower.append(_raised(lower[-1], core))
        upper = np.eye(rank)[:, None, :]  # (r, positions, s_l): V_l in terms of V_b
        fixed: list[np.ndarray] = []
        for l in range(depth, 0, -1):
            raised = _raised(lower[l - 1], space.complements[l - 1])
            block = np.einsum("rus,mq->rsqum", upper, raised)
            fixed.insert(0, block.reshape(rank, upper.shape[2] * raised.shape[1], chunk * d))
            if l > 1:
                upper = _lowered(upper, space.above[l - 2])
        weights = np.ones((1, 1, 1))
        for core in space.above[depth - 1 :][::-1]:
            weights = _lowered(weights, core)
        if not last:
            train = TangentSpace(space.below[depth:], space.complements[depth:], space.above[depth:])
            coarse = train.basis().reshape(n // chunk, lower[depth].shape[1], train.dimension)
        else:
            coarse = np.zeros((1, 0, 0))
        frame = np.zeros((0, chunk * d)) if last else lower[depth].T
        return cls(chunk, n // chunk, chunk * d, np.concatenate(fixed, axis=1), weights[0], frame, coarse)


def _raised(frame: np.ndarray, core: np.ndarray) -> np.ndarray:
    """(extent, p) composed with a core (p, taps, q) → (taps · extent, q)."""
    return np.tensordot(frame, core, 1).transpose(1, 0, 2).reshape(len(frame) * core.shape[1], core.shape[2])


def _lowered(upper: np.ndarray, core: np.ndarray) -> np.ndarray:
    """(r, positions, s_l) composed with the core (s_{l−1}, taps, s_l) → (r, positions · taps, s_{l−1})."""
    product = np.tensordot(upper, core, (2, 2)).transpose(0, 1, 3, 2)  # (r, positions, taps, s_{l−1})
    return product.reshape(len(upper), upper.shape[1] * core.shape[1], core.shape[0])
