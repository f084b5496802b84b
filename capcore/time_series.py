"""From a measured time series to a process: reading it, its autocovariance, and how uncertain that is."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import correlate, lfilter

from capcore.gate import of_kind
from capcore.processes import FromAutocovariance
from capcore.validation import finite_array, one_of, positive_integer

LENGTH_PER_LAG = 4
BURN_IN = 10  # times the order, before a simulated series is kept


def estimate_process(series: object, n_inputs: int) -> FromAutocovariance:
    """The process with the autocovariance that a time series shows at lags 0 … n, for models of n inputs.

    The estimate is ĉ_τ = (1/m) Σ_t y_t y_{t+τ}: with 1/m, and not 1/(m − τ), it is positive definite for any
    series. Its standard error at lag τ is of the order of c_0 √(correlation time / m): distant lags are noise
    unless the series is many times longer than the window. See :func:`sieve_bootstrap`.

    Parameters
    ----------
    series : (m,) array_like
        Equally spaced values, oldest first; the mean is subtracted.
    n_inputs : int
        n; the series must have at least 4(n + 1) values.

    Raises
    ------
    ValueError
        For a series that is too short, constant, not finite or not one-dimensional, and for one so smooth that its
        covariance is singular in double precision.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(np.allclose(estimate_process(rng.normal(size=4000), 2).autocovariance(3), [1, 0, 0], atol=0.1))
    True
    """
    values = finite_array(series, "series", 1)
    n_lags = positive_integer(n_inputs, "n_inputs") + 1
    if values.size < LENGTH_PER_LAG * n_lags:
        raise ValueError(
            f"series: found {values.size} values, expected at least {LENGTH_PER_LAG * n_lags} "
            f"({LENGTH_PER_LAG} for each of {n_lags} lags). Give a longer series, or use fewer inputs."
        )
    peak = float(np.abs(values).max())
    if np.ptp(values) <= 1e-12 * peak:
        raise ValueError(f"series: found the constant {values[0]:g}, expected values that vary.")
    if not 1e-140 <= peak <= 1e140:
        raise ValueError(
            f"series: found values of about {peak:.0e}, expected a largest one between 1e-140 and 1e140: their "
            "squares leave double precision, and c_0 with them. Measure the series in other units."
        )
    centred = values - values.mean()
    products = correlate(centred, centred)[values.size - 1 :][:n_lags]
    try:
        return FromAutocovariance(products / values.size)
    except ValueError as error:
        raise ValueError(
            f"series: its autocovariance cannot be used. {error} Or difference the series, or add a little noise to it."
        ) from None


def sieve_bootstrap(series: object, n_inputs: int, n_draws: int, seed: int = 0) -> list[FromAutocovariance]:
    """Processes estimated from series like the given one: their spread is the uncertainty of the estimate.

    Each series is simulated from the autoregression of order n that the estimated process has as its best
    predictor, driven by residuals drawn at random from the series' own (Bühlmann 1997, "Sieve bootstrap for time
    series"). Unlike resampled blocks it does not cut the long lags. What order n cannot hold is missed: a memory
    much longer than the window is more uncertain than this says.

    Parameters
    ----------
    series : (m,) array_like
        As for :func:`estimate_process`.
    n_inputs : int
        As there.
    n_draws : int
        Number of series.
    seed : int
        Of the draws.
    """
    predictor, _ = estimate_process(series, n_inputs).predictor(n_inputs)
    whitening = np.concatenate([[1.0], -predictor])
    values = finite_array(series, "series", 1)
    residuals = lfilter(whitening, [1.0], values - values.mean())[n_inputs:]
    rng = np.random.default_rng(seed)
    size = values.size + BURN_IN * n_inputs
    draws = []
    for _ in range(positive_integer(n_draws, "n_draws")):
        noise = rng.choice(residuals - residuals.mean(), size)
        simulated = lfilter([1.0], whitening, noise)[-values.size :]
        draws.append(estimate_process(simulated, n_inputs))
    return draws


def load_series(path: str | Path, column: str | None = None) -> np.ndarray:
    """(m,) one numeric column of a .csv, .npy or .npz file, oldest first as it stands there.

    A .csv needs pandas.

    Parameters
    ----------
    path : str or Path
        Its ending says which kind of file it is.
    column : str, optional
        Name of a column of the .csv, of an array in the .npz, or of a field of a structured array. Default: the only
        one-dimensional numeric one there is.

    Raises
    ------
    ValueError
        For a missing or unreadable file, an unknown type of file, a column that is not there (the message names those
        that are) or not numeric, and NaN.
    """
    of_kind(path, "path", str | PathLike)
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"series: found no file {str(path)!r}, expected the path of a .csv, .npy or .npz file.")
    read = _READERS[one_of(file.suffix.lower(), "type of file", _READERS)]
    try:
        columns = read(file)
    except (ValueError, OSError) as error:
        raise ValueError(f"series: could not read {str(path)!r} ({error}).") from None
    numeric = {name: values for name, values in columns.items() if values.ndim == 1 and values.dtype.kind in "iuf"}
    if column is None:
        if len(numeric) != 1:
            raise ValueError(f"column: not given, expected one of {', '.join(map(repr, numeric)) or 'none numeric'}.")
        (column,) = numeric
    if one_of(column, "column", columns) not in numeric:
        array = columns[column]
        raise ValueError(
            f"column {column!r}: found an array of shape {array.shape} and type {array.dtype}, expected "
            "one-dimensional numbers."
        )
    return finite_array(numeric[column], f"column {column!r}", 1)


def _fields(name: str, array: np.ndarray) -> dict[str, np.ndarray]:
    """The fields of a structured array, or the array itself under its name."""
    return {field: array[field] for field in array.dtype.names} if array.dtype.names else {name: array}


def _read_csv(file: Path) -> dict[str, Any]:
    from capcore.architectures.derivatives import library

    frame = library("pandas").read_csv(file)
    return {str(name): frame[name].to_numpy() for name in frame.columns}


def _read_npy(file: Path) -> dict[str, np.ndarray]:
    return _fields("values", np.load(file, allow_pickle=False))


def _read_npz(file: Path) -> dict[str, np.ndarray]:
    with np.load(file, allow_pickle=False) as arrays:
        return {name: values for key in arrays.files for name, values in _fields(key, arrays[key]).items()}


_READERS = {".csv": _read_csv, ".npy": _read_npy, ".npz": _read_npz}
