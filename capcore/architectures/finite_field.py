"""Exact ranks: elimination, and derivatives of any polynomial function, modulo a prime.

A floating-point number is a whole number times a power of two, so it has an exact residue modulo an odd prime: ranks at
trained parameters can be exact too. Derivatives of a user's own function come from dual numbers over the field
(forward mode): sums, differences, products and whole powers are all that a polynomial needs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import frexp, isfinite
from numbers import Rational, Real
from typing import Any, NoReturn

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


def residue(value: Any, prime: int = PRIME) -> int:
    """Residue of a whole number, a fraction or a floating-point number, exactly: ½ is the inverse of 2.

    Raises
    ------
    ValueError
        If the number is NaN or infinite, or the prime divides the denominator of the fraction.

    Examples
    --------
    >>> residue(0.5, 7), residue(-3, 7)
    (4, 4)
    """
    if isinstance(value, Rational):
        return int(value.numerator) * pow(int(value.denominator), -1, prime) % prime
    if not isfinite(value):
        raise ValueError(f"value: found {value!r}, expected a finite number.")
    mantissa, exponent = frexp(float(value))
    return int(mantissa * 2**53) * pow(2, exponent - 53, prime) % prime


def residues(values: object, prime: int = PRIME) -> np.ndarray:
    """(k,) residues of an array of numbers; see :func:`residue`."""
    return np.array([residue(v, prime) for v in np.asarray(values).reshape(-1).tolist()], dtype=np.int64)


class Dual:
    """A number modulo a prime below 2³¹, with its derivatives (p,) with respect to the parameters.

    It supports sums, differences, products, whole powers and division by a number; NumPy applies them entry by entry.
    Comparisons, absolute values and conversions to a number raise ``TypeError``: a polynomial has no branches.
    """

    __slots__ = ("derivative", "prime", "value")

    def __init__(self, value: int, derivative: np.ndarray, prime: int) -> None:
        self.value, self.derivative, self.prime = value, derivative, prime

    def __repr__(self) -> str:
        return f"Dual({self.value} modulo {self.prime})"

    def _coerce(self, other: Any) -> Dual:
        """``other`` as a dual number; a number has no derivatives."""
        number = other.item() if isinstance(other, np.ndarray) and other.ndim == 0 else other
        if isinstance(number, Dual):
            return number
        if isinstance(number, Real) and isfinite(number):
            return Dual(residue(number, self.prime), np.zeros_like(self.derivative), self.prime)
        raise TypeError(f"found {number!r} in a sum or product, expected a finite number or a parameter.")

    def __add__(self, other: Any) -> Any:
        if np.ndim(other):
            return NotImplemented  # NumPy adds entry by entry
        b = self._coerce(other)
        return Dual((self.value + b.value) % self.prime, (self.derivative + b.derivative) % self.prime, self.prime)

    def __mul__(self, other: Any) -> Any:
        if np.ndim(other):
            return NotImplemented
        b = self._coerce(other)
        # Each product is below 2^62: reduce before adding.
        derivative = (self.derivative * b.value % self.prime + self.value * b.derivative % self.prime) % self.prime
        return Dual(self.value * b.value % self.prime, derivative, self.prime)

    def __neg__(self) -> Dual:
        return Dual(-self.value % self.prime, -self.derivative % self.prime, self.prime)

    def __pos__(self) -> Dual:
        return self

    def __sub__(self, other: Any) -> Any:
        return -(-self + other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, other: Any) -> Any:
        if np.ndim(other):
            return NotImplemented
        if isinstance(np.asarray(other, dtype=object).item(), Dual):
            raise TypeError("found a division by a parameter, expected division by a number.")
        return self * pow(self._coerce(other).value, -1, self.prime)

    def __rtruediv__(self, other: Any) -> NoReturn:
        raise TypeError("found a division by a parameter, expected division by a number.")

    def __pow__(self, power: Any) -> Dual:
        whole = isinstance(power, Real) and isfinite(power) and float(power).is_integer()
        if not whole or power < 0:
            raise TypeError(f"found the power {power!r}, expected a whole number of at least 0.")
        slope = int(power) * pow(self.value, max(int(power) - 1, 0), self.prime) % self.prime
        return Dual(pow(self.value, int(power), self.prime), slope * self.derivative % self.prime, self.prime)

    __radd__, __rmul__ = __add__, __mul__
    __hash__ = None  # type: ignore[assignment]

    def _refused(self, *_: object) -> NoReturn:
        raise TypeError(
            "found a comparison, a branch or an absolute value of a parameter, or one where a plain number was needed "
            "(an array of floats? make it with dtype=object)."
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __abs__ = _refused
    __float__ = __int__ = __complex__ = __index__ = __round__ = __floor__ = __ceil__ = __trunc__ = _refused


def jacobian_of_function(function: Callable[[np.ndarray], object], params: object, prime: int = PRIME) -> np.ndarray:
    """(n, p) Jacobian modulo ``prime`` of a polynomial function at parameters (p,), exact.

    ``function`` is called once, with an object array (p,) whose entries support sums, differences, products, whole
    powers and division by a number. NumPy does the rest: indexing, ``reshape``, ``@``, ``np.convolve``, ``np.einsum``.
    It returns a sequence or array of n of them.

    Raises
    ------
    TypeError
        If the function does anything else to them.
    ValueError
        If the function does not take p parameters.

    Examples
    --------
    >>> jacobian_of_function(lambda w: [w[0] * w[1], 2 * w[0]], [3, 5], 7).tolist()
    [[5, 3], [2, 0]]
    """
    integers = residues(params, prime)
    one = np.eye(integers.size, dtype=np.int64)
    duals = np.array([Dual(int(v), one[i], prime) for i, v in enumerate(integers)], dtype=object)
    zero = Dual(0, np.zeros(integers.size, np.int64), prime)
    try:
        returned = np.asarray(function(duals), dtype=object).reshape(-1)
        rows = [zero._coerce(value).derivative for value in returned]
    except (TypeError, AttributeError) as problem:
        raise TypeError(
            f"function: {problem} Expected a polynomial: sums, differences, products and whole powers of the "
            "parameters. For other functions use the numerical rank."
        ) from problem
    except (IndexError, ValueError) as problem:
        raise ValueError(
            f"function: {problem} It was called with {integers.size} parameters (n_params). Expected a function of "
            "that many, which returns its coefficients."
        ) from problem
    return np.array(rows, dtype=np.int64).reshape(returned.size, integers.size)
