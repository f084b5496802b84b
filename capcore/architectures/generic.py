"""Exact generic capacity: the dimension of the model manifold (κ of paper 1, §4.1), with no tolerance.

κ is generically the rank of the Jacobian ∂A/∂W at random parameters (Σ is invertible and does not
change it). For a polynomial parametrisation that rank is computed exactly by elimination modulo a prime,
at random integer parameters; for tensor trains there is a closed form (:mod:`~capcore.architectures.tensor_train`).
"""

from __future__ import annotations

import numpy as np

from capcore.architectures.finite_field import PRIME, jacobian_of_function, rank_modulo_prime, residues
from capcore.checks.arguments import finite_array, positive_integer


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
