"""Exact generic capacity: the dimension of the model manifold (κ of paper 1, §4.1), with no tolerance.

κ is generically the rank of the Jacobian ∂A/∂W at random parameters (Σ is invertible and does not
change it). For a polynomial parametrisation that rank is computed exactly by elimination modulo a prime,
at random integer parameters; for tensor trains there is a closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from capcore.architectures.finite_field import PRIME, jacobian_of_function, rank_modulo_prime, residues
from capcore.checks.arguments import finite_array, positive_integer


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


def exact_rank(
    model: object,
    seed: int = 0,
    prime: int = PRIME,
    *,
    params: object = None,
    n_params: int | None = None,
) -> int:
    """Rank of the Jacobian of a polynomial model, by elimination modulo a prime: no tolerance is involved.

    The result is always a lower bound of the rank. At random integers it differs from the generic rank with a
    probability of at most degree·κ/prime ≈ 1e-6 (Schwartz–Zippel).

    Parameters
    ----------
    model : Architecture or callable
        An architecture with ``jacobian_modulo(params, prime)``, or any function params → coefficients made of sums,
        differences, products and whole powers (then ``n_params`` must be given, or ``params``).
    seed : int
        Seed of the random parameters.
    prime : int
        Below 2³¹.
    params : (n_params,) array_like, optional
        The parameters at which to compute the rank; floating-point numbers count as the exact fractions that they are.
        Default: random integers, which gives the generic rank.
    n_params : int, optional
        Number of parameters of a function, if ``params`` is not given.

    Raises
    ------
    TypeError
        If the function is not polynomial.
    ValueError
        If the number of parameters is missing or wrong.

    Examples
    --------
    >>> exact_rank(lambda w: [w[0] * w[1], w[0] * w[1] ** 2, 3.0], n_params=2)
    2
    """
    exact = getattr(model, "jacobian_modulo", None)
    expected = getattr(model, "n_params", n_params) if exact else n_params
    if params is not None:
        values = finite_array(params, "params", 1)
        if expected is not None and values.size != expected:
            raise ValueError(f"params: found {values.size} values, expected {expected} (n_params).")
        integers = residues(values, prime)
    elif expected is None:
        raise ValueError("n_params: not given, expected the number of parameters of the function.")
    else:
        integers = np.random.default_rng(seed).integers(1, prime, size=positive_integer(expected, "n_params"))
    if exact:
        return rank_modulo_prime(exact(integers, prime), prime)
    if not callable(model):
        raise TypeError(
            f"model: found {type(model).__name__}, expected an architecture with jacobian_modulo, or a function "
            "params → coefficients."
        )
    return rank_modulo_prime(jacobian_of_function(model, integers, prime), prime)
