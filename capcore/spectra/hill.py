"""Hill's estimator of a tail's exponent, which leaves the choice of x_min to the eye."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.spectra.power_law import usable


@dataclass(frozen=True)
class HillTable:
    """What a Hill plot shows: one entry per number k of largest eigenvalues.

    Attributes
    ----------
    k : (K,) array
        How many.
    x_min : (K,) array
        The next eigenvalue below, from which they are measured.
    alpha : (K,) array
        1 + k/Σ ln(x_i/x_min); infinite if the k eigenvalues equal x_min.
    standard_error : (K,) array
        (α − 1)/√k, if they were independent.
    """

    k: np.ndarray
    x_min: np.ndarray
    alpha: np.ndarray
    standard_error: np.ndarray


def hill_table(eigenvalues: object, *, threshold: float | None = None) -> HillTable:
    """The :class:`~capcore.spectra.hill.HillTable` of a spectrum, for every k from 1 to one less than its positive
    eigenvalues.

    α is an exponent of the density, so that Hill's tail index is α − 1. Where a table has no flat stretch there is no
    power law to speak of. Hill's formula with k = n − 1 is the one that WeightWatcher uses below 20 eigenvalues:
    unlike 1 + n/Σ it leaves out the eigenvalue that is x_min, and so estimates 1/(α − 1) without bias.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        In any order, non-negative.
    threshold : float, optional
        Eigenvalues up to it are zero; see :func:`usable`.

    Raises
    ------
    ValueError
        For fewer than two positive eigenvalues.

    Examples
    --------
    >>> hill_table([1.0, np.e, np.e**5]).alpha.round(3).tolist()
    [1.25, 1.333]
    """
    logs = usable(eigenvalues, threshold).logs[::-1]
    if len(logs) < 2:
        raise ValueError(f"eigenvalues: found {len(logs)} above zero, expected at least 2.")
    k = np.arange(1, len(logs))
    falls = -np.diff(logs)
    total = np.cumsum(k * falls)  # Σ_{i ≤ k} ln(x_i / x_{k+1}), from the spacings: no difference of large sums
    with np.errstate(divide="ignore"):
        rate = k / total
    return HillTable(k, np.exp(logs[1:]), 1.0 + rate, rate / np.sqrt(k))
