"""Capacity of every octave of lags, from the nested bases of the blocks: O(log n) levels, without listing inputs.

The band [N_l, N_{l+1}) of lags (an octave for two taps) is made of blocks of level l. In orthonormal coordinates ΣT
on the band is the stack of (i) its coordinates in Q_l, block by block, and (ii) for every level k ≤ l the details of
level k, once for each block of that level in the band. The blocks enter (ii) only through the rows of the upper
frames V_k, so that a factor of at most s_k rows stands for all of them. One QR decomposition of the stack of all
bands replaces that of the n rows of ΣT, and squared norms of its rows are the capacities, as in
:func:`~capcore.capacity.allocation.allocate`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dtrcon

from capcore.architectures.tensor_train import tensor_train_dimension
from capcore.capacity.allocation import warn_if_singular
from capcore.capacity.tangent_space import TangentSpace
from capcore.checks.double_precision import to_even_scale
from capcore.large.octaves.blocks import Corner, Level, corners, levels, shares, side_by_side
from capcore.large.octaves.predictor import ExponentialSequence


@dataclass(frozen=True, eq=False)
class OctaveAllocation:
    """Capacity along a geometric scale of lags.

    Attributes
    ----------
    total : int
        κ, dimension of the constraint space.
    edges : tuple of int
        L + 2 numbers 0, 1, n_1, n_1 n_2, …, n: band i contains the lags edges[i] ≤ τ < edges[i + 1].
    per_octave : (L + 1,) array
        Capacity of each band; they sum to ``total``.
    condition : float
        Condition number (1-norm, estimated) of ΣT with columns of unit length; rounding turns the constraint space by
        about ``condition`` · 1e-15.
    """

    total: int
    edges: tuple[int, ...]
    per_octave: np.ndarray
    condition: float


def octave_capacities(kernels: Sequence[np.ndarray], sequence: ExponentialSequence) -> OctaveAllocation:
    """Capacity of every octave of lags, for a stack with disjoint supports of any length.

    Equals :func:`~capcore.capacity.allocation.allocate` where both run.

    Parameters
    ----------
    kernels : list of (c_{l−1}, n_l, c_l) arrays
        Layer 1 first.
    sequence : ExponentialSequence
        The autocovariance, accurate up to lag n − 1.

    Warns
    -----
    CapacityWarning
        If the total differs from the generic one of the kernels' shapes.

    Raises
    ------
    ValueError
        If kernels do not fit together, or have more than one component per position.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> from capcore.large.exponentials import exponential_sequence
    >>> from capcore.processes import PowerLaw
    >>> arch = Hierarchical(channels=1, n_layers=30)
    >>> kernels = arch.kernels(arch.init(np.random.default_rng(0)))
    >>> result = octave_capacities(kernels, exponential_sequence(PowerLaw(), 2**30))
    >>> result.total, result.edges[-1] == 2**30, len(result.per_octave)
    (31, True, 31)
    """
    space = TangentSpace.of_kernels(kernels)
    if space.input_dim != 1:
        raise ValueError(f"kernels: found {space.input_dim} components per position, expected 1. Use allocate instead.")
    widths = [1, *(np.shape(kernel)[2] for kernel in kernels)]
    warn_if_singular(space.dimension, tensor_train_dimension(widths, space.kernel_sizes), " at these kernels")
    edges = (0, *accumulate(space.kernel_sizes, mul, initial=1))
    if space.dimension == 0:
        return OctaveAllocation(0, edges, np.zeros(len(edges) - 1), 1.0)
    corner = corners(space)
    tree = list(levels(space, _of_unit_size(sequence)))
    share = shares(space, corner)
    bands = _bands(space, tree, corner)
    details = [_detail_rows(level, part.factor) for level, part in zip(tree[1:], share, strict=True)]
    kappa = space.dimension
    stack = np.vstack([*bands, *(np.pad(rows, ((0, 0), (0, kappa - rows.shape[1]))) for rows in details)])
    orthogonal, r = qr(stack / np.linalg.norm(stack, axis=0), mode="economic")
    pieces = np.split(orthogonal, np.cumsum([*map(len, bands), *map(len, details)])[:-1])
    per_octave = np.array([np.sum(piece**2) for piece in pieces[: len(bands)]])
    for l, (piece, part) in enumerate(zip(pieces[len(bands) :], share, strict=True), 1):
        f = part.factor.shape[0]
        if not len(piece):  # kernels of one tap above: only the first block exists, or no detail
            continue
        rows = piece.reshape(len(piece) // f, f, kappa)
        gram = np.einsum("rfc,rgc->fg", rows, rows, optimize=True)
        per_octave[l + 1 :] += [np.einsum("xf,fg,xg->", x, gram, x, optimize=True) for x in part.parts]
    return OctaveAllocation(kappa, edges, per_octave, float(1 / dtrcon(r)[0]))


def _of_unit_size(sequence: ExponentialSequence) -> ExponentialSequence:
    """The sequence times a power of two: capacity does not depend on the scale of the covariance."""
    parts = to_even_scale(np.concatenate([[sequence.variance], sequence.weights]))
    return ExponentialSequence(float(parts[0]), parts[1:], sequence.rates)


def _detail_rows(level: Level, factor: np.ndarray) -> np.ndarray:
    """(ρ · f, κ_l) details of all blocks of a level, compressed by the factor of their upper rows."""
    rho, columns = level.details.shape
    f, s = factor.shape
    count = columns // s if s else 0  # nothing passes a layer of zeros above
    values = level.details.reshape(rho, count, s)
    return (values @ factor.T).transpose(0, 2, 1).reshape(rho * f, count)


def _bands(space: TangentSpace, tree: list[Level], corner: list[Corner]) -> list[np.ndarray]:
    """For lag 0 and for every band, the coordinates (·, κ) of ΣT on its blocks, one after another."""
    order = [(0, 0), *((l, t) for l, taps in enumerate(space.kernel_sizes) for t in range(1, taps))]  # by lag
    families = [  # all columns of T on block t of a level, the higher digits of its lags being zero
        tree[l].inner.over(corner[l].upper[t][:, None]).beside(tree[l].frame @ corner[l].frame[t]) for l, t in order
    ]
    own, _ = side_by_side([tree[l].block for l, _ in order], families)
    ends = np.cumsum([1, *(taps - 1 for taps in space.kernel_sizes)]).tolist()
    return [np.vstack(own[i:j] or [own[0][:0]]) for i, j in zip([0, *ends[:-1]], ends, strict=True)]
