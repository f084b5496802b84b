"""Whether dates are equally spaced: what is estimated from a series takes its values as one step apart."""

from __future__ import annotations

import numpy as np


def check_even(readings: list[np.ndarray], name: str, otherwise: str) -> None:
    """Raise ``ValueError`` unless dates ascend in equal steps: of time, of months, or of business days.

    Parameters
    ----------
    readings : list of (m,) array
        The dates, times or durations; several if they can be read in several ways, of which one has to do.
    name : str
        Of what is checked, for the message.
    otherwise : str
        What to do if the values are meant to count one by one.

    Examples
    --------
    >>> check_even([np.array(["2026-01-01", "2026-01-02", "2026-01-04"], "M8[D]")], "day", "Leave them out.")
    Traceback (most recent call last):
    ...
    ValueError: day: found 2026-01-04 after 2026-01-02, expected equal steps, as from 2026-01-01 to 2026-01-02. Put a \
missing value at each date that is left out, with pandas' series.asfreq(…). Leave them out.
    """
    shortest = [_shortest(np.asarray(each)) for each in readings]
    if any(_is_even(each) for each in shortest):
        return
    dates = shortest[0]
    if np.isnat(dates).any():
        first = int(np.argmax(np.isnat(dates)))
        raise ValueError(f"{name}: found no date at value {first}, expected one for each value. Leave out that row.")
    steps, zero = np.diff(dates), np.timedelta64(0)
    if not (steps > zero).all():
        at = int(np.argmax(~(steps > zero)))
        what = "twice" if steps[at] == zero else f"before {dates[at + 1]}"
        raise ValueError(
            f"{name}: found {dates[at]} {what}, expected ascending dates, each of them once. Sort the rows, oldest "
            "first, and leave out those that are repeated."
        )
    values, counts = np.unique(steps, return_counts=True)
    usual = steps == values[np.argmax(counts)]
    common, at = int(np.argmax(usual)), int(np.argmax(~usual))
    raise ValueError(
        f"{name}: found {dates[at + 1]} after {dates[at]}, expected equal steps, as from {dates[common]} to "
        f"{dates[common + 1]}. Put a missing value at each date that is left out, with pandas' series.asfreq(…). "
        f"{otherwise}"
    )


def _is_even(dates: np.ndarray) -> bool:
    steps = np.diff(dates)
    if np.isnat(dates).any() or not (steps > np.timedelta64(0)).all():
        return False
    return _equal(steps) or (dates.dtype == "M8[D]" and _is_calendar(dates))


def _is_calendar(days: np.ndarray) -> bool:
    """Whether they are the same day of equally spaced months, or the last one, or successive business days."""
    months = days.astype("M8[M]")
    same = _equal(days - months.astype("M8[D]")) or bool((((days + 1).astype("M8[M]")) > months).all())
    if same and _equal(np.diff(months)):
        return True
    return bool(np.is_busday(days).all()) and bool((np.busday_count(days[:-1], days[1:]) == 1).all())


def _equal(values: np.ndarray) -> bool:
    return bool((values == values[:1]).all())


def _shortest(dates: np.ndarray) -> np.ndarray:
    """Dates in days where they are whole days, or else in seconds."""
    for unit in ("D", "s"):
        short = dates.astype(f"{dates.dtype.kind}8[{unit}]")
        if ((short == dates) | np.isnat(dates)).all():
            return short
    return dates
