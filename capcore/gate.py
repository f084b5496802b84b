"""The gate of all public functions: of what kind an argument is, before anybody looks at its value.

Numbers and arrays of numbers pass as they are. A number in an array of one element is taken out of it, and what NumPy
would turn into numbers that mean something else is refused: masked values, dates, text, records, booleans.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

OTHERS = (str, bytes, bool, np.bool_, np.datetime64, np.timedelta64)
ADVICE = {
    "M": "dates, expected real numbers. Give the time since a date, in one unit: (dates - first) / np.timedelta64(1, 's')",
    "m": "durations, expected real numbers. Divide them by their unit: durations / np.timedelta64(1, 's')",
    "U": "text, expected real numbers. Convert it: values.astype(float)",
    "b": "booleans, expected real numbers. Where they mean 1 and 0, convert them: values.astype(float)",
}
ADVICE |= {"S": ADVICE["U"], "O": "an array of mixed objects, expected real numbers. Convert it: values.astype(float)"}


def plain_number(value: Any) -> Any:
    """``value``, or the number in it where it is an array with one element (of NumPy, JAX, PyTorch or pandas).

    >>> plain_number(np.array(0.5)), plain_number(np.array([3])), plain_number("a")
    (0.5, 3, 'a')
    """
    if isinstance(value, np.generic | np.ma.MaskedArray) or not hasattr(value, "__array__"):
        return value
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):  # a class, or an array on another device
        return value
    return array.item() if array.shape in ((), (1,)) and array.dtype.kind in "iuf" else value


def plain_fields(instance: Any) -> None:
    """Take the numbers of a dataclass out of arrays with one element, also where it is frozen."""
    for field in fields(instance):
        value = getattr(instance, field.name)
        if (number := plain_number(value)) is not value:
            object.__setattr__(instance, field.name, number)


def plain_array(values: Any, name: str) -> Any:
    """``values``, unless they are no plain numbers.

    Raises
    ------
    ValueError
        For masked values, dates, durations, text, records, booleans, and objects among which there are some of these.

    Examples
    --------
    >>> plain_array(np.array(["2026-01-01"], "M8[D]"), "series")
    Traceback (most recent call last):
    ...
    ValueError: series: found dates, expected real numbers. Give the time since a date, in one unit: \
(dates - first) / np.timedelta64(1, 's').
    """
    for part in values if isinstance(values, list | tuple) else (values,):
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            raise ValueError(
                f"{name}: found {np.ma.count_masked(part)} masked value(s), expected real numbers only. Fill them with "
                "values.filled(…), or leave them out with values.compressed()."
            )
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError):
        return values  # ragged, or on another device: whoever asked says what it is
    kind = array.dtype.kind
    if array.dtype.names:
        raise ValueError(f"{name}: found records with the fields {array.dtype.names}, expected real numbers. Take one field.")
    if kind in ADVICE and (kind != "O" or any(isinstance(each, OTHERS) for each in array.flat)):
        raise ValueError(f"{name}: found {ADVICE[kind]}.")
    return values
