"""From a measured time series to a process: its autocovariance, and how uncertain that is."""

from typing import Any

import numpy as np
from scipy.linalg import eigvalsh, toeplitz
from scipy.signal import correlate, lfilter

from capcore.checks.arguments import counted, finite_array, moderate, positive_integer, quiet, warn
from capcore.checks.memory import check_covariance
from capcore.processes import FromAutocovariance
from capcore.processes.toeplitz import levinson_durbin

LENGTH_PER_LAG = 4
PAIRS_PER_LAG = 3  # what the rule above leaves to the last lag of a complete series
OVERSTATED, SHORT = 1.2, 10  # v* may exceed the error within m values by 20 % + 10/m, as few stationary series do
BURN_IN = 10  # times the order, before a simulated series is kept


class EstimatedProcess(FromAutocovariance):
    """What :func:`estimate_process` returns: a process that knows what it was estimated from.

    Attributes
    ----------
    values : (n + 1,) array
        Autocovariances, lag 0 first.
    pairs : (n + 1,) int array
        How many pairs of values each lag has; at lag 0 the values that are there.
    notes : list of str
        The warnings of the estimate.
    """

    def __init__(self, values: Any, pairs: np.ndarray, notes: list[str]) -> None:
        super().__init__(values)
        self.pairs, self.notes = pairs, notes
        self.pairs.setflags(write=False)


def estimate_process(series: object, n_inputs: int) -> EstimatedProcess:
    """The process with the autocovariance that a time series shows at lags 0 … n, for models of n inputs.

    The estimate is ĉ_τ = (1/m) Σ_t y_t y_{t+τ}: with 1/m, and not 1/(m − τ), it is positive definite for any
    series. Its standard error at lag τ is of the order of c_0 √(correlation time / m): distant lags are noise
    unless the series is many times longer than the window. See :func:`sieve_bootstrap`.

    It is that of a series with zeros before its first value and after its last. Where a trend or a season ends far from
    zero, these ends decide v*, which then says little about forecasts, and there is a warning. A taper brings the ends
    to zero, but costs as much elsewhere: of ten real series (``scripts/ten_series.py``), a cosine taper of 10 %
    forecast three better, each with a trend or a season, and a Hann taper two. Least squares did these better still.

    Where values are missing, the N_τ pairs that are there stand for all m − τ: ĉ_τ = (1 − τ/m) (1/N_τ) Σ y_t y_{t+τ}
    over those pairs (Parzen 1963, "On spectral analysis with missing observations and amplitude modulation"). That is
    right if what is missing does not depend on the values. It need not be positive definite. If it is not, its
    least eigenvalue being −δ, c_0 grows by 2δ: a growth by δ is the smallest change, as the largest eigenvalue of the
    difference counts, that has none below 0, and an eigenvalue that can come out at −δ is not known better than to δ.

    Parameters
    ----------
    series : (m,) array_like
        Equally spaced values, oldest first; the mean is subtracted. Missing ones are NaN, None, masked or pandas' NA.
        The dates of a pandas series have to be in equal steps.
    n_inputs : int
        n; the series must have at least 4(n + 1) values, and 3(n + 1) pairs of values at each lag.

    Returns
    -------
    EstimatedProcess
        A process, with ``pairs``.

    Warns
    -----
    UserWarning
        If white noise was added; the message says how much. And where v* exceeds the mean squared error of repeating
        the last value, or by more than a fifth that of its own predictor within a complete series. Both are in
        ``notes``.

    Raises
    ------
    ValueError
        For a series that is too short, constant, infinite or not one-dimensional, that has too few pairs of values at a
        lag or unequal dates, and for one so smooth that its covariance is singular in double precision.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> series = rng.normal(size=4000)
    >>> bool(np.allclose(estimate_process(series, 2).autocovariance(3), [1, 0, 0], atol=0.1))
    True
    >>> series[::7] = np.nan
    >>> estimate_process(series, 2).pairs.tolist()
    [3428, 2856, 2855]
    """
    values, there = with_gaps(series)
    n_lags = positive_integer(n_inputs, "n_inputs") + 1
    size = int(there.sum())
    if size < LENGTH_PER_LAG * n_lags:
        least = f"{LENGTH_PER_LAG * n_lags} ({LENGTH_PER_LAG} for each of {n_lags} lags)"
        advice = "Give a longer series, or use fewer inputs."
        raise ValueError(f"series: found {counted(size, 'value')}, expected at least {least}. {advice}")
    peak = np.abs(values[there]).max()
    if np.ptp(values[there]) <= 1e-12 * peak:
        raise ValueError(f"series: found the constant {values[there][0]:g}, expected values that vary.")
    moderate(peak, "series", 1e140)
    centred = np.where(there, values - values[there].mean(), 0.0)
    products = correlate(centred, centred)[values.size - 1 :][:n_lags]
    pairs, estimate = values.size - np.arange(n_lags), products / values.size
    notes: list[str] = []
    if size < values.size:
        pairs = np.rint(correlate(there.astype(float), there.astype(float))[values.size - 1 :][:n_lags]).astype(int)
        if pairs.min() < PAIRS_PER_LAG * n_lags:
            raise ValueError(
                f"series: found {pairs.min()} pairs of values at lag {np.argmin(pairs)}, expected at least "
                f"{PAIRS_PER_LAG * n_lags} ({PAIRS_PER_LAG} for each of {n_lags} lags). Give a longer series, use "
                "fewer inputs, or fill the gaps."
            )
        estimate, notes = _made_positive((1 - np.arange(n_lags) / values.size) * products / pairs)
    try:
        process = EstimatedProcess(estimate, pairs, notes)
    except ValueError as error:
        raise ValueError(f"series: {error} Or difference the series, or add a little noise to it.") from None
    notes += _overstated(centred, there, process)
    for message in notes:
        warn(message, UserWarning)
    return process


