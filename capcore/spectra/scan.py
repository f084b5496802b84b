"""The best lower end x_min of a power law, for many spectra of one length at once, by an exact pruned scan.

Every eigenvalue is a candidate x_min, and the Kolmogorov–Smirnov distance of its tail costs as many steps as the tail
has entries: O(M²) for M eigenvalues. But all exponents come from one suffix sum, and the distance at a few
places of the tail is a lower bound on the distance, so that most candidates fall without having been computed in full.
What is left is computed in full: the result is that of the exhaustive scan, not an approximation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from capcore.spectra.exponents import distribution, fit_tail, tail_rates

_COARSE = np.array([0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0])
_FINE = np.linspace(0.0, 1.0, 33)[1:]
_SLACK = 1e-9  # more than rounding in the suffix sums can change a distance, far less than distances differ
_BLOCK = 60_000  # entries of the largest temporary array


class Tails(NamedTuple):
    """One tail per row of a batch: where it starts (B,), its rate α − 1 (B,), its distance (B,)."""

    start: np.ndarray
    rate: np.ndarray
    distance: np.ndarray


def starts(logs: np.ndarray, min_tail: int = 2) -> np.ndarray:
    """(B, M) where a tail may start: at the first of equal values, below the largest, ``min_tail`` entries to go."""
    allowed = logs < logs[:, -1:]
    allowed[:, 1:] &= logs[:, 1:] > logs[:, :-1]
    if min_tail > 2:
        allowed[:, max(0, logs.shape[1] - min_tail + 1) :] = False
    return allowed


def scan(logs: np.ndarray, allowed: np.ndarray, ceiling: float | None = None) -> Tails:
    """The best tail of each row, up to the rounding of the suffix sums: some 1e-14 of the rates.

    ``logs`` (B, M) : logarithms, each row ascending. ``allowed`` (B, M) : where a tail may start; at least one place in
    each row. ``ceiling`` : logarithm of x_max, or None for no upper end.
    """
    rates = tail_rates(logs, allowed, ceiling)
    which, start, distance = finalists(logs, rates, allowed, ceiling)
    order = np.lexsort((start, distance, which))  # by row, then distance, then the smaller x_min
    best = order[np.searchsorted(which[order], np.arange(len(logs)))]
    return Tails(start[best], rates[which[best], start[best]], distance[best])


def best_tails(logs: np.ndarray, allowed: np.ndarray, ceiling: float | None = None) -> Tails:
    """The best tail of each row as an exhaustive scan finds it, computed directly.

    As :func:`scan`, but among the starts that come within rounding of a row's least distance, the directly computed
    distance decides, and among equals the smallest x_min.
    """
    rates = tail_rates(logs, allowed, ceiling)
    which, start, _ = finalists(logs, rates, allowed, ceiling)
    best: list[tuple[float, float, float]] = [(0, 0.0, np.inf)] * len(logs)
    for row, i in zip(which.tolist(), start.tolist(), strict=True):
        rate, distance = fit_tail(logs[row, i:], logs[row, i], ceiling)
        if distance < best[row][2]:
            best[row] = (i, rate, distance)
    found, rate_of, distance_of = (np.array(column) for column in zip(*best, strict=True))
    return Tails(found, rate_of, distance_of)


def finalists(
    logs: np.ndarray, rates: np.ndarray, allowed: np.ndarray, ceiling: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows (K,), starts (K,) and distances (K,) of every tail within rounding of its row's least distance; ordered."""
    bounds = np.empty(logs.shape)
    step = max(1, _BLOCK // (logs.shape[1] * len(_COARSE)))
    for begin in range(0, len(logs), step):
        part = slice(begin, begin + step)
        bounds[part] = _bounds_everywhere(logs[part], rates[part], ceiling)
    bounds[~allowed] = np.inf
    guess = bounds.argmin(axis=1)
    bar = _distances(logs, rates, np.arange(len(logs)), guess, ceiling) + _SLACK
    which, start = np.nonzero(bounds <= bar[:, None])
    if len(which) > 8 * len(logs):
        bounds = _bounds(logs, rates, which, start, ceiling)
        order = np.lexsort((bounds, which))
        guess = start[order[np.searchsorted(which[order], np.arange(len(logs)))]]
        bar = np.minimum(bar, _distances(logs, rates, np.arange(len(logs)), guess, ceiling) + _SLACK)
        keep = bounds <= bar[which]
        which, start = which[keep], start[keep]
    distance = _distances(logs, rates, which, start, ceiling)
    least = np.full(len(logs), np.inf)
    np.minimum.at(least, which, distance)
    keep = distance <= least[which] + _SLACK
    return which[keep], start[keep], distance[keep]


def _bounds_everywhere(logs: np.ndarray, rates: np.ndarray, ceiling: float | None) -> np.ndarray:
    """(B, M) lower bounds on the distances of all tails, from a few places in each."""
    start = np.arange(logs.shape[1])
    length = len(start) - start
    ahead = np.minimum((_COARSE[:, None] * length).astype(int), length - 1)  # (P, M)
    gaps = logs[:, start + ahead] - logs[:, None, :]
    model = distribution(gaps, rates[:, None, :], None if ceiling is None else ceiling - logs[:, None, :])
    model -= ahead / length
    return np.abs(model, out=model).max(axis=1)


def _bounds(
    logs: np.ndarray, rates: np.ndarray, which: np.ndarray, start: np.ndarray, ceiling: float | None
) -> np.ndarray:
    """(K,) lower bounds for the tails of rows ``which`` that begin at ``start``, from more places."""
    result = np.empty(len(start))
    step = max(1, _BLOCK // len(_FINE))
    for begin in range(0, len(start), step):
        part = slice(begin, begin + step)
        row, i = which[part], start[part]
        length = (logs.shape[1] - i)[:, None]
        ahead = np.minimum((_FINE * length).astype(int), length - 1)
        low = logs[row, i][:, None]
        gaps = logs[row[:, None], i[:, None] + ahead] - low
        model = distribution(gaps, rates[row, i][:, None], None if ceiling is None else ceiling - low)
        model -= ahead / length
        result[part] = np.abs(model, out=model).max(axis=1)
    return result


def _distances(
    logs: np.ndarray, rates: np.ndarray, which: np.ndarray, start: np.ndarray, ceiling: float | None
) -> np.ndarray:
    """(K,) distances of the tails of rows ``which`` that begin at ``start``, over all their entries."""
    flat, m = logs.ravel(), logs.shape[1]
    length = m - start
    ends = np.cumsum(length)
    result = np.empty(len(start))
    begin = 0
    while begin < len(start):
        done = int(ends[begin - 1]) if begin else 0
        stop = max(begin + 1, int(np.searchsorted(ends, done + _BLOCK, side="right")))
        part = slice(begin, stop)
        n = length[part]
        first = ends[part] - n - done
        ahead = np.arange(int(ends[stop - 1]) - done) - np.repeat(first, n)
        low, rate = logs[which[part], start[part]], rates[which[part], start[part]]
        gaps = flat[np.repeat(which[part] * m + start[part], n) + ahead] - np.repeat(low, n)
        model = distribution(gaps, np.repeat(rate, n), None if ceiling is None else np.repeat(ceiling - low, n))
        model -= ahead / np.repeat(n, n)
        result[part] = np.maximum.reduceat(np.abs(model, out=model), first)
        begin = stop
    return result
