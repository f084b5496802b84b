"""Processes given by numbers: by their autocovariance, or by the coefficients of an autoregression."""

from typing import Any

import numpy as np

from capcore.checks.arguments import counted, finite_array, positive_number
from capcore.processes.base import Process, check_positive_definite
from capcore.processes.toeplitz import autocovariance_from_predictor, reflection_coefficients


class FromAutocovariance(Process):
    """A process given by its autocovariance sequence c_0, c_1, …, for example a measured one.

    A predictor of order n needs the lags 0 … n, so n is at most m − 1.

    Parameters
    ----------
    values : (m,) array_like
        Autocovariances, lag 0 first.

    Raises
    ------
    ValueError
        If the sequence is not positive definite, or numerically singular.

    Examples
    --------
    >>> FromAutocovariance([1.0, 0.5, 0.25]).predictor(2)[0].tolist()
    [0.5, 0.0]
    """

    def __init__(self, values: Any) -> None:
        self.values = finite_array(values, "autocovariance", 1)
        self.values.setflags(write=False)
        check_positive_definite(self.values)

    def __repr__(self) -> str:
        return f"FromAutocovariance(<{counted(self.values.size, 'lag')}>)"

    def _sequence(self, n: int) -> np.ndarray:
        if n > self.values.size:
            lags = counted(self.values.size, "lag")
            raise ValueError(f"autocovariance: found {lags}, expected at least {n}. Give a longer sequence.")
        return self.values[:n]


class AutoRegressive(Process):
    """The process y_{t+1} = Σ_i a_i y_{t−i} + η with η ~ N(0, v): Eq. 31 of paper 1 reversed (Appendix B.1).

    With A = A*(n) and v = v* of another process, the first n + 1 autocovariances are those of that process.

    Parameters
    ----------
    coefficients : (m,) array_like
        A, lag 0 first.
    variance : float
        v, the variance of the driving noise, positive.

    Raises
    ------
    ValueError
        If the autoregression is not stable, or the variance is not positive.

    Examples
    --------
    >>> AutoRegressive([0.5], 0.75).autocovariance(3).tolist()
    [1.0, 0.5, 0.25]
    """

    def __init__(self, coefficients: Any, variance: float = 1.0) -> None:
        self.coefficients = finite_array(coefficients, "coefficients", 1)
        self.coefficients.setflags(write=False)
        self.variance = positive_number(variance, "variance")
        reflections = reflection_coefficients(self.coefficients)
        unstable = np.flatnonzero(np.abs(reflections) >= 1)
        if unstable.size:
            order = int(unstable[-1])
            raise ValueError(
                f"coefficients: unstable. Found reflection coefficient {reflections[order]:.6g} at order {order + 1}, "
                "expected a stationary process: one below 1. Shrink them."
            )

    def __repr__(self) -> str:
        return f"AutoRegressive(<{counted(self.coefficients.size, 'coefficient')}>, variance={self.variance:g})"

    def _sequence(self, n: int) -> np.ndarray:
        return autocovariance_from_predictor(self.coefficients, self.variance, n)
