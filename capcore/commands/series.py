"""A series from a file of the reader's, which pandas and NumPy read without executing anything; dates are checked."""

import re
from calendar import month_abbr, month_name
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from capcore.checkpoints.opening import read_file
from capcore.checks.arguments import library, one_of
from capcore.processes.time_series import check_even_dates

MONTH = "|".join((*month_name[1:], *month_abbr[1:]))
DATE = re.compile(rf"(?i).*(\d{{4}}[-/.]\d|\d[-/.]\d\d?[-/.]\d\d|\d:\d\d|\dQ[1-4]|\b({MONTH})\b.*\d)")
TYPES = (".csv", ".npy", ".npz", ".parquet", ".tsv")
ONE_BY_ONE = "Or let the values count one by one, as for trading days: --no-dates."


def read_series(
    path: str | Path, column: str | None = None, *, sep: str | None = None, decimal: str = ".", dates: bool = True
) -> np.ndarray:
    """(m,) one column of numbers, oldest first as it stands there; missing values are NaN.

    Parameters
    ----------
    path : str or Path
        Of a table (.csv, .tsv, .parquet; needs pandas) or of arrays (.npy, .npz, with their fields).
    column : str, optional
        Its title; by default the only column of numbers.
    sep, decimal : str, optional
        Of a .csv; the separator is by default the most frequent of tab, ``;``, ``|`` and ``,`` in the first line.
    dates : bool, default True
        Whether the first column of dates has to ascend in equal steps, and no other column of numbers may descend in
        every row, as years do where the newest comes first.

    Raises
    ------
    ValueError
        For a file or a column that cannot be used, and for dates that are unreadable, repeated or not in equal steps.
    """
    file = Path(path)
    kind = one_of(file.suffix.lower(), "type of file", TYPES)
    if not file.is_file():
        raise ValueError(f"series: found no file {str(path)!r}, expected the path of a {kind} file.")
    try:
        columns = _arrays(file) if kind in (".npy", ".npz") else _table(file, kind, sep, decimal)
    except (ValueError, OSError) as error:
        raise ValueError(f"series: {str(path)!r} could not be read ({error}), expected a {kind} file.") from None
    numeric = {name: values for name, values in columns.items() if values.ndim == 1 and values.dtype.kind in "iuf"}
    if column is None and len(numeric) != 1:
        titles = f"one of {', '.join(map(repr, numeric))}." if numeric else f"numbers. {_first_text(columns)}"
        raise ValueError(f"column: not given, expected {titles}")
    column = next(iter(numeric)) if column is None else column
    if one_of(column, "column", columns) not in numeric:
        raise ValueError(
            f"column {column!r}: found type {columns[column].dtype} and shape {columns[column].shape}, expected a "
            f"column of numbers. {_first_text({column: columns[column]})}"
        )
    for name in [name for name in columns if dates and _is_dates(columns[name])][:1]:
        _check_dates(name, columns[name])
    for name, values in numeric.items():
        if dates and name != column and len(values) > 1 and np.all(np.diff(values) < 0):
            raise ValueError(f"dates {name!r}: found {values[:2]} on top, expected the oldest first. {ONE_BY_ONE}")
    return numeric[column].astype(float)


def _arrays(file: Path) -> dict[str, np.ndarray]:
    columns: dict[str, np.ndarray] = {}
    arrays = {name: tensor.values() for name, tensor in read_file(file).tensors.items() if tensor.shape}
    for name, array in arrays.items():
        columns |= {field: array[field] for field in array.dtype.names} if array.dtype.names else {name: array}
    return columns


def _table(file: Path, kind: str, sep: str | None, decimal: str) -> dict[str, np.ndarray]:
    pandas = library("pandas")
    if kind == ".parquet":
        library("pyarrow")
        frame = pandas.read_parquet(file)
    else:
        with file.open(encoding="utf-8-sig") as lines:
            titles = re.sub(r'"[^"]*"', "", lines.readline())
        sep = sep or max("\t;|,".replace(decimal, ""), key=titles.count)
        options = {"sep": sep, "decimal": decimal, "skip_blank_lines": False, "index_col": False}
        first = pandas.read_csv(file, nrows=1, header=None, **options).iloc[0]
        titled = bool(pandas.to_numeric(first, errors="coerce").isna().any())
        frame = pandas.read_csv(file, header="infer" if titled else None, **options)
        frame = frame.loc[: frame.last_valid_index()]  # no blank lines at the end
    frame = frame.astype(dict.fromkeys(frame.select_dtypes("number"), float))
    return {str(name): column.to_numpy() for name, column in frame.items()}


def _is_dates(values: np.ndarray) -> bool:
    """Whether most of a column reads as dates: one that does not is an error, and no reason to look at none."""
    texts = [value for value in values.tolist() if isinstance(value, str)] if values.ndim == 1 else []
    return values.dtype.kind == "M" or 2 * sum(bool(DATE.match(text)) for text in texts) > len(values)


def _check_dates(name: str, values: np.ndarray) -> None:
    """Raise unless the dates ascend in equal steps, in one of the ways in which 03/04 can be read."""
    read = partial(library("pandas").to_datetime, values, format="mixed", errors="coerce", utc=True)
    ways = sorted((read(dayfirst=first) for first in (False, True)), key=lambda dates: dates.isna().sum())
    if ways[0].hasnans:
        row, expected = int(ways[0].isna().argmax()), "expected a date. Mend or remove that row."
        raise ValueError(f"dates {name!r}: found {values[row]!r} in row {row}, {expected}")
    likelier, other = (dates.tz_localize(None) for dates in ways)
    with suppress(ValueError):
        return check_even_dates(other, f"dates {name!r}", ONE_BY_ONE)
    return check_even_dates(likelier, f"dates {name!r}", ONE_BY_ONE)


def _first_text(columns: dict[str, np.ndarray]) -> str:
    for name, array in columns.items():
        for row, value in enumerate(array.tolist() if array.ndim == 1 else ()):
            if isinstance(value, str) and not DATE.match(value):
                comma = " For decimal commas: --decimal ," if re.search(r"\d,\d", value) else ""
                return f"Column {name!r} has the text {value!r} in row {row}.{comma}"
    return "Convert it, or name another."
