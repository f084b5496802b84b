"""Power laws fitted to the upper end of a spectrum, after Clauset, Shalizi and Newman (2009).

If x follows a power law on [x_min, x_max] (the tail in paper 3, Eq. 1), then ln(x / x_min) follows an exponential law
on [0, ln(x_max / x_min)] with rate a = α − 1. The module therefore works with gaps d = ln(x / x_min) and rates a. The
rate above a given x_min is estimated in :mod:`capcore.spectra.exponents`; here are the search for the best x_min, and
the fits.

Every eigenvalue is a candidate for x_min, and the Kolmogorov–Smirnov distance of its tail takes as many steps as the
tail has entries, so the plain search costs O(M²) for M eigenvalues. Two things make it fast: a single suffix sum gives
all the exponents, and the difference at a few points of a tail is a lower bound on its distance, which rules out most
candidates early. The remaining ones are computed in full, so the result is exactly that of the exhaustive search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from capcore.checks.arguments import all_of_kind, finite_number, positive_integer
from capcore.results.notebook import Record
from capcore.spectra.exponents import Usable, distribution, fit_tail, mean_gaps, rates_of_means, truncated_error, usable

FAILED = float("nan")
Limit: TypeAlias = float | None
"""An end of the tail, in the units of the eigenvalues, or None."""
_COARSE = np.array([0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0])[:, None]
_FINE = np.linspace(0.0, 1.0, 33)[1:, None]
_SLACK = 1e-9  # well above what rounding in the suffix sums does to a distance, well below how distances differ
_BLOCK = 60_000  # entries of the largest temporary array
_FEW = 1_500  # with so few entries per spectrum in all candidates' tails, computing is quicker than bounding


class Packed(NamedTuple):
    """Several spectra in one array: logarithms (T,), ascending within each; first index and length of each (S,)."""

    logs: np.ndarray
    begins: np.ndarray
    lengths: np.ndarray


class Tails(NamedTuple):
    """Tails of packed spectra, each field (K,): spectrum, index of the first entry in it, rate α − 1, and distance."""

    which: np.ndarray
    start: np.ndarray
    rate: np.ndarray
    distance: np.ndarray


def pack(spectra: Sequence[np.ndarray]) -> Packed:
    """Join spectra, given as ascending logarithms (M,), into one :class:`~capcore.spectra.power_law.Packed`."""
    lengths = np.array([len(logs) for logs in spectra])
    return Packed(np.concatenate(spectra), np.cumsum(lengths) - lengths, lengths)


def starts(packed: Packed, min_tail: int = 2) -> np.ndarray:
    """Mark (T,) where a tail may start: at the first of equal values, not at the largest, with ``min_tail`` left."""
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
    """Find the best tail of each spectrum, up to rounding in the suffix sums, which changes rates by about 1e-14.

    ``allowed`` (T,) : where a tail may start, at least once in each spectrum. ``ceiling`` : ln x_max, or None if the
    law has no upper end. Ties go to the smallest x_min.
    """
    found = finalists(packed, allowed, ceiling)
    best = _first_least(found.distance, found.which)
    return Tails(*(column[best] for column in found))


def best_tails(packed: Packed, allowed: np.ndarray, ceiling: float | None = None) -> Tails:
    """Find the best tail of each spectrum exactly as an exhaustive scan would.

    :func:`~capcore.spectra.power_law.scan` may confuse tails whose distances differ by less than rounding, so here the
    distances of all tails that close to the smallest are computed again, directly.
    """
    found = finalists(packed, allowed, ceiling)
    for k, (which, start) in enumerate(zip(found.which.tolist(), found.start.tolist(), strict=True)):
        begin = packed.begins[which]
        tail = packed.logs[begin + start : begin + packed.lengths[which]]
        found.rate[k], found.distance[k] = fit_tail(tail, tail[0], ceiling)
    best = _first_least(found.distance, found.which)
    return Tails(*(column[best] for column in found))


def finalists(packed: Packed, allowed: np.ndarray, ceiling: float | None = None) -> Tails:
    """List, in order, every tail whose distance is within rounding of the smallest in its spectrum.

    The arguments are those of :func:`~capcore.spectra.power_law.scan`.
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
    """Index of the smallest value in each group, the first one among ties. A group is a run of equal ``which``."""
    if which[0] == which[-1]:
        return np.array([values.argmin()])
    heads = _heads(which)
    least = np.minimum.reduceat(values, heads)
    hits = np.flatnonzero(values == np.repeat(least, np.diff(heads, append=len(values))))
    return hits[_heads(which[hits])]


