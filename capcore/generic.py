"""Exact generic capacity: the dimension of the model manifold, with no tolerance.

κ is generically the rank of the Jacobian ∂A/∂W at random parameters (Σ is invertible and changes
nothing). For a polynomial parametrisation that rank is computed exactly by elimination modulo a prime,
at random integer parameters; for tensor trains there is a closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

PRIME = 2**31 - 1


def ranks_from_below(channels: Sequence[int], kernel_sizes: Sequence[int]) -> list[int]:
    """Generic rank of the composition of the lowest l layers, l = 0 … L: min_{j≤l} c_j Π_{j<k≤l} n_k.

    Parameters
    ----------
    channels : c_0, …, c_L. kernel_sizes : n_1, …, n_L.

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

    Parameters
    ----------
    channels : c_0, …, c_L; c_0 = input_dim and c_L = 1 are fixed and never clipped.
    kernel_sizes : n_1, …, n_L.

    A rank is limited by what arrives from below and from above.

    >>> attainable_ranks([1, 4, 4, 4, 4, 4, 1], [2] * 6)
    [1, 2, 4, 4, 4, 2, 1]
    """
    sides = zip(ranks_from_below(channels, kernel_sizes), ranks_from_above(channels, kernel_sizes), strict=True)
    return [channels[0], *[min(pair) for pair in sides][1:-1], channels[-1]]


def tensor_train_dimension(channels: Sequence[int], kernel_sizes: Sequence[int]) -> int:
    """Dimension of the tensor-train manifold: κ = Σ_l r_{l−1} n_l r_l − Σ_{0<l<L} r_l².

    Parameters as in :func:`attainable_ranks`. Source: Holtz, Rohwedder & Schneider (2012).

    >>> [tensor_train_dimension([1, *[c] * 5, 1], [2] * 6) for c in (1, 2, 3, 4, 8)]
    [7, 20, 33, 48, 64]
    """
    r = attainable_ranks(channels, kernel_sizes)
    cores = sum(r[l] * n * r[l + 1] for l, n in enumerate(kernel_sizes))
    return cores - sum(rank**2 for rank in r[1:-1])


def rank_modulo_prime(matrix: np.ndarray, prime: int = PRIME) -> int:
    """Rank of an integer matrix over the field of integers modulo ``prime``, by exact elimination.

    >>> rank_modulo_prime(np.array([[1, 2], [2, 4]]))
    1
    """
    from flint import nmod_mat

    rows, columns = matrix.shape
    return int(nmod_mat(rows, columns, (matrix % prime).reshape(-1).tolist(), prime).rank())


def exact_rank(arch: object, seed: int = 0, prime: int = PRIME) -> int:
    """Rank of the Jacobian of a polynomial architecture at random integer parameters modulo a prime.

    Always a lower bound of the generic rank, and equal to it but for a probability of at most
    degree·κ/prime ≈ 1e-6 or less (Schwartz–Zippel).

    ``arch`` needs ``jacobian_modulo(params, prime)``: the Jacobian (n, p) at integer parameters, with
    entries reduced modulo ``prime``.
    """
    rng = np.random.default_rng(seed)
    params = rng.integers(1, prime, size=arch.n_params)  # type: ignore[attr-defined]
    return rank_modulo_prime(arch.jacobian_modulo(params, prime), prime)  # type: ignore[attr-defined]
