"""Tensor trains: the exact form of hierarchical models with disjoint supports.

The coefficients of such a model (paper 1, Eq. 20, and its like for several channels), indexed by the digits
(t_1, …, t_L) of the lag, are a tensor train (matrix product state) whose cores are the kernels. The TT-SVD of a target
is a near-optimal start for fitting, and the exact answer where the channels allow the target's own ranks. The ranks
that the channels allow give the exact generic capacity in closed form.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate

import numpy as np
from scipy.linalg import qr, svd

from capcore.checks.double_precision import underflows

Cores = Sequence[np.ndarray]
"""Of a tensor train: (c_0, n_1, c_1), (c_1, n_2, c_2), …."""


def ranks_from_below(channels: Sequence[int], kernel_sizes: Sequence[int]) -> list[int]:
    """Generic rank of the composition of the lowest l layers, l = 0 … L: min_{j≤l} c_j Π_{j<k≤l} n_k.

    Parameters
    ----------
    channels : list of int
        c_0, …, c_L.
    kernel_sizes : list of int
        n_1, …, n_L.

    Examples
    --------
    >>> ranks_from_below([1, 4, 4, 1], [2, 2, 2])
    [1, 2, 4, 1]
    """
    layers = zip(channels[1:], kernel_sizes, strict=True)
    return list(accumulate(layers, lambda rank, layer: min(layer[0], rank * layer[1]), initial=channels[0]))


def ranks_from_above(channels: Sequence[int], kernel_sizes: Sequence[int]) -> list[int]:
    """Generic rank of the composition of all layers above layer l, l = 0 … L: min_{j≥l} c_j Π_{l<k≤j} n_k.

    >>> ranks_from_above([1, 4, 4, 1], [2, 2, 2])
    [1, 4, 2, 1]
    """
    return ranks_from_below(channels[::-1], kernel_sizes[::-1])[::-1]


def attainable_ranks(channels: Sequence[int], kernel_sizes: Sequence[int]) -> list[int]:
    """The bond ranks r_0, …, r_L that a tensor train with these channels can attain.

    A rank is limited by the ranks of the layers below and above.

    Parameters
    ----------
    channels : list of int
        c_0, …, c_L; c_0 = input_dim and c_L = 1 are fixed and never clipped.
    kernel_sizes : list of int
        n_1, …, n_L.

    Examples
    --------
    >>> attainable_ranks([1, 4, 4, 4, 4, 4, 1], [2] * 6)
    [1, 2, 4, 4, 4, 2, 1]
    """
    sides = zip(ranks_from_below(channels, kernel_sizes), ranks_from_above(channels, kernel_sizes), strict=True)
    return [channels[0], *[min(pair) for pair in sides][1:-1], channels[-1]]


def tensor_train_dimension(channels: Sequence[int], kernel_sizes: Sequence[int]) -> int:
    """Dimension of the tensor-train manifold: κ = Σ_l r_{l−1} n_l r_l − Σ_{0<l<L} r_l².

    With one channel it is the Σ_l (n_l − 1) + 1 of paper 1, footnote 6; with more, what Fig. 4, left, draws. Source:
    Holtz, Rohwedder & Schneider (2012).

    Parameters
    ----------
    channels : list of int
        c_0, …, c_L.
    kernel_sizes : list of int
        n_1, …, n_L.

    Examples
    --------
    >>> [tensor_train_dimension([1, *[c] * 5, 1], [2] * 6) for c in (1, 2, 3, 4, 8)]
    [7, 20, 33, 48, 64]
    """
    r = attainable_ranks(channels, kernel_sizes)
    cores = sum(r[l] * n * r[l + 1] for l, n in enumerate(kernel_sizes))
    return cores - sum(rank**2 for rank in r[1:-1])


def tt_svd(
    coefficients: np.ndarray,
    input_dim: int,
    kernel_sizes: Sequence[int],
    max_ranks: Sequence[int],
    tolerance: float | None = None,
) -> list[np.ndarray]:
    """Tensor-train cores (r_{l−1}, n_l, r_l) that approximate the coefficients, balanced.

    Each truncation is the best of its unfolding, so the squared error is at most (L − 1) times that of the best
    approximation with these ranks. Balanced: each bond's singular values are split evenly between the two cores beside
    it. Source: Oseledets (2011), Algorithm 1.

    Parameters
    ----------
    coefficients : (Π n_l · input_dim,) array
        Position-major, lag 0 first.
    input_dim : int
        r_0.
    kernel_sizes : list of int
        n_1 … n_L.
    max_ranks : list of int
        r_0 … r_L; each inner rank is also cut at the numerical rank of its unfolding.
    tolerance : float, optional
        Relative to the norm of the coefficients, what counts as zero; by default the rounding of an unfolding, which
        grows with its size and at a million lags hides genuine ranks.

    Raises
    ------
    ValueError
        For coefficients beyond 1e±140, whose squares are no numbers.

    Examples
    --------
    >>> cores = tt_svd(np.arange(1.0, 9.0), 1, [2, 2, 2], [1, 2, 2, 1])
    >>> contract(cores).round(12).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    """
    rest = np.asarray(coefficients, dtype=float).reshape(*kernel_sizes[::-1], input_dim).transpose()
    if rest.any() and not 1e-140 <= np.abs(rest).max() <= 1e140:
        raise ValueError(f"coefficients: found up to {np.abs(rest).max():.1e}, expected between 1e-140 and 1e140.")
    cores, rank, scale = [], input_dim, np.linalg.norm(rest)
    for l, taps in enumerate(kernel_sizes[:-1]):
        least = scale * (rest.size * np.finfo(float).eps if tolerance is None else tolerance)
        u, s, vt = svd(rest.reshape(rank * taps, -1), full_matrices=False)
        n_values = max(1, min(max_ranks[l + 1], int(np.count_nonzero(s > least))))
        cores.append(u[:, :n_values].reshape(rank, taps, n_values))
        rest, rank = s[:n_values, None] * vt[:n_values], n_values
    return split_bonds([*cores, rest.reshape(rank, kernel_sizes[-1], 1)])


def split_bonds(cores: Cores) -> list[np.ndarray]:
    """The same train, from left-orthonormal cores, with each bond's singular values split evenly."""
    cores = list(cores)
    roots = {}
    for l in range(len(cores) - 1, 0, -1):
        left, taps, right = cores[l].shape
        u, s, vt = svd(cores[l].reshape(left, -1), full_matrices=False)
        cores[l] = vt.reshape(-1, taps, right)
        cores[l - 1] = cores[l - 1] @ (u * s)
        roots[l] = np.sqrt(np.maximum(s, np.finfo(float).tiny))
    for l, root in roots.items():
        cores[l - 1] = cores[l - 1] / root
        cores[l] = root[:, None, None] * cores[l]
    return cores


