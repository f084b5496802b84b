"""Power laws fitted to the upper end of a spectrum, after Clauset, Shalizi and Newman (2009).

If x follows a power law above x_min (the tail in paper 3, Eq. 1), then ln(x / x_min) follows an exponential law with
rate a = α − 1. The module therefore works with gaps d = ln(x / x_min) and rates a. The rate above a given x_min is
estimated in :mod:`capcore.spectra.exponents`; here are the search for the best x_min, and the fits.

Every eigenvalue is a candidate for x_min, and the Kolmogorov–Smirnov distance of its tail takes as many steps as the
tail has entries, so the plain search costs O(M²) for M eigenvalues. Two things make it fast: a single suffix sum gives
all the exponents, and the difference at a few points of a tail is a lower bound on its distance, which rules out most
candidates early. The remaining ones are computed in full, so the result is exactly that of the exhaustive search.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from capcore.checks.arguments import all_of_kind, positive_integer, positive_number
from capcore.results.notebook import Record
from capcore.spectra.exponents import Usable, distribution, fit_tail, mean_gaps, usable

FAILED = float("nan")
_COARSE = np.array([0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0])[:, None]
_FINE = np.linspace(0.0, 1.0, 33)[1:, None]
"""Where tails are looked at for bounds, as shares of their lengths."""
_SLACK = 1e-9  # well above what rounding in the suffix sums does to a distance, well below how distances differ
_BLOCK = 60_000  # entries of the largest temporary array


class Packed(NamedTuple):
    """Several spectra in one array: logarithms (T,), ascending within each; first index and length of each (S,)."""

    logs: np.ndarray
    begins: np.ndarray
    lengths: np.ndarray


def pack(spectra: Sequence[np.ndarray]) -> Packed:
    """Join spectra, given as ascending logarithms (M,), into one :class:`~capcore.spectra.power_law.Packed`."""
    lengths = np.array([len(logs) for logs in spectra])
    return Packed(np.concatenate(spectra), np.cumsum(lengths) - lengths, lengths)


def starts(packed: Packed, min_tail: int = 2) -> np.ndarray:
    """Mark (T,) where a tail may start: at the first of equal values, not at the largest, with ``min_tail`` left."""
    logs, begins, lengths = packed
    rises = np.diff(logs, prepend=-np.inf) != 0
    rises[begins] = True
    allowed = rises & (logs < np.repeat(logs[begins + lengths - 1], lengths))
    return allowed & (np.arange(len(logs)) <= np.repeat(begins + lengths - min_tail, lengths))


def best_tails(packed: Packed, allowed: np.ndarray) -> list[tuple[int, float, float]]:
    """Find the best tail of each spectrum: the index of its first entry, its rate α − 1, and its distance.

    ``allowed`` (T,) : where a tail may start, at least once in each spectrum. Ties go to the smallest x_min.
    """
    which, start = finalists(packed, allowed)
    begins, ends = packed.begins[which] + start, (packed.begins + packed.lengths)[which]
    fits = [fit_tail(packed.logs[begin:end], packed.logs[begin]) for begin, end in zip(begins, ends, strict=True)]
    best = _first_least(np.array([distance for _, distance in fits]), which)
    return [(int(start[i]), *fits[i]) for i in best]


def finalists(packed: Packed, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List, in order, every tail that bounds do not rule out: its spectrum (K,) and the index of its first entry (K,).

    The arguments are those of :func:`~capcore.spectra.power_law.best_tails`.
    """
    logs, begins, lengths = packed
    place, ends = np.flatnonzero(allowed), begins + lengths
    which = np.repeat(np.arange(len(lengths)), lengths)[place]
    rate = 1.0 / np.maximum(mean_gaps(logs, begins, lengths)[place], np.finfo(float).tiny)
    for shares in (_COARSE, _FINE):
        bound = _bounds(logs, place, ends[which] - place, rate, shares)
        guesses = zip(place[_first_least(bound, which)], ends, strict=True)
        least = np.array([fit_tail(logs[begin:end], logs[begin])[1] for begin, end in guesses])
        near = bound <= least[which] + _SLACK
        place, which, rate = place[near], which[near], rate[near]
    return which, place - begins[which]


