"""Maximum-likelihood exponents of power-law tails above a given x_min.

The logarithm of a power law above x_min (paper 3, Eq. 1, for its tail) is an exponential law with the rate a = α − 1,
so everything here is about gaps d = ln(x / x_min) and rates a.
"""

from typing import NamedTuple

import numpy as np

from capcore.checks.arguments import finite_array, finite_number


class Usable(NamedTuple):
    """The eigenvalues that are used, with their logarithms, each (n,) and ascending."""

    logs: np.ndarray
    values: np.ndarray


def usable(eigenvalues: object, threshold: float | None = None) -> Usable:
    """Select the positive eigenvalues, in ascending order, and take their logarithms.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The eigenvalues, non-negative and in any order.
    threshold : float, optional
        Eigenvalues up to this value count as zero and are dropped. The default is M · 2.2e-16 · λ_max, because anything
        smaller, whether positive or negative, is rounding error in a double-precision Gram matrix. Zero keeps every
        positive number, which suits data that are not eigenvalues.

    Raises
    ------
    ValueError
        If a value is negative beyond rounding, or not finite.

    Examples
    --------
    >>> usable([4.0, 1.0, 0.0, 1e-17]).values.tolist()
    [1.0, 4.0]
    """
    values = np.sort(finite_array(eigenvalues, "eigenvalues", 1))
    rounding = len(values) * np.finfo(float).eps * max(values[-1], 0.0)
    if values[0] < -rounding:
        raise ValueError(f"eigenvalues: found {values[0]:.6g}, expected none below zero. Pass squared singular values.")
    floor = rounding if threshold is None else finite_number(threshold, "threshold", "zero or a positive number", 0.0)
    positive = values[values > floor]
    return Usable(np.log(positive), positive)


def mean_gaps(logs: np.ndarray, begins: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Mean (T,) of ln(x / x_min) over each tail, which runs from an entry to the end of its spectrum.

    ``logs`` (T,) : the spectra one after another, each ascending. ``begins``, ``lengths`` (S,) : the index of each
    spectrum's first entry, and its length. Each spectrum needs only one suffix sum.
    """
    top = np.repeat(logs[begins + lengths - 1], lengths)
    below = top - logs
    sums = np.empty_like(below)
    for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True):
        sums[begin : begin + length] = below[begin : begin + length][::-1].cumsum()[::-1]
    return below - sums / (np.repeat(begins + lengths, lengths) - np.arange(len(logs)))


def fit_tail(tail: np.ndarray, floor: float) -> tuple[float, float]:
    """Fit one tail, given as ascending logarithms (n,): its rate a = α − 1 and its Kolmogorov–Smirnov distance.

    ``floor`` is ln x_min, above which at least one entry has to lie for a law. The distance is max ‖F(x_j) − j/n‖ over
    j = 0 … n−1: the empirical distribution is counted from the left, as in WeightWatcher and the powerlaw package.
    """
    gaps = tail - floor
    rate, number = 1.0 / max(gaps.mean(), np.finfo(float).tiny), len(tail)
    return float(rate), float(np.abs(distribution(gaps, rate) - np.arange(number) / number).max())


def distribution(gaps: np.ndarray, rates: np.ndarray | float) -> np.ndarray:
    """Distribution function 1 − exp(−a d) of the gaps d."""
    model = gaps * -np.asarray(rates)
    return np.subtract(1.0, np.exp(model, out=model), out=model)
