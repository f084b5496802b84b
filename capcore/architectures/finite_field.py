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
BLOCK = 128
"""Columns that are eliminated together."""


def rank_modulo_prime(matrix: np.ndarray) -> int:
    """Rank of an integer matrix over the field of integers modulo ``PRIME``, by exact elimination.

    >>> rank_modulo_prime(np.array([[1, 2], [2, 4]]))
    1
    """
    rest, rank = matrix % PRIME, 0
    while rest.size:
        n, k = len(rest), min(BLOCK, rest.shape[1])
        panel = np.hstack([rest[:, :k], np.zeros((n, k), dtype=np.int64)])  # and what each row has of the pivots' rows
        pivots: list[int] = []
        free = np.ones(n, dtype=bool)
        for column in range(k):
            pivot, *others = np.flatnonzero(free & (panel[:, column] != 0)).tolist() or [-1]
            if pivot < 0:
                continue
            panel[pivot, k + len(pivots)] = 1
            pivots.append(pivot)
            free[pivot] = False
            part = slice(column, k + len(pivots))
            factors = panel[others, column] * pow(int(panel[pivot, column]), -1, PRIME) % PRIME
            panel[others, part] = (panel[others, part] - factors[:, None] * panel[pivot, part]) % PRIME
        rank += len(pivots)
        rest = (rest[free, k:] + _product(panel[free, k : k + len(pivots)], rest[pivots, k:])) % PRIME
    return rank


def _product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Of matrices modulo ``PRIME``; halves of 16 bits keep sums of ``BLOCK`` products exact in floating point."""
    (a, b), (c, d) = ((matrix.astype(float) // 2**16, (matrix % 2**16).astype(float)) for matrix in (left, right))
    high, middle, low = (np.fmod(part, PRIME).astype(np.int64) for part in (a @ c, a @ d + b @ c, b @ d))
    return ((high * 2**16 + middle) % PRIME * 2**16 + low) % PRIME


def residue(value: Any) -> int:
    """Residue modulo ``PRIME`` of a whole number, a fraction or a floating-point number: ½ is the inverse of 2.

    Raises
    ------
    ValueError
        If the number is NaN or infinite, or the prime divides the denominator of the fraction.

    Examples
    --------
    >>> residue(-3), 2 * residue(0.5) % PRIME
    (2147483644, 1)
    """
    if isinstance(value, Rational):
        return int(value.numerator) * pow(int(value.denominator), -1, PRIME) % PRIME
    if not isfinite(value):
        raise ValueError(f"value: found {value!r}, expected a finite number.")
    mantissa, exponent = frexp(float(value))
    return int(mantissa * 2**53) * pow(2, exponent - 53, PRIME) % PRIME


def residues(values: object) -> np.ndarray:
    """(k,) residues of an array of numbers; see :func:`residue`."""
    return np.array([residue(v) for v in np.asarray(values).reshape(-1).tolist()], dtype=np.int64)


class Dual:
    """A number modulo ``PRIME``, with its derivatives (p,) with respect to the parameters.

    It supports sums, differences, products, whole powers and division by a number; NumPy applies them entry by entry.
    Comparisons, absolute values and conversions to a number raise ``TypeError``: a polynomial has no branches.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: np.ndarray) -> None:
        self.terms = terms % PRIME  # its value, and then its derivatives

    def __repr__(self) -> str:
        return f"Dual({self.terms[0]} modulo {PRIME})"

    def terms_of(self, other: Any) -> np.ndarray:
        """(1 + p,) terms of a dual number, or of a number, which has no derivatives."""
        number = other.item() if isinstance(other, np.ndarray) and other.ndim == 0 else other
        if isinstance(number, Dual):
            return number.terms
        if not (isinstance(number, Real) and isfinite(number)):
            raise TypeError(f"found {number!r} in a sum or product, expected a finite number or a parameter.")
        return np.append(residue(number), np.zeros_like(self.terms[1:]))

    def __add__(self, other: Any) -> Any:
        if np.ndim(other):
            return NotImplemented  # NumPy adds entry by entry
        return Dual(self.terms + self.terms_of(other))

    def __mul__(self, other: Any) -> Any:
        if np.ndim(other):
            return NotImplemented
        a, b = self.terms, self.terms_of(other)
        product = a[0] * b % PRIME + b[0] * a % PRIME  # each below 2^62: reduced before they are added
        product[0] = a[0] * b[0]
        return Dual(product)

    def __neg__(self) -> Dual:
        return Dual(-self.terms)

    def __pos__(self) -> Dual:
        return self

    def __sub__(self, other: Any) -> Any:
        return -(-self + other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, other: Any) -> Any:
        if np.ndim(other):
            return NotImplemented
        value, *derivatives = self.terms_of(other).tolist()
        return self._refused() if any(derivatives) else self * pow(value, -1, PRIME)

    def __pow__(self, power: Any) -> Dual:
        whole = isinstance(power, Real) and isfinite(power) and float(power).is_integer()
        if not whole or power < 0:
            raise TypeError(f"found the power {power!r}, expected a whole number of at least 0.")
        value, exponent = int(self.terms[0]), int(power)
        terms = self.terms * (exponent * pow(value, max(exponent - 1, 0), PRIME) % PRIME)
        terms[0] = pow(value, exponent, PRIME)
        return Dual(terms)

    __radd__, __rmul__ = __add__, __mul__
    __hash__ = None  # type: ignore[assignment]

    def _refused(self, *_: object) -> NoReturn:
        raise TypeError(
            "found a division by a parameter, a comparison, a branch, an absolute value, or a place for plain numbers "
            "(an array of floats? make it with dtype=object)."
        )

    __rtruediv__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __abs__ = _refused
    __float__ = __int__ = __complex__ = __index__ = __round__ = __floor__ = __ceil__ = __trunc__ = _refused


def jacobian_of_function(function: Callable[[np.ndarray], object], params: object) -> np.ndarray:
    """(n, p) Jacobian modulo ``PRIME`` of a polynomial function at parameters (p,), exact.

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
    >>> jacobian_of_function(lambda w: [w[0] * w[1], 2 * w[0]], [3, 5]).tolist()
    [[5, 3], [2, 0]]
    """
    integers = residues(params)
    duals = np.array([Dual(terms) for terms in np.insert(np.eye(integers.size, dtype=int), 0, integers, 1)])
    try:
        returned = np.asarray(function(duals), dtype=object).reshape(-1)
        rows = [duals[0].terms_of(value)[1:] for value in returned]
    except (TypeError, AttributeError) as problem:
        raise TypeError(f"function: {problem} Expected a polynomial. For others use the numerical rank.") from problem
    except (IndexError, ValueError) as problem:
        called = f"called with {integers.size} parameters (n_params)"
        raise ValueError(f"function: {problem} It was {called}, expected to return coefficients.") from problem
    return np.array(rows, dtype=np.int64).reshape(returned.size, integers.size)
