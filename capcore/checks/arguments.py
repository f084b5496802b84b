"""Checks at the public boundary, whose messages say what was found, what was expected, and what to do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import Path

import numpy as np

from capcore.checks.gate import plain_array, plain_number

PACKAGE = str(Path(__file__).parent / "_")[:-1]  # with its separator


def positive_integer(value: object, name: str, minimum: int = 1) -> int:
    """``value`` as an int of at least ``minimum``.

    >>> positive_integer(0, "n_layers")
    Traceback (most recent call last):
    ...
    ValueError: n_layers: found 0, expected a whole number of at least 1.
    """
    value = plain_number(value, name)
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name}: found {value!r}, expected a whole number of at least {minimum}.")
    return int(value)


def finite_number(value: object, name: str, expected: str = "a finite number") -> float:
    """``value`` as a finite float."""
    value = plain_number(value, name)
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
        For complex, non-numeric, ragged, empty, non-finite or wrongly shaped input, and for what is refused by
        :func:`~capcore.checks.gate.plain_array`.
    """
    values = plain_array(values, name)
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


def divided(layers: Mapping[str, slice], n_params: int) -> dict[str, slice]:
    """``layers`` as a dict, if every parameter is in exactly one of them.

    >>> divided({"one": slice(0, 2), "two": slice(1, 3)}, 3)
    Traceback (most recent call last):
    ...
    ValueError: layers: found parameter 1 in 2 of them, expected every parameter in exactly one.
    """
    counts = np.zeros(n_params, int)
    for name, part in layers.items():
        ends = (part.start, part.stop, part.step) if isinstance(part, slice) else (part,)
        if not isinstance(part, slice) or not all(isinstance(end, Integral | None) for end in ends):
            raise ValueError(f"layers: found {name!r}: {part!r}, expected a slice of whole numbers.")
        if max(part.start or 0, part.stop or 0) > n_params or part.step == 0 or counts[part].size == 0:
            raise ValueError(
                f"layers: found {name!r}: {part!r}, expected a slice with at least one parameter and none beyond the "
                f"{n_params} that there are."
            )
        counts[part] += 1
    if not np.all(counts == 1):
        i = int(np.argmax(counts != 1))
        raise ValueError(
            f"layers: found parameter {i} in {counts[i]} of them, expected every parameter in exactly one."
        )
    return dict(layers)


_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def quiet() -> Iterator[None]:
    """Withhold the package's own warnings meanwhile, in this thread alone: for callers that look at what they say."""
    before = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(before)


def warn(message: str, category: type[Warning]) -> None:
    """Give a warning at the line outside the package that called it, however deep inside it is found.

    No filter is changed on the way, not even for a moment: filters belong to the whole process, threads included.
    """
    if _QUIET.get():
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
