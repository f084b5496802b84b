"""The power-law fit of WeightWatcher 0.7.7, its small-sample branch included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from capcore.spectra.scan import finalists, pack
from capcore.validation import finite_array

THRESHOLD = 1e-5
SMALL = 20
SMALL_TAIL = 8
OVER_TRAINED, UNDER_TRAINED = 2.0, 6.0


@dataclass(frozen=True)
class WeightWatcherFit:
    """The columns of WeightWatcher's ``details`` that come from the fit, under its names.

    ``alpha``, ``xmin``, ``xmax``, ``D``, ``sigma`` : exponent, lower end, largest eigenvalue, Kolmogorov–Smirnov
    distance, standard error. ``num_pl_spikes`` : eigenvalues from ``xmin`` on. ``status`` : ``success`` or
    ``failed``; of a failed fit all numbers are −1, and ``xmax`` is NaN. ``warning`` : ``over-trained`` for α < 2,
    which a failed fit is too, ``under-trained`` for α > 6, or empty.
    """

    alpha: float
    xmin: float
    xmax: float
    D: float
    sigma: float
    num_pl_spikes: int
    status: str
    warning: str


def fit_as_weightwatcher(eigenvalues: object) -> WeightWatcherFit:
    """The :class:`~capcore.spectra.weightwatcher.tail.WeightWatcherFit` of a layer's eigenvalues (M,), in any order.

    Eigenvalues up to 1e-5 are dropped, whatever their scale. From 20 on: the scan of
    :func:`~capcore.spectra.power_law.fit_power_law`, except that the second of two equal eigenvalues may be an x_min
    too, whose tail then lacks the first. Below 20: α = 1 + (n−1)/Σ ln(x_j/x_min) over tails of at least 8. The tool
    chooses among those by D − 0.868/√n first, and then overwrites the choice by the least D; what it reports is the
    latter. Where no tail has 8, it fits all of them and reports σ = −1/√n.

    >>> fit = fit_as_weightwatcher(np.exp([0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4]))
    >>> round(fit.alpha, 3), fit.num_pl_spikes, fit.warning
    (2.25, 8, '')
    """
    return fits_as_weightwatcher([eigenvalues])[0]


def fits_as_weightwatcher(spectra: Sequence[object]) -> list[WeightWatcherFit]:
    """One :class:`~capcore.spectra.weightwatcher.tail.WeightWatcherFit` per layer's eigenvalues, each (M,), as
    :func:`~capcore.spectra.weightwatcher.tail.fit_as_weightwatcher` finds it; all share the overhead of one scan.

    >>> [fit.status for fit in fits_as_weightwatcher([np.ones(4), [0.0, 1.0]])]
    ['success', 'failed']
    """
    values = [np.sort(finite_array(spectrum, "eigenvalues", 1)) for spectrum in spectra]
    kept = [each[each > THRESHOLD] for each in values]
    starts = _standard_starts(kept)
    with np.errstate(divide="ignore", invalid="ignore"):
        return [_fit(*each) for each in zip(values, kept, starts, strict=True)]


def _standard_starts(kept: Sequence[np.ndarray]) -> list[list[int]]:
    """The few tails of each spectrum that the pruned scan leaves, by where they start; none for small samples."""
    chosen = [i for i, each in enumerate(kept) if len(each) >= SMALL]
    result: list[list[int]] = [[] for _ in kept]
    if chosen:
        packed = pack([np.log(kept[i]) for i in chosen])
        allowed = np.ones(len(packed.logs), dtype=bool)
        allowed[packed.begins + packed.lengths - 1] = False
        found = finalists(packed, allowed)
        for which, start in zip(found.which.tolist(), found.start.tolist(), strict=True):
            result[chosen[which]].append(start)
    return result


def _fit(values: np.ndarray, kept: np.ndarray, starts: list[int]) -> WeightWatcherFit:
    if len(kept) < 2:
        return WeightWatcherFit(-1.0, -1.0, np.nan, -1.0, -1.0, -1, "failed", "over-trained")
    start, alpha, distance, sigma = _small(kept) if len(kept) < SMALL else _standard(kept, starts)
    xmin = float(kept[start])
    warning = "over-trained" if alpha < OVER_TRAINED else "under-trained" if alpha > UNDER_TRAINED else ""
    spikes = int(np.count_nonzero(values >= xmin))
    return WeightWatcherFit(alpha, xmin, float(kept[-1]), distance, sigma, spikes, "success", warning)


def _standard(kept: np.ndarray, starts: list[int]) -> tuple[int, float, float, float]:
    """Start, α, D and σ; the tool's own arithmetic for the tails from ``starts``."""
    logs = np.log(kept)
    best = (0, 0.0, np.inf)
    for i in starts:
        number = float(len(kept) - i)
        alpha = 1 + number / (np.sum(logs[i:]) - number * logs[i])
        distance = _distance(kept[i:], alpha) if alpha > 1 else 1.0
        if distance < best[2]:
            best = (i, float(alpha), distance)
    return *best, (best[1] - 1) / np.sqrt(len(kept) - best[0])


def _small(kept: np.ndarray) -> tuple[int, float, float, float]:
    total = len(kept)
    logs = np.log(kept)
    best = (0, 0.0, 1.0)
    tried = False
    for i in range(total - SMALL_TAIL + 1):
        number = float(total - i)
        spread = np.sum(logs[i:]) - number * logs[i]
        if spread <= 1e-12:
            continue
        tried = True
        alpha = 1.0 + (number - 1.0) / spread
        distance = _distance(kept[i:], alpha)
        if distance < best[2] or (i == 0 and distance == best[2]):
            best = (i, float(alpha), distance)
    if tried:
        return *best, (best[1] - 1.0) / np.sqrt(total - best[0])
    spread = np.sum(logs) - total * logs[0]
    if spread > 1e-12:
        alpha = 1.0 + (total - 1.0) / spread
        best = (0, float(alpha), _distance(kept, alpha))
    return *best, -1.0 / np.sqrt(total)


def _distance(tail: np.ndarray, alpha: float) -> float:
    number = float(len(tail))
    return float(np.max(np.abs(1 - (tail / tail[0]) ** (-alpha + 1) - np.arange(number) / number)))
