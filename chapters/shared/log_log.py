"""Straight lines on doubly logarithmic paper: is one quantity a power of another?"""

from typing import NamedTuple

import numpy as np
from scipy.stats import linregress


class LogLogLine(NamedTuple):
    """y ≈ prefactor · x^exponent by least squares of log y on log x; ``r_squared`` is the share it explains."""

    exponent: float
    prefactor: float
    r_squared: float


def fit_power(x: object, y: object) -> LogLogLine:
    """The least-squares line through log y against log x.

    Where no line can be judged, R² is 0: fewer than three different x, or a y that is not positive, since no
    power law passes through zero. Exponent and prefactor are then NaN.

    Parameters
    ----------
    x : (m,) array_like
        Positive values.
    y : (m,) array_like
        Values.

    Examples
    --------
    >>> fit = fit_power([1, 2, 4, 8], [3, 12, 48, 192])
    >>> round(fit.exponent, 9), round(fit.prefactor, 9), round(fit.r_squared, 9)
    (2.0, 3.0, 1.0)
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if np.unique(x).size < 3 or not (y > 0).all():
        return LogLogLine(np.nan, np.nan, 0.0)
    line = linregress(np.log(x), np.log(y))
    return LogLogLine(float(line.slope), float(np.exp(line.intercept)), float(line.rvalue**2))
