"""Hill's estimator of a tail's exponent, which leaves the choice of x_min to the eye."""

from dataclasses import dataclass

import numpy as np

from capcore.results.notebook import Record
from capcore.spectra.exponents import usable


@dataclass(frozen=True, repr=False)
class HillTable(Record):
    """The data of a Hill plot, with one entry for each number k of largest eigenvalues.

    Attributes
    ----------
    k : (K,) array
        Number of largest eigenvalues used.
    x_min : (K,) array
        Lower end of the tail: the next smaller eigenvalue.
    alpha : (K,) array
        Exponent 1 + k/Σ ln(x_i/x_min), infinite if all k eigenvalues equal x_min.
    standard_error : (K,) array
        Standard error (α − 1)/√k, which holds only for independent values.
    """

    k: np.ndarray
    x_min: np.ndarray
    alpha: np.ndarray
    standard_error: np.ndarray


def hill_table(eigenvalues: object) -> HillTable:
    """Estimate the exponent from the k largest eigenvalues, for every k below the number of positive ones.

    A power law shows as a flat stretch of the :class:`~capcore.spectra.hill.HillTable`; without one there is none to
    speak of. α is the exponent of the density, so Hill's tail index is α − 1. With k = n − 1, the formula is the one
    that WeightWatcher uses for fewer than 20 eigenvalues. Unlike 1 + n/Σ, it does not count the eigenvalue that serves
    as x_min, and therefore estimates 1/(α − 1) without bias.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The eigenvalues, non-negative and in any order.

    Raises
    ------
    ValueError
        If there are fewer than two positive eigenvalues.

    Examples
    --------
    >>> hill_table([1.0, np.e, np.e**5]).alpha.round(3).tolist()
    [1.25, 1.333]
    """
    logs = usable(eigenvalues).logs[::-1]
    if len(logs) < 2:
        raise ValueError(f"eigenvalues: found {len(logs)} above zero, expected at least 2.")
    k = np.arange(1, len(logs))
    falls = -np.diff(logs)
    total = np.cumsum(k * falls)  # Σ_{i ≤ k} ln(x_i / x_{k+1}) from spacings, to avoid a difference of large sums
    with np.errstate(divide="ignore"):
        rate = k / total
    return HillTable(k, np.exp(logs[1:]), 1.0 + rate, rate / np.sqrt(k))
