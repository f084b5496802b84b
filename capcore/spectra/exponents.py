"""Maximum-likelihood exponents of power-law tails, with and without an upper end, and Hill's estimator.

The logarithm of a power law on [x_min, x_max] (paper 3, Eq. 1, for its tail) is an exponential law on
[0, ln(x_max / x_min)] with the rate a = α − 1, so everything here is about gaps d = ln(x / x_min) and rates a.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from capcore.validation import finite_array, finite_number


class Usable(NamedTuple):
    """Logarithms (n,), ascending, of the eigenvalues that are used, and how many were not."""

    logs: np.ndarray
    values: np.ndarray
    n_zero: int
    n_above: int


def usable(eigenvalues: object, threshold: float | None = None, x_max: float | None = None) -> Usable:
    """The positive eigenvalues up to ``x_max``, ascending, with their logarithms.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        In any order, non-negative.
    threshold : float, optional
        Eigenvalues up to this are taken as zero and dropped. None takes M · 2.2e-16 · λ_max, below which an eigenvalue
        of a Gram matrix in double precision is rounding; negative values within it are rounding too. Zero keeps every
        positive number, for data that are not eigenvalues.
    x_max : float, optional
        Eigenvalues above it are left out.

    Raises
    ------
    ValueError
        For anything else that is negative, and for values that are not finite.

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
    """(T,) means of ln(x / x_min) over the tail from each entry to the end of its spectrum, from one suffix sum each.

    ``logs`` (T,) : spectra one after another, each ascending, with their first entries and lengths (S,).
    """
    top = np.repeat(logs[begins + lengths - 1], lengths)
    below = top - logs
    sums = np.empty_like(below)
    for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True):
        sums[begin : begin + length] = below[begin : begin + length][::-1].cumsum()[::-1]
    return below - sums / (np.repeat(begins + lengths, lengths) - np.arange(len(logs)))


def rates_of_means(mean: np.ndarray, low: np.ndarray, ceiling: float | None) -> np.ndarray:
    """(K,) rates a = α − 1 of tails with these means of ln(x / x_min); ``low`` = ln x_min, ``ceiling`` = ln x_max."""
    if ceiling is None:
        return 1.0 / np.maximum(mean, np.finfo(float).tiny)
    return truncated_rates(mean, ceiling - low)


def fit_tail(tail: np.ndarray, floor: float, ceiling: float | None) -> tuple[float, float]:
    """Rate a = α − 1 and Kolmogorov–Smirnov distance of one tail of ascending logarithms (n,) from ``floor`` = ln
    x_min.

    The distance is max ‖F(x_j) − j/n‖ over j = 0 … n−1: the empirical distribution is counted from the left, as
    WeightWatcher and the powerlaw package do. At least one entry lies above ``floor``.
    """
    gaps = tail - floor
    mean = gaps.mean()
    span = None if ceiling is None else ceiling - floor
    rate = 1.0 / mean if span is None else float(truncated_rates(np.array([mean]), np.array([span]))[0])
    number = len(tail)
    return float(rate), float(np.abs(distribution(gaps, rate, span) - np.arange(number) / number).max())


def distribution(gaps: np.ndarray, rates: np.ndarray | float, span: np.ndarray | float | None) -> np.ndarray:
    """Distribution function of the gaps d: 1 − exp(−a d), over its value at the upper end ``span`` if there is one."""
    if span is None:
        model = gaps * -np.asarray(rates)
        return np.subtract(1.0, np.exp(model, out=model), out=model)
    rates = np.where(np.abs(rates) * span < 1e-9, 1e-9 / span, rates)  # the uniform law, to nine more digits
    steep = np.abs(rates)
    # for a < 0 the law is mirrored: F(d) = [e^(−|a|(s−d)) − e^(−|a|s)] / [1 − e^(−|a|s)], which cannot overflow
    rising = np.exp(-steep * (span - gaps)) * -np.expm1(-steep * gaps)
    return np.where(rates > 0, -np.expm1(-steep * gaps), rising) / -np.expm1(-steep * span)


def truncated_rates(mean: np.ndarray, span: np.ndarray) -> np.ndarray:
    """Rates a of exponential laws on [0, span] with the given means: 1/a − span/(exp(a·span) − 1) = mean.

    Shapes alike. The rate falls from +∞ to −∞ as the mean rises from 0 to ``span``; it is 0 at ``span``/2.
    """
    share = np.clip(mean / span, 1e-300, 1.0)
    mirrored = share > 0.5
    share = np.where(mirrored, 1.0 - share, share)
    share = np.maximum(share, np.finfo(float).tiny)
    low, high = np.zeros_like(share), 1.0 / share  # the mean share is below 1/t
    t = np.minimum(6.0 * (1.0 - 2.0 * share) * 2.0, high)
    for _ in range(200):
        value, slope = _mean_share(t)
        excess = value - share  # falls with t
        low, high = np.where(excess > 0, t, low), np.where(excess > 0, high, t)
        step = t - excess / slope
        new = np.where((step > low) & (step < high), step, (low + high) / 2)
        if np.all(np.abs(new - t) <= 4e-16 * np.maximum(t, 1e-8)):
            t = new
            break
        t = new
    return np.where(mirrored, -t, t) / span


def truncated_error(rate: float, span: float, number: int) -> float:
    """Standard error of the rate from the Fisher information of a truncated exponential law."""
    information = -_mean_share(np.array([abs(rate * span)]))[1][0] * span**2
    return float(1.0 / np.sqrt(number * information))


def _mean_share(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """1/t − 1/(e^t − 1) for t ≥ 0 and its derivative."""
    small = t < 0.05
    t_safe = np.where(small, 1.0, np.maximum(t, 1e-300))
    decay = np.exp(-t_safe)
    value = 1.0 / t_safe - decay / -np.expm1(-t_safe)
    slope = -1.0 / t_safe**2 + decay / np.expm1(-t_safe) ** 2
    series = 0.5 - t / 12 + t**3 / 720 - t**5 / 30240 + t**7 / 1209600
    series_slope = -1 / 12 + t**2 / 240 - t**4 / 6048 + t**6 / 172800
    return np.where(small, series, value), np.where(small, series_slope, slope)


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
    """The :class:`~capcore.spectra.exponents.HillTable` of a spectrum, for every k from 1 to one less than its positive
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


# The names that a fit's numbers had when this package was planned: read-only, beside the ones that landed.
xmin = property(lambda fit: fit.x_min, doc="The same as ``x_min``: lower end of the fitted tail.")
ks_distance = property(lambda fit: fit.distance, doc="The same as ``distance``, of Kolmogorov and Smirnov.")
stderr = property(lambda fit: fit.sigma, doc="The same as ``sigma``: standard error of α, with its caveats.")
