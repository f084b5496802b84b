"""Whether dates are equally spaced: what is estimated from a series takes its values as one step apart."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from capcore.architectures.derivatives import library


def check_even(dates: Any, name: str, otherwise: str) -> None:
    """Raise ``ValueError`` unless dates ascend in equal steps: of time, or of the calendar (months, business days).

    Steps of the calendar are known if pandas is installed.

    Parameters
    ----------
    dates : (m,) array_like
        Of dates, times or durations.
    name : str
        Of what is checked, for the message.
    otherwise : str
        What to do if the values are meant to count one by one.

    Examples
    --------
    >>> check_even(np.array(["2026-01-01", "2026-01-02", "2026-01-05"], "M8[D]"), "day", "Leave them out.")
    Traceback (most recent call last):
    ...
    ValueError: day: found 2026-01-05 after 2026-01-02, expected equal steps, as from 2026-01-01 to 2026-01-02. Put a \
missing value at each date that is left out, with pandas' series.asfreq(…). Leave them out.
    """
    given, dates = dates, _shortest(dates)
    if np.isnat(dates).any():
        first = int(np.argmax(np.isnat(dates)))
        raise ValueError(f"{name}: found no date at value {first}, expected one for each value. Leave out that row.")
    steps = np.diff(dates)
    zero = np.timedelta64(0)
    if not (steps > zero).all():
        at = int(np.argmax(~(steps > zero)))
        what = "twice" if steps[at] == zero else f"before {dates[at + 1]}"
        raise ValueError(
            f"{name}: found {dates[at]} {what}, expected ascending dates, each of them once. Sort the rows, oldest "
            "first, and leave out those that are repeated."
        )
    if dates.size < 3 or (steps == steps[0]).all():
        return
    if find_spec("pandas") is not None and library("pandas").infer_freq(library("pandas").Index(given)) is not None:
        return
    common = int(np.argmax(steps == _most_frequent(steps)))
    at = int(np.argmax(steps != steps[common]))
    raise ValueError(
        f"{name}: found {dates[at + 1]} after {dates[at]}, expected equal steps, as from {dates[common]} to "
        f"{dates[common + 1]}. Put a missing value at each date that is left out, with pandas' series.asfreq(…). "
        f"{otherwise}"
    )


def _shortest(dates: Any) -> np.ndarray:
    """Dates in days where they are whole days, or else in seconds; those of a time zone in UTC."""
    array = np.asarray(dates)
    array = np.asarray(dates, "M8[ns]") if array.dtype.kind == "O" else array
    for unit in ("D", "s"):
        if (short := array.astype(f"{array.dtype.kind}8[{unit}]")).size and ((short == array) | np.isnat(array)).all():
            return short
    return array


def _most_frequent(steps: np.ndarray) -> Any:
    values, counts = np.unique(steps, return_counts=True)
    return values[np.argmax(counts)]
