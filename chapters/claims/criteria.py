"""The closed vocabulary of tests that a check may use, and how values are written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from annotated_types import Len, MinLen
from pydantic import AfterValidator, FiniteFloat, TypeAdapter

Value = bool | int | float | list[int]

ROUND_OFF = 1e-6
"""A bound this close to zero is a tolerance for round-off: a value within it is shown as the bound, not by digits."""

PLACES = 3
"""Significant digits shown, unless rounding would hide the outcome."""


class ClaimsError(ValueError):
    """A registry, a recorded value or a notebook's evidence that cannot be used as it is."""


@dataclass(frozen=True)
class Criterion:
    """One test of the vocabulary: ``at_most``, ``at_least``, ``between``, ``equals`` or ``is_true``.

    >>> test = Criterion.read({"at_most": 1e-10})
    >>> str(test), test.holds(3e-15), test.holds(0.5)
    ('≤ 1e-10', True, False)
    """

    kind: str
    bound: Any

    @classmethod
    def read(cls, test: object) -> Self:
        """The criterion written as a mapping with one entry, as in the registry. Raises ``ClaimsError``."""
        if not isinstance(test, Mapping) or len(test) != 1:
            raise ClaimsError(f"test: found {test!r}, expected one entry such as {{at_most: 1.0e-10}}.")
        ((kind, bound),) = test.items()
        if kind not in _BOUNDS:
            raise ClaimsError(f"test: found {kind!r}, expected one of {', '.join(_BOUNDS)}.")
        expected, form = _BOUNDS[kind]
        try:
            TypeAdapter(form).validate_python(bound, strict=True)
        except ValueError:
            raise ClaimsError(f"test {kind}: found {bound!r}, expected {expected}; write 1.0e-10, not 1e-10.") from None
        return cls(kind, bound)

    def holds(self, value: Any) -> bool:
        """Whether ``value`` passes. Raises ``ClaimsError`` if it is of a type that the test cannot judge."""
        if self.kind == "is_true":
            if not isinstance(value, bool):
                raise ClaimsError(f"found {value!r}, expected True or False for this test.")
            return value
        if isinstance(value, bool) or (isinstance(value, list) and self.kind != "equals"):
            raise ClaimsError(f"found {value!r}, expected a number for the test '{self}'.")
        if self.kind == "equals":
            return bool(value == self.bound)
        if self.kind == "between":
            return bool(self.bound[0] <= value <= self.bound[1])
        return bool(value <= self.bound if self.kind == "at_most" else value >= self.bound)

    def as_mapping(self) -> dict[str, Any]:
        """The mapping that :meth:`read` accepts, of plain JSON types."""
        return {self.kind: self.bound}

    def __str__(self) -> str:
        """The test as it stands in a table, such as ``≤ 1e-10``."""
        if self.kind == "is_true":
            return "yes"
        if self.kind == "between":
            return f"in [{digits(self.bound[0])}, {digits(self.bound[1])}]"
        return f"{ {'at_most': '≤', 'at_least': '≥', 'equals': '='}[self.kind] } {digits(self.bound)}"

    def rounded(self, value: Value) -> Value:
        """``value`` to three significant digits, or to as many more as leave it on its side of the bound."""
        if not isinstance(value, float):
            return value
        candidates = (float(f"{value:.{places}g}") for places in range(PLACES, 18))  # 17 digits are exact
        return next(found for found in candidates if self.holds(found) == self.holds(value)) + 0.0  # no -0

    def stable(self, value: Value, varies: bool = False) -> Value | str:
        """``value`` as it may stand in a compared output: the same on every machine.

        Where it is round-off within a tolerance, or a timing (``varies``), the side of the bound is said instead of
        the number; other floats are :meth:`rounded`.
        """
        if self.kind in ("at_most", "at_least") and not isinstance(value, bool | list):
            noise = isinstance(value, float) and abs(value) <= abs(self.bound) and 0 < abs(self.bound) <= ROUND_OFF
            if noise or varies:
                side = "below" if self.holds(value) == (self.kind == "at_most") else "above"
                return f"{side} {digits(self.bound)}"
        return self.rounded(value)


def _increasing(ends: list[float]) -> list[float]:
    if not ends[0] < ends[1]:
        raise ValueError
    return ends


_NUMBER, _WHOLES = int | FiniteFloat, Annotated[list[int], MinLen(1)]
_BOUNDS: dict[str, tuple[str, Any]] = {
    "at_most": ("a number", _NUMBER),
    "at_least": ("a number", _NUMBER),
    "between": ("two numbers in increasing order", Annotated[list[_NUMBER], Len(2, 2), AfterValidator(_increasing)]),  # type: ignore[valid-type]
    "equals": ("a whole number or a list of whole numbers", int | _WHOLES),
    "is_true": ("true", Literal[True]),
}
_VALUE: TypeAdapter[Any] = TypeAdapter(bool | _NUMBER | _WHOLES)  # type: ignore[arg-type]


def plain(value: object, name: str = "value") -> Value:
    """``value`` as a Python bool, int, float or list of ints; NumPy scalars and arrays of whole numbers are accepted.

    Raises ``ClaimsError`` for anything else, and for NaN or infinity: what cannot be trusted is no evidence.
    """
    try:
        return _VALUE.validate_python(np.asarray(value).tolist(), strict=True)
    except ValueError:
        expected = "a finite number, True or False, or a list of whole numbers"
        raise ClaimsError(f"{name}: found {value!r}, expected {expected}. Look at how it was computed.") from None


def digits(value: Value | str) -> str:
    """``value`` as text: yes or no, whole numbers in full, floats by the fewest digits that give them back.

    >>> digits(True), digits(525312), digits(1e-10), digits(60.0), digits(0.12345)
    ('yes', '525,312', '1e-10', '60', '0.12345')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        texts = (f"{value:.{places}g}" for places in range(PLACES, 18))
        mantissa, _, exponent = next(text for text in texts if float(text) == value).partition("e")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa
    return str(value)