def _heads(which: np.ndarray) -> np.ndarray:
    """Index at which each run of equal values begins."""
    return np.flatnonzero(np.diff(which, prepend=-1))


def _bounds(logs: np.ndarray, tails: list[np.ndarray], places: np.ndarray, ceiling: float | None) -> np.ndarray:
    """Lower bounds (K,) on the distances of ``tails`` (place, which, length, rate), from a few ``places`` in each."""
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
    """Distances (K,) of ``tails`` (place, which, length, rate), over all their entries."""
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


@dataclass(frozen=True)
class PowerLawFit(Record):
    """A power law ρ(λ) ~ λ^(−α) fitted to the eigenvalues in [x_min, x_max] (paper 3, Eq. 1).

    Attributes
    ----------
    alpha : float
        The exponent α, or NaN if the fit failed.
    x_min : float
        Lower end of the fitted tail.
    x_max : float or None
        Upper end of the law, or None if it has no upper end.
    distance : float
        Kolmogorov–Smirnov distance between the tail and the law.
    sigma : float
        Standard error that α **would** have if the eigenvalues in the tail were independent and x_min were known:
        (α − 1)/√n_tail without an x_max. In fact eigenvalues repel each other and x_min is chosen from the data, so
        ``sigma`` may be too large or too small: see :func:`~capcore.spectra.inference.bootstrap_power_law`.
    n_tail, n : int
        Number of eigenvalues in the tail, and of all eigenvalues used.
    n_zero, n_above : int
        Number of eigenvalues that were dropped as zero up to rounding, or as larger than x_max.
    status : str
        ``"ok"`` or ``"failed"``.
    reason : str
        Why the fit failed, or an empty string.
    """

    alpha: float
    x_min: float
    x_max: float | None
    distance: float
    sigma: float
    n_tail: int
    n: int
    n_zero: int
    n_above: int
    status: str
    reason: str

    @property
    def ok(self) -> bool:
        """Whether the fit succeeded."""
        return self.status == "ok"


def fit_power_law(
    eigenvalues: object, *, x_min: Limit = None, x_max: Limit = None, min_tail: int = 2, threshold: Limit = None
) -> PowerLawFit:
    """Fit a power law to the upper tail of a spectrum, and return its :class:`~capcore.spectra.power_law.PowerLawFit`.

    The exponent is α of paper 3, Eq. 1. Each candidate x_min gives the maximum-likelihood exponent
    α = 1 + n/Σ ln(x_j/x_min); the method then picks the x_min whose tail is closest to its law, measured by
    D = max_j ‖1 − (x_j/x_min)^(1−α) − j/n‖ over j = 0 … n−1 (Clauset et al., Eqs 3.1 and 3.9). Ties go to the smallest
    x_min. The search is exact although most candidates are ruled out early: see :mod:`capcore.spectra.power_law`.

    Too few eigenvalues do not raise an error. The numbers are then NaN, and ``status`` and ``reason`` say why.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The eigenvalues, non-negative and in any order.
    x_min : float, optional
        Lower end of the tail. By default it is searched for.
    x_max : float, optional
        Upper end of the law. Larger eigenvalues are left out, and the likelihood accounts for the law ending there.
        The reference tools do not correct the likelihood: they keep the formula above.
    min_tail : int
        Smallest number of eigenvalues allowed in a tail; the published method uses 2.
    threshold : float, optional
        Eigenvalues up to this value count as zero; see :func:`~capcore.spectra.exponents.usable`.

    Raises
    ------
    ValueError
        If eigenvalues are negative, boolean or not finite, or if the options make no sense.

    Examples
    --------
    >>> quantiles = (1 - (np.arange(200) + 0.5) / 200) ** (-1 / 1.5)  # of a power law with α = 2.5
    >>> fit = fit_power_law(quantiles, x_min=1.0)
    >>> round(fit.alpha, 2), round(fit.sigma, 2), fit.n_tail
    (2.5, 0.11, 200)
    """
    return fit_power_laws([eigenvalues], x_min=x_min, x_max=x_max, min_tail=min_tail, threshold=threshold)[0]


