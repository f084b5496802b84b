"""Numbers as tables and sentences show them."""

from collections.abc import Iterable

import numpy as np

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_ten(value: float) -> str:
    """A small or large number by its first digit: ``3·10⁻¹⁴``.

    >>> power_of_ten(2.6e-14), power_of_ten(1e-20), power_of_ten(9.7e5)
    ('3·10⁻¹⁴', '10⁻²⁰', '10⁶')
    """
    digit, exponent = _first_digit(value)
    return (digit and f"{digit}·") + "10" + str(exponent).translate(SUPERSCRIPTS)


def scientific(value: float) -> str:
    """The same as a formula, for Markdown and for the text of figures.

    >>> scientific(4.2e-10), scientific(1e-28)
    ('$4 \\\\cdot 10^{-10}$', '$10^{-28}$')
    """
    digit, exponent = _first_digit(value)
    factor = digit and rf"{digit} \cdot "
    return f"${factor}10^{{{exponent}}}$"


def _first_digit(value: float) -> tuple[str, int]:
    """It, empty for a one, and the power of ten behind it."""
    digit, exponent = f"{value:.0e}".split("e")
    return digit if digit != "1" else "", int(exponent)


def with_error(mean: float, half: float) -> str:
    """Text such as "12.3 ± 0.4": one digit of the half-width, two after a leading 1, and the mean to that place.

    The blanks do not break.

    >>> with_error(1234.5, 14.2), with_error(0.04567, 0.0032), with_error(45.8, 23.1), with_error(3.0, 0.0)
    ('1,234\xa0±\xa014', '0.046\xa0±\xa00.003', '46\xa0±\xa023', '3')
    """
    if half < 1e-9 * max(abs(mean), 1e-300):
        return f"{mean:,.4g}"
    place = int(np.floor(np.log10(half)))
    digits = max(0, (1 if half / 10.0**place < 2 else 0) - place)
    return f"{mean:,.{digits}f}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{half:,.{digits}f}"


def signed(value: float, digits: int = 2) -> str:
    """A number with a minus sign that is one.

    >>> signed(-0.123), signed(-0.001)
    ('−0.12', '0.00')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def ends(numbers: Iterable[float], digits: int = 1) -> str:
    """A mean with both ends of its interval.

    >>> ends((-0.02, -0.27, 1.26))
    '0.0 [−0.3, 1.3]'
    """
    mean, low, high = (signed(number, digits) for number in numbers)
    return f"{mean} [{low}, {high}]"
