"""Power laws for a batch of resampled or simulated spectra of one length."""

from __future__ import annotations

import numpy as np

from capcore.spectra.exponents import distribution, truncated_rates
from capcore.spectra.scan import Packed, scan, starts


def refit(
    logs: np.ndarray, floor: float | None, ceiling: float | None, min_tail: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logarithm of x_min (B,), rate α − 1 (B,) and distance (B,) of each row of ``logs`` (B, M), ascending.

    ``floor`` : logarithm of a fixed x_min, or None to look for the best one in each row. ``ceiling`` : logarithm of
    x_max or None. NaN where a row has no fit.
    """
    if floor is not None:
        return (np.full(len(logs), floor), *_fixed(logs, floor, ceiling, min_tail))
    low, rate, distance = (np.full(len(logs), np.nan) for _ in range(3))
    allowed = starts(_rows(logs), min_tail).reshape(logs.shape)
    rows = np.flatnonzero(allowed.any(axis=1))
    if len(rows):
        found = scan(_rows(logs[rows]), allowed[rows].ravel(), ceiling)
        low[rows], rate[rows], distance[rows] = logs[rows, found.start], found.rate, found.distance
    return low, rate, distance


def _rows(logs: np.ndarray) -> Packed:
    rows, number = logs.shape
    return Packed(logs.ravel(), np.arange(rows) * number, np.full(rows, number))


def _fixed(logs: np.ndarray, floor: float, ceiling: float | None, min_tail: int) -> tuple[np.ndarray, np.ndarray]:
    """Rates (B,) and distances (B,) of the tails from ``floor`` on."""
    inside = logs >= floor
    number = inside.sum(axis=1)
    gaps = np.where(inside, logs - floor, 0.0)
    span = np.inf if ceiling is None else ceiling - floor
    mean = gaps.sum(axis=1) / np.maximum(number, 1)
    good = (number >= min_tail) & (mean > 0) & (mean < span)
    safe = np.where(good, mean, min(span, 2.0) / 2)
    rate = 1.0 / safe if ceiling is None else truncated_rates(safe, np.full(len(safe), span))
    model = distribution(gaps, rate[:, None], None if ceiling is None else np.full((len(logs), 1), span))
    place = (np.cumsum(inside, axis=1) - 1) / np.maximum(number, 1)[:, None]
    distance = np.where(inside, np.abs(model - place), 0.0).max(axis=1)
    return np.where(good, rate, np.nan), np.where(good, distance, np.nan)
