"""From a measured time series to a process: its autocovariance, and how uncertain that is."""

from __future__ import annotations

import numpy as np
from scipy.signal import correlate, lfilter

from capcore.processes import FromAutocovariance
from capcore.validation import finite_array, positive_integer

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
