"""The best lower end x_min of power laws, for any number of spectra at once, by an exact pruned scan.

Every eigenvalue is a candidate x_min, and the Kolmogorov–Smirnov distance of its tail costs as many steps as the tail
has entries: O(M²) for M eigenvalues. But all exponents come from one suffix sum, and the distance at a few places of
the tail is a lower bound on the distance, so that most candidates fall without having been computed in full. What is
left is computed in full: the result is that of the exhaustive scan, not an approximation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from capcore.spectra.exponents import distribution, fit_tail, mean_gaps, rates_of_means

_COARSE = np.array([0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0])[:, None]
_FINE = np.linspace(0.0, 1.0, 33)[1:, None]
_SLACK = 1e-9  # more than rounding in the suffix sums can change a distance, far less than distances differ
_BLOCK = 60_000  # entries of the largest temporary array
_FEW = 1_500  # entries per spectrum, in all candidates' tails, that are quicker computed than bounded


class Packed(NamedTuple):
    """Spectra one after another: logarithms (T,), each spectrum ascending; first entry and length of each (S,)."""

    logs: np.ndarray
    begins: np.ndarray
    lengths: np.ndarray


class Tails(NamedTuple):
    """Tails of packed spectra: which spectrum (K,), at which of its entries (K,), rate α − 1 (K,), distance (K,)."""

    which: np.ndarray
    start: np.ndarray
    rate: np.ndarray
    distance: np.ndarray


def pack(spectra: Sequence[np.ndarray]) -> Packed:
    """The spectra's logarithms, each (M,) and ascending, as :class:`~capcore.spectra.scan.Packed`."""
    lengths = np.array([len(logs) for logs in spectra])
    return Packed(np.concatenate(spectra), np.cumsum(lengths) - lengths, lengths)


def starts(packed: Packed, min_tail: int = 2) -> np.ndarray:
    """(T,) where a tail may start: at the first of equal values, below the largest, ``min_tail`` entries to go."""
    logs, begins, lengths = packed
    allowed = logs < np.repeat(logs[begins + lengths - 1], lengths)
    rises = np.ones(len(logs), dtype=bool)
    rises[1:] = logs[1:] != logs[:-1]
    rises[begins] = True
    allowed &= rises
    if min_tail > 2:
        allowed &= np.arange(len(logs)) <= np.repeat(begins + lengths - min_tail, lengths)
    return allowed


def scan(packed: Packed, allowed: np.ndarray, ceiling: float | None = None) -> Tails:
    """The best tail of each spectrum, up to the rounding of the suffix sums: some 1e-14 of the rates.

    ``allowed`` (T,) : where a tail may start; at least one place in each spectrum. ``ceiling`` : logarithm of x_max,
    or None for no upper end. Among equals the smallest x_min.
    """
    found = finalists(packed, allowed, ceiling)
    best = _first_least(found.distance, found.which)
    return Tails(*(column[best] for column in found))


def best_tails(packed: Packed, allowed: np.ndarray, ceiling: float | None = None) -> Tails:
    """The best tail of each spectrum as an exhaustive scan finds it, computed directly.

    As :func:`~capcore.spectra.scan.scan`, but among the starts that come within rounding of a spectrum's least
    distance, the directly computed distance decides.
    """
    found = finalists(packed, allowed, ceiling)
    for k, (which, start) in enumerate(zip(found.which.tolist(), found.start.tolist(), strict=True)):
        begin = packed.begins[which]
        tail = packed.logs[begin + start : begin + packed.lengths[which]]
        found.rate[k], found.distance[k] = fit_tail(tail, tail[0], ceiling)
    best = _first_least(found.distance, found.which)
    return Tails(*(column[best] for column in found))


def finalists(packed: Packed, allowed: np.ndarray, ceiling: float | None = None) -> Tails:
    """Every tail within rounding of its spectrum's least distance, in order.

    Arguments as in :func:`~capcore.spectra.scan.scan`.
    """
    logs, begins, lengths = packed
    place = np.flatnonzero(allowed)
    which = np.repeat(np.arange(len(lengths)), lengths)[place]
    length = begins[which] + lengths[which] - place
    rate = rates_of_means(mean_gaps(logs, begins, lengths)[place], logs[place], ceiling)
    tails = [place, which, length, rate]
    for places in (_COARSE, _FINE):
        if tails[2].sum() <= _FEW * len(lengths):
            break
        bound = _bounds(logs, tails, places, ceiling)
        guess = _first_least(bound, tails[1])
        bar = _distances(logs, [column[guess] for column in tails], ceiling)
        keep = bound <= bar[tails[1]] + _SLACK
        tails = [column[keep] for column in tails]
    distance = _distances(logs, tails, ceiling)
    place, which, _, rate = tails
    keep = distance <= distance[_first_least(distance, which)][which] + _SLACK
    return Tails(which[keep], (place - begins[which])[keep], rate[keep], distance[keep])


def _first_least(values: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Index of the first least value of each group; groups are runs of equal ``which``."""
    if which[0] == which[-1]:
        return np.array([values.argmin()])
    heads = _heads(which)
    least = np.minimum.reduceat(values, heads)
    hits = np.flatnonzero(values == np.repeat(least, np.diff(heads, append=len(values))))
    return hits[_heads(which[hits])]


def _heads(which: np.ndarray) -> np.ndarray:
    """First index of each run of equal values."""
    return np.flatnonzero(np.diff(which, prepend=-1))


def _bounds(logs: np.ndarray, tails: list[np.ndarray], places: np.ndarray, ceiling: float | None) -> np.ndarray:
    """(K,) lower bounds on the distances of tails (place, which, length, rate), from some ``places`` in each."""
    result = np.empty(len(tails[0]))
    step = max(1, _BLOCK // len(places))
    for begin in range(0, len(result), step):
        place, _, length, rate = (column[begin : begin + step] for column in tails)
        ahead = np.minimum((places * length).astype(np.intp), length - 1)
        low = logs[place]
        gaps = logs[place + ahead]
        gaps -= low
        model = distribution(gaps, rate, None if ceiling is None else ceiling - low)
        model -= ahead / length
        result[begin : begin + step] = np.abs(model, out=model).max(axis=0)
    return result


def _distances(logs: np.ndarray, tails: list[np.ndarray], ceiling: float | None) -> np.ndarray:
    """(K,) distances of tails (place, which, length, rate), over all their entries."""
    ends = np.cumsum(tails[2])
    result = np.empty(len(ends))
    begin = done = 0
    while begin < len(ends):
        stop = max(begin + 1, int(np.searchsorted(ends, done + _BLOCK, side="right")))
        place, _, length, rate = (column[begin:stop] for column in tails)
        first = np.cumsum(length) - length
        ahead = np.arange(int(ends[stop - 1]) - done) - np.repeat(first, length)
        low = logs[place]
        gaps = logs[ahead + np.repeat(place, length)]
        gaps -= np.repeat(low, length)
        model = distribution(
            gaps, np.repeat(rate, length), None if ceiling is None else np.repeat(ceiling - low, length)
        )
        model -= ahead / np.repeat(length, length)
        result[begin:stop] = np.maximum.reduceat(np.abs(model, out=model), first)
        begin, done = stop, int(ends[stop - 1])
    return result
