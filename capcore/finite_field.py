"""Exact ranks: elimination, and derivatives of any polynomial function, modulo a prime.

A floating-point number is a whole number times a power of two, so it has an exact residue modulo an odd prime: ranks at
trained parameters can be exact too. Derivatives of a reader's own function come from dual numbers over the field
(forward mode): sums, differences, products and whole powers are all that a polynomial needs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import frexp
from numbers import Integral, Real
from typing import Any

import numpy as np

PRIME = 2**31 - 1


def rank_modulo_prime(matrix: np.ndarray, prime: int = PRIME) -> int:
    """Rank of an integer matrix over the field of integers modulo ``prime``, by exact elimination.

    >>> rank_modulo_prime(np.array([[1, 2], [2, 4]]))
    1
    """
    from flint import nmod_mat

    rows, columns = matrix.shape
    return int(nmod_mat(rows, columns, (matrix % prime).reshape(-1).tolist(), prime).rank())


def residue(value: Real, prime: int = PRIME) -> int:
    """Residue of a whole or floating-point number, exactly: ½ is the inverse of 2.

    >>> residue(0.5, 7), residue(-3, 7)
    (4, 4)
    """
    if isinstance(value, Integral):
        return int(value) % prime
    mantissa, exponent = frexp(float(value))
    return int(mantissa * 2**53) * pow(2, exponent - 53, prime) % prime


def residues(values: object, prime: int = PRIME) -> np.ndarray:
    """(k,) residues of an array of numbers; see :func:`residue`."""
    return np.array([residue(v, prime) for v in np.asarray(values).reshape(-1).tolist()], dtype=np.int64)


class Dual:
    """A number modulo a prime below 2³¹, with its derivatives (p,) by the parameters."""

    __array_priority__ = 1000  # NumPy scalars leave the operation to us
    __slots__ = ("derivative", "prime", "value")

    def __init__(self, value: int, derivative: np.ndarray, prime: int) -> None:
        self.value, self.derivative, self.prime = value, derivative, prime

    def _coerce(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return other
        if isinstance(other, Real) and np.isfinite(float(other)):
            return Dual(residue(other, self.prime), np.zeros_like(self.derivative), self.prime)
        raise TypeError(f"found {other!r} in a sum or product, expected a finite number or a parameter.")

    def __add__(self, other: Any) -> Dual:
        b = self._coerce(other)
        return Dual((self.value + b.value) % self.prime, (self.derivative + b.derivative) % self.prime, self.prime)

    def __mul__(self, other: Any) -> Dual:
        b = self._coerce(other)
        # Each product is below 2^62: reduce before adding.
        derivative = (self.derivative * b.value % self.prime + self.value * b.derivative % self.prime) % self.prime
        return Dual(self.value * b.value % self.prime, derivative, self.prime)

    def __neg__(self) -> Dual:
        return self * -1

    def __sub__(self, other: Any) -> Dual:
        return self + self._coerce(other) * -1

    def __rsub__(self, other: Any) -> Dual:
        return self * -1 + other

    def __truediv__(self, other: Any) -> Dual:
        if isinstance(other, Dual) or not isinstance(other, Real) or residue(other, self.prime) == 0:
            raise TypeError(
                "found a division by a parameter or by zero, expected division by a number: polynomials only."
            )
        return self * Dual(pow(residue(other, self.prime), -1, self.prime), np.zeros_like(self.derivative), self.prime)

    def __pow__(self, power: Any) -> Dual:
        if not isinstance(power, Integral) or power < 0:
            raise TypeError(f"found the power {power!r}, expected a whole number of at least 0: polynomials only.")
        result = self._coerce(1)
        for _ in range(int(power)):
            result = result * self
        return result

    __radd__, __rmul__ = __add__, __mul__


def jacobian_of_function(function: Callable[[np.ndarray], object], params: object, prime: int = PRIME) -> np.ndarray:
    """(n, p) Jacobian modulo ``prime`` of a polynomial function at parameters (p,), exact.

    ``function`` is called once, with an object array (p,) that supports sums, differences, products, whole powers,
    indexing, ``@`` and ``np.convolve``-like loops; it returns a sequence or array of n of them.
    Raises ``TypeError`` where it does anything else to them.

    >>> jacobian_of_function(lambda w: [w[0] * w[1], 2 * w[0]], [3, 5], 7).tolist()
    [[5, 3], [2, 0]]
    """
    integers = residues(params, prime)
    one = np.eye(integers.size, dtype=np.int64)
    duals = np.array([Dual(int(v), one[i], prime) for i, v in enumerate(integers)], dtype=object)
    try:
        returned = np.asarray(function(duals), dtype=object).reshape(-1)
    except (TypeError, AttributeError) as problem:
        raise TypeError(
            f"function: {problem} Expected a polynomial: sums, differences, products and whole powers of the "
            "parameters. For other functions use the numerical rank."
        ) from problem
    zero = Dual(0, np.zeros(integers.size, np.int64), prime)
    return np.array([(zero + value).derivative for value in returned]).reshape(returned.size, integers.size)