def _first_least(values: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Index of the smallest value in each group, the first one among ties. A group is a run of equal ``which``."""
    heads = np.flatnonzero(np.diff(which, prepend=-1))
    return np.lexsort((values, which))[heads]


def _bounds(
    logs: np.ndarray, place: np.ndarray, length: np.ndarray, rate: np.ndarray, shares: np.ndarray
) -> np.ndarray:
    """Lower bounds (K,) on the distances of tails, each given by three numbers, from a few entries of each."""
    result = np.empty(len(place))
    step = max(1, _BLOCK // len(shares))
    for begin in range(0, len(result), step):
        part = slice(begin, begin + step)
        ahead = np.minimum((shares * length[part]).astype(np.intp), length[part] - 1)
        model = distribution(logs[place[part] + ahead] - logs[place[part]], rate[part])
        result[part] = np.abs(model - ahead / length[part]).max(axis=0)
    return result


@dataclass(frozen=True)
class PowerLawFit(Record):
    """A power law ρ(λ) ~ λ^(−α) fitted to the eigenvalues from x_min on (paper 3, Eq. 1).

    Attributes
    ----------
    alpha : float
        The exponent α, or NaN if the fit failed.
    x_min : float
        Lower end of the fitted tail.
    distance : float
        Kolmogorov–Smirnov distance between the tail and the law.
    sigma : float
        Standard error (α − 1)/√n_tail that α **would** have if the eigenvalues in the tail were independent and x_min
        were known. In fact eigenvalues repel each other and x_min is chosen from the data, so ``sigma`` may be too
        large or too small: see :func:`~capcore.spectra.inference.bootstrap_power_law`.
    n_tail, n : int
        Number of eigenvalues in the tail, and of all positive ones.
    status : str
        ``"ok"`` or ``"failed"``.
    reason : str
        Why the fit failed, or an empty string.
    """

    alpha: float
    x_min: float
    distance: float
    sigma: float
    n_tail: int
    n: int
    status: str = "ok"
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether the fit succeeded."""
        return self.status == "ok"


def fit_power_law(
    eigenvalues: object, *, x_min: float | None = None, min_tail: int = 2, threshold: float | None = None
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
    return fit_power_laws([eigenvalues], x_min=x_min, min_tail=min_tail, threshold=threshold)[0]


def fit_power_laws(
    spectra: Sequence[object], *, x_min: float | None = None, min_tail: int = 2, threshold: float | None = None
) -> list[PowerLawFit]:
    """Fit a power law to each of several spectra, and return one :class:`~capcore.spectra.power_law.PowerLawFit` each.

    The results are those of :func:`~capcore.spectra.power_law.fit_power_law`. Fitting many spectra together is faster,
    because they share the overhead of one scan.

    Parameters
    ----------
    spectra : sequence of (M,) array_like
        The eigenvalues of each spectrum, non-negative and in any order.
    x_min, threshold : float, optional
        Options of :func:`~capcore.spectra.power_law.fit_power_law`, the same for all spectra.
    min_tail : int
        Likewise.
    """
    all_of_kind(spectra, "spectra", np.ndarray | list, "arrays")
    x_min = None if x_min is None else positive_number(x_min, "x_min", "a positive number or None")
    min_tail = positive_integer(min_tail, "min_tail", minimum=2)
    parts = [usable(spectrum, threshold) for spectrum in spectra]
    fits: list[PowerLawFit | None] = [None] * len(parts)
    searched = []
    for k, part in enumerate(parts):
        if reason := _too_little(part, x_min, min_tail):
            start = FAILED if x_min is None else x_min
            fits[k] = PowerLawFit(FAILED, start, FAILED, FAILED, 0, len(part.logs), "failed", reason)
        elif x_min is None:
            searched.append(k)
        else:
            tail = part.logs[part.values >= x_min]
            fits[k] = _fit(part, len(tail), x_min, *fit_tail(tail, float(np.log(x_min))))
    if searched:
        packed = pack([parts[k].logs for k in searched])
        for k, (start, *fitted) in zip(searched, best_tails(packed, starts(packed, min_tail)), strict=True):
            fits[k] = _fit(parts[k], len(parts[k].logs) - start, float(parts[k].values[start]), *fitted)
    return [fit for fit in fits if fit is not None]


def _too_little(part: Usable, x_min: float | None, min_tail: int) -> str:
    """Why no power law can be fitted, or an empty string if one can."""
    logs = part.logs if x_min is None else part.logs[part.values >= x_min]
    where = "" if x_min is None else f" from x_min = {x_min:.6g} on"
    if len(logs) < min_tail:
        return f"{len(logs)} eigenvalue(s) left{where}, a tail needs {min_tail}"
    if logs[-1] <= (logs[0] if x_min is None else np.log(x_min)):
        return f"all {len(logs)} eigenvalues{where} are equal: too few distinct values"
    return ""


def _fit(part: Usable, n_tail: int, x_min: float, rate: float, distance: float) -> PowerLawFit:
    return PowerLawFit(1.0 + rate, x_min, distance, float(rate / np.sqrt(n_tail)), n_tail, len(part.logs))
