"""From the tangent space back to the manifold: add a tangent vector to a tensor train and round it.

The sum is exact and has twice the ranks; TT-SVD rounding reduces them. Each truncation
removes only what is normal to the manifold, up to third order, so rounding is a second-order retraction: A(x) = A + T x
plus normal terms of order x², plus O(x³). Sources: Oseledets (2011), Algorithm 2; Steinlechner (2016), section 3.3.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.linalg import qr, svd

from capcore.architectures.tensor_train import Cores, contract, ranks_from_above, ranks_from_below, split_bonds
from capcore.capacity.tangent_space import TangentSpace


def carried_below(space: TangentSpace, cores: Cores) -> list[np.ndarray]:
    """U_lᵀ P_l (p_l, r_l) for l = 0 … L−1: the composition of the cores up to l, in the frame of its range."""
    result = [np.eye(cores[0].shape[0])]
    for frame, core in zip(space.below, cores, strict=False):
        result.append(np.tensordot(frame, np.tensordot(result[-1], core, 1), ((0, 1), (0, 1))))
    return result


def carried_above(space: TangentSpace, cores: Cores) -> list[np.ndarray]:
    """S_l V_l (r_l, s_l) for l = 1 … L: the composition of the cores above l, in the frame of its range."""
    result = [np.ones((1, 1))]
    for frame, core in zip(space.above[::-1], cores[::-1], strict=False):
        result.append(np.tensordot(core @ result[-1], frame, ((1, 2), (1, 2))))
    return result[::-1]


def bond_matrices(space: TangentSpace, cores: Cores) -> list[np.ndarray]:
    """M_1 … M_{L−1} (p_l, s_l), with A = U_l M_l V_lᵀ at each bond; their singular values are those of the unfoldings.

    ``space`` is the tangent space of the ``cores`` (r_{l−1}, n_l, r_l), of any gauge.
    """
    below, above = carried_below(space, cores)[1:], carried_above(space, cores)
    return [a @ b for a, b in zip(below, above, strict=False)]


def retract(space: TangentSpace, cores: Cores, x: np.ndarray) -> list[np.ndarray]:
    """Balanced cores near A + T x, with the ranks of A.

    A + T x is a train with twice the ranks, with cores [[U_l, C_l x_l], [0, V_l]].

    Parameters
    ----------
    space : TangentSpace
        The tangent space at A.
    cores : list of (r_{l−1}, n_l, r_l) arrays
        Cores of A, with the ranks of the space.
    x : (κ,) array
        Coordinates of the step.
    """
    last = np.tensordot(carried_below(space, cores)[-1], cores[-1], 1)
    changes = _changes(space, x)
    total = add_trains([*space.below, last], [changes[0], *space.above])
    for core, change in zip(total[1:], changes[1:], strict=True):
        core[: len(change), :, core.shape[2] - change.shape[2] :] += change
    return round_train(total, space.ranks_below)


def shift(space: TangentSpace, cores: Cores, x: np.ndarray) -> list[np.ndarray]:
    """Cores near A + T x; each core is moved by itself and none is decomposed.

    For the last, tiny steps: it adds only the rounding of the entries, about ten times less noise than
    :func:`retract`. It is accurate to first order only, which suffices where the gradient vanishes.
    """
    sides = zip(carried_below(space, cores), carried_above(space, cores), strict=True)
    result = []
    for core, change, (below, above) in zip(cores, _changes(space, x), sides, strict=True):
        moved = np.linalg.solve(below, change.reshape(len(change), -1)).reshape(change.shape)
        result.append(core + moved @ np.linalg.inv(above))
    return result


def _changes(space: TangentSpace, x: np.ndarray) -> list[np.ndarray]:
    """C_l x_l (p_{l−1}, n_l, s_l): the change of every layer in T x."""
    layers = zip(space.complements, space.blocks, space.ranks_above, strict=True)
    return [complement @ x[block].reshape(s, complement.shape[2]).T for complement, block, s in layers]


def add_trains(first: Cores, second: Cores) -> list[np.ndarray]:
    """The train A + B, whose inner ranks are the sums of theirs: cores [[A_l, 0], [0, B_l]].

    >>> contract(add_trains([np.ones((1, 2, 1))], [np.ones((1, 2, 1))])).tolist()
    [2.0, 2.0]
    """
    total = []
    for l, (a, b) in enumerate(zip(first, second, strict=True)):
        rows, columns = (len(a) if l else 0), (a.shape[2] if l < len(first) - 1 else 0)
        core = np.zeros((rows + len(b), a.shape[1], columns + b.shape[2]))
        core[: len(a), :, : a.shape[2]] = a
        core[rows:, :, columns:] += b
        total.append(core)
    return total


def round_train(cores: Cores, ranks: Sequence[int]) -> list[np.ndarray]:
    """The train cut to ``ranks`` r_0 … r_{L−1} by truncated SVDs, left to right, then balanced.

    "Balanced" means that the singular values of each bond are split evenly between its two cores.
    """
    cores = list(cores)
    for l in range(len(cores) - 1, 0, -1):
        left, taps, right = cores[l].shape
        q, r = qr(cores[l].reshape(left, -1).T, mode="economic", check_finite=False)
        cores[l] = q.T.reshape(-1, taps, right)
        cores[l - 1] = cores[l - 1] @ r.T
    for l in range(len(cores) - 1):
        left, taps, right = cores[l].shape
        u, s, vt = svd(cores[l].reshape(-1, right), full_matrices=False)
        rank = min(ranks[l + 1], s.size)
        cores[l] = u[:, :rank].reshape(left, taps, rank)
        cores[l + 1] = np.tensordot(s[:rank, None] * vt[:rank], cores[l + 1], 1)
    return split_bonds(cores)


def lift(cores: Cores, ranks: Sequence[int], size: float, rng: np.random.Generator) -> list[np.ndarray]:
    """A train with ``ranks`` r_0 … r_L in general position, at a distance of about ``size`` from the given one."""
    noise = [
        rng.normal(0, (r * core.shape[1]) ** -0.5, (r, core.shape[1], s))
        for core, r, s in zip(cores, ranks[:-1], ranks[1:], strict=True)
    ]
    noise[0] *= size / max(float(np.linalg.norm(contract(noise))), np.finfo(float).tiny)
    return round_train(add_trains(cores, noise), ranks)


def pad(cores: Cores, channels: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
    """Kernels with the given channels c_0 … c_L and the very same coefficients as the cores, in general position.

    Like :func:`~capcore.architectures.tensor_train.widen`, but without the rotation of the channels, whose rounding
    would exceed the remaining gradient: spare channels are random on one side and exactly zero on the other.
    """
    sizes = [core.shape[1] for core in cores]
    from_below, from_above = ranks_from_below(channels, sizes), ranks_from_above(channels, sizes)
    kernels = [
        np.pad(core, ((0, low - core.shape[0]), (0, 0), (0, high - core.shape[2])))
        for core, (low, high) in zip(cores, pairwise(channels), strict=True)
    ]
    for l, core in enumerate(cores[1:], 1):
        above = from_above[l] >= from_below[l]
        own, fill = (core, kernels[l][len(core) :]) if above else (cores[l - 1], kernels[l - 1][:, :, len(core) :])
        fill[:] = rng.normal(0, float(np.sqrt(np.mean(own**2))), fill.shape)
    return kernels
