"""Exact generic capacity: the dimension of the model manifold (κ of paper 1, §4.1), with no tolerance.

κ is generically the rank of the Jacobian ∂A/∂W at random parameters (Σ is invertible and does not
change it). For a polynomial parametrisation that rank is computed exactly by elimination modulo a prime,
at random integer parameters; for tensor trains there is a closed form (:mod:`~capcore.architectures.tensor_train`).
"""

from typing import Any

import numpy as np

from capcore.architectures.finite_field import PRIME, rank_modulo_prime, residues


def exact_rank(arch: Any, *, params: object = None) -> int:
    """Rank of the Jacobian of a polynomial model, by elimination modulo a prime: no tolerance is involved.

    The result is always a lower bound of the rank. At random integers it differs from the generic rank with a
    probability of at most degree·κ/prime ≈ 1e-6 (Schwartz–Zippel).

    Parameters
    ----------
    arch : Architecture
        One with ``jacobian_modulo(params)``. A function params → coefficients made of sums, differences,
        products and whole powers is one as :class:`~capcore.architectures.function.Function`.
    params : (n_params,) array_like, optional
        The parameters at which to compute the rank; floating-point numbers count as the exact fractions that they are.
        Default: random integers, which gives the generic rank.

    Raises
    ------
    TypeError
        If the function is not polynomial.
    ValueError
        If the number of parameters is wrong, or they are not finite.

    Examples
    --------
    >>> from capcore.architectures import Function
    >>> exact_rank(Function(lambda w: [w[0] * w[1], w[0] * w[1] ** 2, 3.0], n_params=2))
    2
    """
    if params is None:
        integers = np.random.default_rng(0).integers(1, PRIME, size=arch.n_params)
    else:
        integers = residues(arch.checked(params))
    return rank_modulo_prime(arch.jacobian_modulo(integers))
