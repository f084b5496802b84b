"""Maximum-likelihood exponents of power-law tails, with and without an upper end.

The logarithm of a power law on [x_min, x_max] is an exponential law on [0, ln(x_max / x_min)] with the rate a = α −
1, so everything here is about gaps d = ln(x / x_min) and rates a.
"""

from __future__ import annotations

import numpy as np


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
