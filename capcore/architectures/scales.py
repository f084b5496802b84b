"""Rescale the layers of a model to an even scale.

Capacity does not depend on the scale of a layer. If a model is homogeneous in a layer, f(s·w) = s^k f(w), the
directions of its Jacobian's columns stay when that layer is multiplied by a number; powers of two are exact, so that
nothing else changes, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from capcore.architectures.finite_field import PRIME, Dual
from capcore.architectures.frozen import Frozen
from capcore.architectures.function import Function
from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.recurrent import Recurrent
from capcore.checks.arguments import finite_array
from capcore.checks.double_precision import to_even_scale

ORDINARY = 1e32  # products of nine numbers between its inverse and itself are within double precision
SEED = 20_190_315


def with_even_layers(arch: Any, params: object) -> tuple[Any, np.ndarray]:
    """An architecture and parameters (n_params,) with the same constraint spaces, and layers of even scale.

    Only layers in which the model is known to be homogeneous are scaled: all layers of a hierarchical model, input and
    output weights of a recurrent one, and those of a user's own function in which it is a homogeneous polynomial
    (checked exactly, modulo a prime).

    Parameters
    ----------
    arch : Architecture
    params : (n_params,) array_like
        The parameters, of any scale.

    Raises
    ------
    ValueError
        If the function is not homogeneous and its products leave double precision.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> arch, even = with_even_layers(Hierarchical(1, 2), [3e-200, 1e-200, 8.0, 4.0])
    >>> even[2:].tolist(), bool(0.5 <= even[0] < 1)
    ([0.5, 0.25], True)
    """
    if isinstance(arch, Frozen):
        inner, whole = with_even_layers(arch.arch, arch.embed(params))
        return Frozen(inner, whole, arch.free), whole[arch.free]
    values = finite_array(params, "params", 1)
    if values.size != arch.n_params:
        return arch, values  # the architecture itself will say what is wrong
    if isinstance(arch, Function):
        return arch, even_function(arch.function, values, arch.layers.values())
    homogeneous = {Hierarchical: arch.layers, Recurrent: ("input", "output")}.get(type(arch), ())
    even = values.copy()
    for name in homogeneous:
        even[arch.layers[name]] = to_even_scale(values[arch.layers[name]])
    return arch, even


def even_function(function: Any, params: np.ndarray, parts: Iterable[slice]) -> np.ndarray:
    """Parameters (p,) of a function, rescaled in the parts that need it and in which the function is homogeneous.

    Raises
    ------
    ValueError
        If the function is not homogeneous in a part of extreme scale.
    """
    even = params.copy()
    for part in parts:
        largest = np.abs(params[part]).max(initial=0.0)
        if largest == 0 or 1 / ORDINARY <= largest <= ORDINARY:
            continue
        if not is_homogeneous(function, params.size, part):
            raise ValueError(
                f"params: found values of about {largest:.0e}, expected a layer's largest between {1 / ORDINARY:.0e} "
                f"and {ORDINARY:.0e}: the function is not a homogeneous polynomial of it, so it cannot be rescaled, "
                "and its products may leave double precision. Change the units of the parameters."
            )
        even[part] = to_even_scale(params[part])
    return even


def is_homogeneous(function: Any, n_params: int, part: slice, prime: int = PRIME) -> bool:
    """Whether a polynomial function is homogeneous in a part of its parameters, whatever the degree.

    By Euler's identity, Σ_i w_i ∂f/∂w_i = k f over the part, at random numbers modulo a prime: the result is
    false for a function that is not a polynomial, and wrongly true with a probability of about degree/prime.

    >>> is_homogeneous(lambda w: [w[0] * w[1], w[1] ** 2], 2, slice(0, 2))
    True
    >>> is_homogeneous(lambda w: [w[0] * w[1], w[1] ** 2], 2, slice(1, 2))
    False
    """
    rng = np.random.default_rng(SEED)
    integers = rng.integers(1, prime, size=n_params)
    inside = np.zeros(n_params, dtype=np.int64)
    inside[part] = integers[part]  # the derivative along the part's own values
    point = [Dual(int(v), np.array([d], np.int64), prime) for v, d in zip(integers, inside, strict=True)]
    zero = Dual(0, np.zeros(1, np.int64), prime)
    try:
        values = [
            zero._coerce(v) for v in np.asarray(function(np.array(point, dtype=object)), dtype=object).reshape(-1)
        ]
    except Exception:  # whatever a reader's function does with other numbers than floats
        return False
    degrees = {int(v.derivative[0]) * pow(int(v.value), -1, prime) % prime for v in values if v.value}
    vanish = all(not v.derivative[0] for v in values if not v.value)
    return vanish and len(degrees) <= 1