def fit_power_laws(
    spectra: Sequence[object], *, x_min: Limit = None, x_max: Limit = None, min_tail: int = 2, threshold: Limit = None
) -> list[PowerLawFit]:
    """Fit a power law to each of several spectra, and return one :class:`~capcore.spectra.power_law.PowerLawFit` each.

    The results are those of :func:`~capcore.spectra.power_law.fit_power_law`. Fitting many spectra together is faster,
    because they share the overhead of one scan.

    Parameters
    ----------
    spectra : sequence of (M,) array_like
        The eigenvalues of each spectrum, non-negative and in any order.
    x_min, x_max, threshold : float, optional
        Options of :func:`~capcore.spectra.power_law.fit_power_law`, the same for all spectra.
    min_tail : int
        Likewise.
    """
    all_of_kind(spectra, "spectra", np.ndarray | list, "arrays")
    low, high = check_ends(x_min, x_max)
    min_tail = positive_integer(min_tail, "min_tail", minimum=2)
    parts = [usable(spectrum, threshold, high) for spectrum in spectra]
    fits: list[PowerLawFit | None] = [None] * len(parts)
    searched: list[int] = []
    for k, part in enumerate(parts):
        problem = _problem(part, low, high, min_tail)
        if problem:
            fits[k] = _failed(part, low, high, problem)
        elif low is not None:
            fits[k] = _fixed(part, low, high)
        else:
            searched.append(k)
    if searched:
        packed = pack([parts[k].logs for k in searched])
        tails = best_tails(packed, starts(packed, min_tail), None if high is None else float(np.log(high)))
        found = (column.tolist() for column in (tails.start, tails.rate, tails.distance))
        for k, start, rate, distance in zip(searched, *found, strict=True):
            fits[k] = _fit(parts[k], start, float(parts[k].values[start]), high, rate, distance)
    return [fit for fit in fits if fit is not None]


def check_ends(x_min: Limit, x_max: Limit) -> tuple[Limit, Limit]:
    """Return the two ends as floats, after checking that they are positive and in order."""
    low, high = (
        None if value is None else finite_number(value, name, "a positive number or None")
        for value, name in ((x_min, "x_min"), (x_max, "x_max"))
    )
    for value, name in ((low, "x_min"), (high, "x_max")):
        if value is not None and value <= 0:
            raise ValueError(
                f"{name}: found {value!r}, expected a positive number: a power law has no logarithm at zero."
            )
    if low is not None and high is not None and low >= high:
        raise ValueError(f"x_min, x_max: found {low!r} and {high!r}, expected x_min below x_max.")
    return low, high


def _problem(part: Usable, low: Limit, high: Limit, min_tail: int) -> str:
    """Why no power law can be fitted, or an empty string if one can."""
    logs = part.logs if low is None else part.logs[part.values >= low]
    where = "" if low is None else f" from x_min = {low:.6g} on"
    if len(logs) < min_tail:
        return f"{len(logs)} eigenvalue(s) left{where}, a tail needs {min_tail}"
    if low is None and logs[len(logs) - min_tail] >= logs[-1] and not starts(pack([logs]), min_tail).any():
        return f"no {min_tail} of the {len(logs)} eigenvalues are followed by a larger one: too few distinct values"
    if low is not None and logs[-1] <= np.log(low):
        return f"all {len(logs)} eigenvalues{where} equal x_min: too few distinct values"
    if low is not None and high is not None and logs[0] >= np.log(high):
        return f"all {len(logs)} eigenvalues{where} equal x_max: too few distinct values"
    return ""


def _failed(part: Usable, low: Limit, high: Limit, reason: str) -> PowerLawFit:
    x_min = FAILED if low is None else low
    counts = (0, len(part.logs), part.n_zero, part.n_above)
    return PowerLawFit(FAILED, x_min, high, FAILED, FAILED, *counts, "failed", reason)


def _fixed(part: Usable, low: float, high: float | None) -> PowerLawFit:
    start = int(np.searchsorted(part.values, low))
    ceiling = None if high is None else float(np.log(high))
    return _fit(part, start, low, high, *fit_tail(part.logs[start:], float(np.log(low)), ceiling))


def _fit(part: Usable, start: int, low: float, high: float | None, rate: float, distance: float) -> PowerLawFit:
    number = len(part.logs) - start
    sigma = rate / np.sqrt(number) if high is None else truncated_error(rate, float(np.log(high / low)), number)
    counts = (number, len(part.logs), part.n_zero, part.n_above)
    return PowerLawFit(1.0 + float(rate), low, high, float(distance), float(sigma), *counts, "ok", "")
