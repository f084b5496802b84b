"""From a measured time series to a process: the estimated autocovariance."""

from __future__ import annotations

import numpy as np
from scipy.signal import correlate

from capcore.processes import FromAutocovariance
from capcore.validation import finite_array, positive_integer

LENGTH_PER_LAG = 4


def estimate_process(series: object, n_inputs: int) -> FromAutocovariance:
    """The process with the autocovariance that a time series shows at lags 0 … n, for models of n inputs.

    Parameters
    ----------
    series : (m,) equally spaced values, oldest first; the mean is subtracted.
    n_inputs : n; the series must have at least 4(n + 1) values.

    The estimate is ĉ_τ = (1/m) Σ_t y_t y_{t+τ}: with 1/m, and not 1/(m − τ), it is positive definite for any
    series. Its standard error at lag τ is of the order of c_0 √(correlation time / m): distant lags are noise
    unless the series is many times longer than the window.

    Raises ``ValueError`` for a series that is too short, constant, not finite or not one-dimensional.

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
    centred = values - values.mean()
    if np.ptp(values) <= 1e-12 * np.abs(values).max():
        raise ValueError(f"series: found the constant {values[0]:g}, expected values that vary.")
    full = correlate(centred, centred, mode="full", method="auto")
    return FromAutocovariance(full[values.size - 1 : values.size - 1 + n_lags] / values.size)
