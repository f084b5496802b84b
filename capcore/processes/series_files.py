"""Reading one column of a file as a time series. No file is executed: pickled objects are refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from capcore.architectures.derivatives import library
from capcore.checks.arguments import finite_array, one_of
from capcore.checks.gate import of_kind
from capcore.processes.even_dates import check_even

SEPARATORS = "\t;|,"  # the first of those that are equally frequent, but a comma if there is none
DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})")


def load_series(
    path: str | Path,
    column: str | None = None,
    *,
    sep: str | None = None,
    decimal: str = ".",
    dates: str | bool | None = None,
) -> np.ndarray:
    """(m,) one numeric column of a .csv, .tsv, .parquet, .npy or .npz file, oldest first as it stands there.

    Missing values come as NaN. :func:`~capcore.processes.time_series.estimate_process` knows how to use a series that has some;
    everything else refuses it. Tables need pandas, and .parquet pyarrow or fastparquet.

    Parameters
    ----------
    path : str or Path
        Its ending says which kind of file it is.
    column : str, optional
        Name of a column of the table, of an array in the .npz, or of a field of a structured array. Default: the only
        one-dimensional numeric one there is. Columns without a header are "0", "1", ….
    sep : str, optional
        What separates the columns of a .csv or .tsv; by default the one of tab, ``;``, ``|`` and ``,`` that is most
        frequent in the first line.
    decimal : str
        "." or ",".
    dates : str or False, optional
        Column with the date of each value. They have to ascend in equal steps: of time, months or business days. By
        default the first column of a table that reads as dates. False: the values count one by one, whatever the
        dates, as for trading days.

    Raises
    ------
    ValueError
        For a missing or unreadable file, an unknown type of file, a column that is not there (the message names those
        that are) or not numeric, infinities, and dates that are not in equal steps.
    ModuleNotFoundError
        If pandas, or a library for .parquet, is not installed.
    """
    of_kind(path, "path", str | PathLike)
    of_kind(column, "column", str | None)
    of_kind(sep, "sep", str | None)
    of_kind(dates, "dates", str | bool | None)
    one_of(decimal, "decimal", (".", ","))
    if sep == "" or sep == decimal or dates is True:
        raise ValueError(
            f"sep, decimal, dates: found {sep!r}, {decimal!r} and {dates!r}, expected two different signs, and the "
            "name of a column or False."
        )
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"series: found no file {str(path)!r}, expected the path of a file of {', '.join(_READERS)}.")
    read = _READERS[one_of(file.suffix.lower(), "type of file", _READERS)]
    try:
        columns = read(file, sep, decimal)
    except (ValueError, OSError, re.error) as error:
        raise ValueError(
            f"series: found {str(path)!r}, which could not be read ({error}), expected a {file.suffix} file."
        ) from None
    kept = {name: values for name, values in columns.items() if name != dates}
    numeric = {name: values for name, values in kept.items() if values.ndim == 1 and values.dtype.kind in "iuf"}
    if column is None:
        if len(numeric) != 1:
            listed = f"one of {', '.join(map(repr, numeric))}." if numeric else f"a numeric one. {_instead(columns)}"
            raise ValueError(f"column: not given, expected {listed}")
        (column,) = numeric
    if one_of(column, "column", columns) not in numeric:
        array = columns[column]
        raise ValueError(
            f"column {column!r}: found an array of shape {array.shape} and type {array.dtype}, expected "
            f"one-dimensional numbers. {_instead({column: array})}"
        )
    if dates is not False:
        _check_dates(columns, dates, file.suffix.lower())
    values = numeric[column].astype(float)
    finite_array(np.where(np.isnan(values), 0.0, values), f"column {column!r}", 1)
    return values


def _check_dates(columns: dict[str, np.ndarray], dates: str | bool | None, suffix: str) -> None:
    """Check the steps of the column of dates that is named, or of the first that reads as dates in a table."""
    otherwise = "Or let the values count one by one, as for trading days: dates=False."
    if isinstance(dates, str):
        array = columns[one_of(dates, "dates", columns)]
        if array.dtype.kind in "iuf":  # years, or seconds: the steps of these numbers
            array = finite_array(array, f"dates {dates!r}", 1)
            steps = np.diff(array)
            if not (steps > 0).all() or np.ptp(steps) > 1e-6 * np.abs(steps).max():
                at = int(np.argmax(np.abs(steps - np.median(steps))))
                raise ValueError(
                    f"dates {dates!r}: found {array[at + 1]:g} after {array[at]:g}, expected equal ascending steps, as "
                    f"of {np.median(steps):g}. {otherwise}"
                )
            return
        found = [(dates, _read_dates(array))]
        if not found[0][1]:
            raise ValueError(f"dates {dates!r}: found type {array.dtype}, expected dates such as 2026-01-31.")
    elif suffix in (".npy", ".npz"):
        return
    else:
        found = [(name, _read_dates(array)) for name, array in columns.items()]
    name, readings = next(((name, readings) for name, readings in found if readings), ("", []))
    if readings:
        check_even(readings, f"dates {name!r}", otherwise)


def _read_dates(array: np.ndarray) -> list[np.ndarray]:
    """The ways in which a column reads as dates, 03/04 in March or in April; none if it has something else."""
    if array.dtype.kind == "M":
        return [array]
    if array.ndim != 1 or array.dtype.kind != "O" or not all(isinstance(v, str) and DATE.match(v) for v in array):
        return []
    found = []
    for day_first in (False, True):
        try:
            index = library("pandas").to_datetime(list(array), dayfirst=day_first, format="mixed", utc=True)
        except ValueError:
            continue
        found.append(index.tz_localize(None).to_numpy())
    return found


def _instead(columns: dict[str, np.ndarray]) -> str:
    """What stands there that is no number, and what may help."""
    for name, array in columns.items():
        for row, value in enumerate(array if array.dtype.kind == "O" and array.ndim == 1 else ()):
            if isinstance(value, str) and not DATE.match(value) and not _is_number(value):
                comma = " For decimal commas give decimal=','." if re.search(r"\d,\d", value) else ""
                return f"Column {name!r} has the text {value!r} at value {row}.{comma}"
    return "Convert it, or name another."


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _fields(name: str, array: np.ndarray) -> dict[str, np.ndarray]:
    """The fields of a structured array, or the array itself under its name."""
    return {field: array[field] for field in array.dtype.names} if array.dtype.names else {name: array}


def _columns(frame: Any) -> dict[str, np.ndarray]:
    """The columns of a data frame: numbers with a missing one as floats, dates in UTC, and all else as objects."""
    types, found = library("pandas").api.types, {}
    for name, values in frame.items():
        if types.is_numeric_dtype(values) and not types.is_bool_dtype(values):
            array = values.to_numpy(dtype=float, na_value=np.nan)
        elif types.is_datetime64_any_dtype(values):
            array = (values.dt.tz_convert(None) if values.dt.tz is not None else values).to_numpy()
        else:
            array = values.to_numpy(dtype=object)
        found[str(name)] = array
    return found


def _read_text(file: Path, sep: str | None, decimal: str) -> dict[str, np.ndarray]:
    pandas = library("pandas")
    with file.open(encoding="utf-8-sig") as lines:
        first = lines.readline().rstrip("\r\n")
    if sep is None:
        plain = re.sub(r'"[^"]*"', "", first)
        among = [each for each in SEPARATORS if each != decimal]
        sep = max(among, key=lambda each: plain.count(each) or 0.5 * (each == among[-1]))
    titles = pandas.read_csv(file, sep=sep, decimal=decimal, nrows=0).columns
    numbers = all(_is_number(str(title).replace(decimal, ".")) for title in titles)
    header = None if numbers else "infer"  # a file without a header: its first line is a value
    frame = pandas.read_csv(file, sep=sep, decimal=decimal, header=header)
    if type(frame.index).__name__ != "RangeIndex":  # pandas would take the first column for names of rows
        raise ValueError("its rows have more values than there are titles")
    return _columns(frame)


def _read_parquet(file: Path, *_: object) -> dict[str, np.ndarray]:
    if find_spec("fastparquet") is None:
        library("pyarrow")
    frame = library("pandas").read_parquet(file)
    return _columns(frame if type(frame.index).__name__ == "RangeIndex" else frame.reset_index())


def _read_npy(file: Path, *_: object) -> dict[str, np.ndarray]:
    return _fields("values", np.load(file, allow_pickle=False))


def _read_npz(file: Path, *_: object) -> dict[str, np.ndarray]:
    with np.load(file, allow_pickle=False) as arrays:
        return {name: values for key in arrays.files for name, values in _fields(key, arrays[key]).items()}


_READERS: dict[str, Callable[[Path, str | None, str], dict[str, np.ndarray]]] = {
    ".csv": _read_text,
    ".tsv": _read_text,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
}
