"""Rows of the tangent space's basis where the higher digits of the lag are zero, and what the others amount to."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from capcore.tangent_space import TangentSpace


class Corner(NamedTuple):
    """T on the first n_{l+1} blocks of level l, whose higher digits are all zero.

    Attributes
    ----------
    upper : (n_{l+1}, s_l) rows of V_l: what multiplies the columns of layers 1 … l. Without columns for l = 0.
    frame : (n_{l+1}, p_l, κ_{>l}) coefficients in U_l of the columns of layers l + 1 … L.
    """

    upper: np.ndarray
    frame: np.ndarray


def corners(space: TangentSpace) -> list[Corner]:
    """Corners of levels 0 … L−1, from the highest digit downwards."""
    row, frame = np.ones(1), np.zeros((1, 0))
    result: list[Corner] = []
    for l in range(space.n_layers - 1, -1, -1):
        taps = range(space.kernel_sizes[l])
        own = [np.kron(row, space.complements[l][:, t]) for t in taps]
        higher = [space.below[l][:, t] @ frame for t in taps] if result else [frame[:0]] * len(taps)
        frames = np.stack([np.hstack(pair) if result else pair[0] for pair in zip(own, higher, strict=True)])
        upper = np.stack([space.above[l - 1][:, t] @ row for t in taps]) if l else np.zeros((len(taps), 0))
        result.append(Corner(upper, frames))
        row, frame = upper[0], frames[0]
    return result[::-1]


class Share(NamedTuple):
    """The blocks of one level l in each of the bands l … L−1, through the rows V of V_l that belong to them.

    Attributes
    ----------
    factor : (f, s_l) triangular, factorᵀ factor = Σ vᵀv over the blocks of all those bands.
    parts : for each band, (·, f): partᵀ part sums to the identity, and part @ factor stands for the band's own rows.
    """

    factor: np.ndarray
    parts: list[np.ndarray]


def shares(space: TangentSpace, corner: list[Corner]) -> list[Share]:
    """Shares of levels 1 … L−1. Only triangular factors are added up, so that small shares keep their digits."""
    result: list[Share] = []
    rows: list[np.ndarray] = []
    for l in range(space.n_layers - 1, 0, -1):
        if rows:
            core = space.above[l - 1]
            rows = [np.vstack([r @ core[:, t].T for t in range(core.shape[1])]) for r in rows]
            rows = [qr(r, mode="economic")[1] for r in rows]
        rows = [corner[l].upper[1:], *rows]
        orthogonal, factor = qr(np.vstack(rows), mode="economic")
        ends = np.cumsum([0, *map(len, rows)])
        result.append(Share(factor, [orthogonal[i:j] for i, j in pairwise(ends)]))
    return result[::-1]
