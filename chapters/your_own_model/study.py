"""What an uncertain covariance does to a capacity curve: the same model at its optimum for many processes."""

from collections.abc import Sequence

import numpy as np

from capcore.processes import Process


def autocorrelations(processes: Sequence[Process], n_lags: int) -> np.ndarray:
    """(m, n_lags) autocovariances of the processes, each divided by its own at lag 0.

    >>> from capcore.processes import AR1
    >>> autocorrelations([AR1(0.5).with_nugget(1.0)], 3).tolist()
    [[1.0, 0.25, 0.125]]
    """
    autocovariances = np.array([process.autocovariance(n_lags) for process in processes])
    return autocovariances / autocovariances[:, :1]


def transformed(values: np.ndarray, logarithm: bool) -> np.ndarray:
    """(m,) the series or its logarithm. Raises ``ValueError`` where a value is not positive.

    >>> transformed(np.array([1.0, 1.0]), logarithm=True).tolist()
    [0.0, 0.0]
    """
    if not logarithm:
        return values
    if not np.all(values > 0):
        i = int(np.argmin(values > 0))
        raise ValueError(
            f"logarithm: found the value {values[i]:g} at index {i}, expected positive ones. Use logarithm=False."
        )
    return np.log(values)
