"""Checks at the public boundary: every message says what was found, what was expected, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real

import numpy as np


def positive_integer(value: object, name: str, minimum: int = 1) -> int:
    """``value`` as an int of at least ``minimum``.

    >>> positive_integer(0, "n_layers")
    Traceback (most recent call last):
    ...
    ValueError: n_layers: found 0, expected a whole number of at least 1.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name}: found {value!r}, expected a whole number of at least {minimum}.")
    return int(value)


def finite_number(value: object, name: str, expected: str = "a finite number") -> float:
    """``value`` as a finite float."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise ValueError(f"{name}: found {value!r}, expected {expected}.")
    return number


def finite_array(values: object, name: str, ndim: int | tuple[int, ...]) -> np.ndarray:
    """``values`` as a float array with one of the given numbers of dimensions and no NaN or infinity.

    Raises
    ------
    ValueError
        For complex, non-numeric, ragged, empty, non-finite or wrongly shaped input.
    """
    dims = (ndim,) if isinstance(ndim, int) else ndim
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise TypeError("complex values")
        array = array.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: could not read it as an array of real numbers ({error}).") from None
    if array.ndim not in dims:
        wanted = " or ".join(map(str, dims))
        raise ValueError(f"{name}: found an array of shape {array.shape}, expected {wanted} dimension(s).")
    if array.size == 0:
        raise ValueError(f"{name}: found an empty array of shape {array.shape}, expected at least one entry.")
    bad = ~np.isfinite(array)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"{name}: found {int(bad.sum())} value(s) that are NaN or infinite (the first at index {where}), "
            "expected finite numbers. Look at how the array was computed."
        )
    return array


def one_of(value: object, name: str, choices: Iterable[str]) -> str:
    """``value`` if it is among ``choices``; otherwise an error that names the closest one."""
    known = sorted(choices)
    if isinstance(value, str) and value in known:
        return value
    close = get_close_matches(str(value), known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"{name}: found {value!r}, expected one of {', '.join(map(repr, known))}.{hint}")
