"""Maximum-likelihood exponents of power-law tails above a given x_min, with and without an upper end.

The logarithm of a power law on [x_min, x_max] (paper 3, Eq. 1, for its tail) is an exponential law on
[0, ln(x_max / x_min)] with the rate a = α − 1, so everything here is about gaps d = ln(x / x_min) and rates a.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from capcore.checks.arguments import finite_array, finite_number


class Usable(NamedTuple):
    """The eigenvalues that are used, with their logarithms, each (n,) and ascending; and how many were dropped."""

    logs: np.ndarray
    values: np.ndarray
    n_zero: int
    n_above: int


def usable(eigenvalues: object, threshold: float | None = None, x_max: float | None = None) -> Usable:
    """Select the positive eigenvalues up to ``x_max``, in ascending order, and take their logarithms.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The eigenvalues, non-negative and in any order.
    threshold : float, optional
        Eigenvalues up to this value count as zero and are dropped. The default is M · 2.2e-16 · λ_max, because anything
        smaller, whether positive or negative, is rounding error in a double-precision Gram matrix. Zero keeps every
        positive number, which suits data that are not eigenvalues.
    x_max : float, optional
        Larger eigenvalues are left out.

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
        raise ValueError(
            f"eigenvalues: found {values[0]:.6g}, expected none below zero. Pass the squared singular values of W, "
            "or the eigenvalues of WᵀW: those are non-negative."
        )
    floor = rounding if threshold is None else finite_number(threshold, "threshold")
    if floor < 0:
        raise ValueError(f"threshold: found {floor!r}, expected zero or a positive number.")
    first = int(np.searchsorted(values, max(floor, 0.0), side="right"))
    last = len(values) if x_max is None else int(np.searchsorted(values, x_max, side="right"))
    kept = values[first : max(first, last)]
    return Usable(np.log(kept), kept, first, len(values) - max(first, last))


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


def rates_of_means(mean: np.ndarray, low: np.ndarray, ceiling: float | None) -> np.ndarray:
    """Rates (K,) a = α − 1 from the tails' means of ln(x / x_min), ``low`` = ln x_min and ``ceiling`` = ln x_max."""
    if ceiling is None:
        return 1.0 / np.maximum(mean, np.finfo(float).tiny)
    return truncated_rates(mean, ceiling - low)


def fit_tail(tail: np.ndarray, floor: float, ceiling: float | None) -> tuple[float, float]:
    """Fit one tail, given as ascending logarithms (n,): its rate a = α − 1 and its Kolmogorov–Smirnov distance.

    ``floor`` is ln x_min, and at least one entry must lie above it. The distance is max ‖F(x_j) − j/n‖ over
    j = 0 … n−1: the empirical distribution is counted from the left, as in WeightWatcher and the powerlaw package.
    """
    gaps = tail - floor
    mean = gaps.mean()
    span = None if ceiling is None else ceiling - floor
    rate = 1.0 / mean if span is None else float(truncated_rates(np.array([mean]), np.array([span]))[0])
    number = len(tail)
    return float(rate), float(np.abs(distribution(gaps, rate, span) - np.arange(number) / number).max())


def distribution(gaps: np.ndarray, rates: np.ndarray | float, span: np.ndarray | float | None) -> np.ndarray:
    """Distribution function 1 − exp(−a d) of the gaps d, divided by its value at the upper end ``span`` if given."""
    if span is None:
        model = gaps * -np.asarray(rates)
        return np.subtract(1.0, np.exp(model, out=model), out=model)
    rates = np.where(np.abs(rates) * span < 1e-9, 1e-9 / span, rates)  # as good as uniform, to nine more digits
    steep = np.abs(rates)
    # mirrored for a < 0, so that nothing overflows: F(d) = [e^(−|a|(s−d)) − e^(−|a|s)] / [1 − e^(−|a|s)]
    rising = np.exp(-steep * (span - gaps)) * -np.expm1(-steep * gaps)
    return np.where(rates > 0, -np.expm1(-steep * gaps), rising) / -np.expm1(-steep * span)


def truncated_rates(mean: np.ndarray, span: np.ndarray) -> np.ndarray:
    """Rates a of exponential laws on [0, span] with the given means: solve 1/a − span/(exp(a·span) − 1) = mean.

    Both arrays have the same shape. As the mean rises from 0 to ``span``, the rate falls from +∞ to −∞; it is 0 at
    ``span``/2.
    """
    share = np.clip(mean / span, 1e-300, 1.0)
    mirrored = share > 0.5
    share = np.where(mirrored, 1.0 - share, share)
    share = np.maximum(share, np.finfo(float).tiny)
    low, high = np.zeros_like(share), 1.0 / share  # a bracket, because the mean share is below 1/t
    t = np.minimum(6.0 * (1.0 - 2.0 * share) * 2.0, high)
    for _ in range(200):
        value, slope = _mean_share(t)
        excess = value - share  # decreases in t
        low, high = np.where(excess > 0, t, low), np.where(excess > 0, high, t)
        step = t - excess / slope
        new = np.where((step > low) & (step < high), step, (low + high) / 2)
        if np.all(np.abs(new - t) <= 4e-16 * np.maximum(t, 1e-8)):
            t = new
            break
        t = new
    return np.where(mirrored, -t, t) / span


def truncated_error(rate: float, span: float, number: int) -> float:
    """Standard error of the rate, from the Fisher information of the truncated exponential law."""
    information = -_mean_share(np.array([abs(rate * span)]))[1][0] * span**2
    return float(1.0 / np.sqrt(number * information))


def _mean_share(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The function 1/t − 1/(e^t − 1) for t ≥ 0, and its derivative."""
    small = t < 0.05
    t_safe = np.where(small, 1.0, np.maximum(t, 1e-300))
    decay = np.exp(-t_safe)
    value = 1.0 / t_safe - decay / -np.expm1(-t_safe)
    slope = -1.0 / t_safe**2 + decay / np.expm1(-t_safe) ** 2
    series = 0.5 - t / 12 + t**3 / 720 - t**5 / 30240 + t**7 / 1209600
    series_slope = -1 / 12 + t**2 / 240 - t**4 / 6048 + t**6 / 172800
    return np.where(small, series, value), np.where(small, series_slope, slope)