def contract(cores: Cores) -> np.ndarray:
    """(Π n_l · r_0,) coefficients of the train, position-major, lag 0 first.

    Raises
    ------
    FloatingPointError
        If products of cores are lost in underflow.
    """
    if underflows(cores):
        raise FloatingPointError("cores: found ones whose product is lost in underflow. Scale them up.")
    return reduce(lambda below, core: np.tensordot(below, core, 1), cores).transpose().reshape(-1)


def widen(cores: Cores, channels: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
    """Kernels with the given channels c_0 … c_L and the same coefficients as the cores, in general position.

    A bond with more channels than its rank leaves room that does not show in the coefficients but does in
    the layers' own constraint spaces. Filling it with zeros would make each layer look poorer than it
    is, so random values of the kernels' own size go to the side whose composition can have the larger rank.
    """
    kernels = [np.array(core) for core in cores]
    sizes = [core.shape[1] for core in cores]
    from_below, from_above = ranks_from_below(channels, sizes), ranks_from_above(channels, sizes)
    bonds = range(1, len(cores))
    filled_above = [l for l in bonds if from_above[l] >= from_below[l]]
    filled_below = [l for l in bonds if l not in filled_above]
    # From the far ends inwards, so that every filling already meets the full channels on its other side.
    for l in [*reversed(filled_above), *filled_below]:
        below, above = kernels[l - 1], kernels[l]
        rank, width = above.shape[0], channels[l]
        orthogonal = qr(rng.normal(size=(width, width)))[0]
        used, spare = orthogonal[:, :rank], orthogonal[:, rank:]
        kernels[l - 1], kernels[l] = below @ used.T, np.tensordot(used, above, 1)
        if l in filled_above:
            kernels[l] += np.tensordot(spare, rng.normal(0, _rms(above), (width - rank, *above.shape[1:])), 1)
        else:
            kernels[l - 1] += rng.normal(0, _rms(below), (*below.shape[:2], width - rank)) @ spare.T
    return kernels


def _rms(array: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(array))))