def check_even_dates(index: Any, name: str, otherwise: str) -> None:
    """Raise ``ValueError`` unless a ``DatetimeIndex`` of pandas ascends in equal steps, of time or of the calendar.

    otherwise : what to do if the values are meant to count one by one.
    """
    months = 12 * index.year + index.month if hasattr(index, "month") else np.array([0, 1, 3])
    same_day = len(index) > 1 and np.ptp(np.diff(months)) == 0 and index.day.nunique() == 1
    ascending = index.is_monotonic_increasing and index.is_unique and not index.hasnans
    if ascending and (len(index) < 3 or same_day or index.inferred_freq is not None):
        return
    steps = np.diff(index.to_numpy())
    if not ascending:
        row = int(np.argmax(~(steps > np.timedelta64(0))))
        raise ValueError(f"{name}: found {index[row + 1]} after {index[row]}, expected ascending dates. {otherwise}")
    row = int(np.argmax(steps != np.median(steps)))
    raise ValueError(
        f"{name}: found {index[row + 1]} after {index[row]}, expected equal steps, as of {index[1] - index[0]}. Put a "
        f"missing value at each date that is left out, with pandas' series.asfreq(…). {otherwise}"
    )


def with_gaps(series: Any) -> tuple[np.ndarray, np.ndarray]:
    """(m,) values, with 0 where one is missing (masked, NaN, None or pandas' NA), and (m,) bool: which are there."""
    index: Any = getattr(series, "index", None)
    index = index.to_timestamp() if hasattr(index, "to_timestamp") else index  # pandas' periods
    if hasattr(index, "as_unit"):
        check_even_dates(index, "series", "Or let values count one by one, as for trading days: series.to_numpy().")
    try:
        given = np.ma.asarray(series)
    except (TypeError, ValueError, RuntimeError):  # ragged, or on another device: refused below
        given = np.ma.empty(0)
    missing, array = np.array(np.ma.getmaskarray(given)), given.data
    if array.dtype.kind == "f":
        missing |= np.isnan(array)
    elif array.dtype.kind == "O":
        absent = [v is None or type(v).__name__ == "NAType" or (isinstance(v, float) and v != v) for v in array.flat]
        missing |= np.reshape(absent, array.shape).astype(bool)
    if not missing.any():
        values = finite_array(series, "series", 1)
        return values, np.ones(values.size, bool)
    return finite_array(np.where(missing, 0, np.asarray(array, dtype=object)), "series", 1), ~missing


def _overstated(centred: np.ndarray, there: np.ndarray, process: EstimatedProcess) -> list[str]:
    """A message if v* exceeds what errors within the series are.

    m·v* is the sum of squared errors of the predictor over the series with n zeros at either end: without those at the
    ends, it is that within the series.
    """
    weights, variances, _ = levinson_durbin(process.values)
    stated, n, size = float(variances[-1]), weights.size, centred.size
    limit = float(np.nanmean(np.square(np.diff(np.where(there, centred, np.nan)))))
    if there.all():
        whitening = np.concatenate([[1.0], -weights])
        ends = np.append(np.convolve(centred[:n], whitening)[:n], np.convolve(centred[-n:], whitening)[n:])
        limit = min(limit, (OVERSTATED + SHORT / size) * (size * stated - ends @ ends) / (size - n))
    if stated <= limit:
        return []
    return [
        f"series: found a stated error of v* = {stated:.3g}, expected at most {limit:.3g}, as without a trend, season "
        "or another root near the unit circle. Forecast its differences, or fit weights by least squares."
    ]


def _made_positive(autocovariance: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The sequence with a c_0 that makes it positive definite, and a message if that grew."""
    check_covariance(autocovariance.size)
    least = float(eigvalsh(toeplitz(autocovariance), subset_by_index=(0, 0))[0])
    rounding = 10 * autocovariance.size * np.finfo(float).eps * autocovariance[0]
    if least > -rounding:
        return autocovariance, []
    added = -2 * least
    message = (
        "series: the autocovariance of its pairs is not positive definite. White noise of "
        f"{added / autocovariance[0]:.1%} of its variance is added. Give a longer series, or use fewer inputs."
    )
    return autocovariance + added * (np.arange(autocovariance.size) == 0), [message]


def sieve_bootstrap(series: object, n_inputs: int, n_draws: int, seed: int = 0) -> list[EstimatedProcess]:
    """Processes estimated from series like the given one: their spread is the uncertainty of the estimate.

    Each series is simulated from the autoregression of order n that the estimated process has as its best
    predictor, driven by residuals drawn at random from the series' own (Bühlmann 1997, "Sieve bootstrap for time
    series"). Unlike resampled blocks it does not cut the long lags. What order n cannot hold is missed: a memory
    much longer than the window is more uncertain than this says.

    Parameters
    ----------
    series : (m,) array_like
        As for :func:`estimate_process`, with no value missing: each residual needs the n values before it.
    n_inputs : int
        As there.
    n_draws : int
        Number of series.
    seed : int
        Of the draws.
    """
    values = finite_array(series, "series", 1)
    predictor, _ = estimate_process(values, n_inputs).predictor(n_inputs)
    whitening = np.concatenate([[1.0], -predictor])
    residuals = lfilter(whitening, [1.0], values - values.mean())[n_inputs:]
    rng = np.random.default_rng(seed)
    size = values.size + BURN_IN * n_inputs
    noises = (rng.choice(residuals - residuals.mean(), size) for _ in range(positive_integer(n_draws, "n_draws")))
    with quiet():
        return [estimate_process(lfilter([1.0], whitening, noise)[-values.size :], n_inputs) for noise in noises]
