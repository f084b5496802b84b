"""How sure an exponent is: bootstrap intervals that include the choice of x_min, and a test of the fit itself.

Both treat eigenvalues as independent draws, as every published method does, and they are not: eigenvalues of one matrix
repel each other. Of Gaussian weights (64 × 128, from many seeds), the exponent above a *known* x_min scatters by 0.07
where σ says 0.4: eigenvalues are far more evenly spaced than independent numbers of the same density. With x_min
*chosen* it scatters by 2.5 where σ says 0.9: the choice jumps. So σ bounds the scatter on neither side, intervals are
no statement about another training of the network, and a large p-value is weak evidence. What an interval tells is
how far the exponent hangs on few eigenvalues and on the choice of x_min. Compare with spectra of shuffled or random
weights of the same shape (:mod:`capcore.spectra.noise`) before reading anything into an exponent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from capcore.gate import plain_number
from capcore.spectra.power_law import (
    Packed,
    PowerLawFit,
    distribution,
    fit_power_law,
    scan,
    starts,
    truncated_rates,
    usable,
)
from capcore.validation import finite_number, positive_integer

_BLOCK = 200_000  # numbers drawn at a time


@dataclass(frozen=True)
class BootstrapInterval:
    """Percentile interval of the exponent, and every resample's fit.

    Attributes
    ----------
    low, high : float
        Ends of the interval for α.
    confidence : float
        Its nominal coverage.
    alphas, x_mins : (B,) array
        Exponent and x_min of each resample; NaN where a resample could not be fitted.
    n_failed : int
        How many could not.
    """

    low: float
    high: float
    confidence: float
    alphas: np.ndarray
    x_mins: np.ndarray
    n_failed: int


@dataclass(frozen=True)
class GoodnessOfFit:
    """Whether a spectrum is as close to its power law as data drawn from that law are.

    Attributes
    ----------
    p_value : float
        (k + 1)/(n + 1), where k of n simulated spectra are at least as far from their own best law; small values speak
        against the power law. Uniform for a power law only where x_min was given, see
        :func:`~capcore.spectra.inference.goodness_of_fit`.
    distance : float
        Of the data.
    distances : (n,) array
        Of the simulated spectra.
    """

    p_value: float
    distance: float
    distances: np.ndarray


def bootstrap_power_law(
    eigenvalues: object,
    rng: np.random.Generator,
    *,
    n_resamples: int = 200,
    confidence: float = 0.95,
    x_min: float | None = None,
    x_max: float | None = None,
    min_tail: int = 2,
    threshold: float | None = None,
    progress: bool = False,
) -> BootstrapInterval:
    """The :class:`~capcore.spectra.inference.BootstrapInterval` of the exponent of paper 3, Eq. 1, as
    :func:`~capcore.spectra.power_law.fit_power_law` finds it.

    The whole spectrum is drawn anew with replacement, and x_min chosen anew in every resample, so that the interval
    holds the uncertainty of both; σ knows of neither choice. Of independent draws, 300 from a power law (α = 2.5)
    alone or with 300 others below, 95 to 97 of 100 intervals of 95 % held the exponent, and 90 to 93 intervals ± 1.96
    σ did. The module says what that means for eigenvalues.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        Non-negative, in any order.
    rng : Generator
        Source of the resamples.
    n_resamples : int
        How many.
    confidence : float
        Between 0 and 1.
    x_min : float, optional
        Lower end of the tail, instead of the search.
    x_max : float, optional
        Upper end of the law.
    min_tail : int
        Fewest eigenvalues in a tail.
    threshold : float, optional
        Eigenvalues up to it are zero; these four as in :func:`~capcore.spectra.power_law.fit_power_law`.
    progress : bool
        Show a progress bar.

    Raises
    ------
    ValueError
        If the spectrum itself cannot be fitted.

    Examples
    --------
    >>> quantiles = (1 - (np.arange(300) + 0.5) / 300) ** (-1 / 1.5)
    >>> interval = bootstrap_power_law(quantiles, np.random.default_rng(0), n_resamples=100)
    >>> interval.low < 2.5 < interval.high, interval.n_failed
    (True, 0)
    """
    x_min = plain_number(x_min, "x_min")
    x_max = plain_number(x_max, "x_max")
    min_tail = plain_number(min_tail, "min_tail")
    n_resamples = positive_integer(n_resamples, "n_resamples")
    confidence = finite_number(confidence, "confidence")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: found {confidence!r}, expected a number between 0 and 1, such as 0.95.")
    fit = _fitted(fit_power_law(eigenvalues, x_min=x_min, x_max=x_max, min_tail=min_tail, threshold=threshold))
    logs = usable(eigenvalues, threshold, x_max).logs
    floor, ceiling = (None if value is None else float(np.log(value)) for value in (x_min, fit.x_max))
    rates = np.full(n_resamples, np.nan)
    lows = np.full(n_resamples, np.nan)
    for part in _blocks(n_resamples, len(logs), progress, "bootstrap"):
        number = part.stop - part.start
        drawn = logs[np.sort(rng.integers(len(logs), size=(number, len(logs))), axis=1)]
        lows[part], rates[part], _ = refit(drawn, floor, ceiling, min_tail)
    alphas = 1.0 + rates
    good = np.isfinite(alphas)
    tails = 50 * (1 - confidence)
    low, high = np.percentile(alphas[good], [tails, 100 - tails]) if good.any() else (np.nan, np.nan)
    return BootstrapInterval(float(low), float(high), confidence, alphas, np.exp(lows), int((~good).sum()))


def goodness_of_fit(
    eigenvalues: object,
    rng: np.random.Generator,
    *,
    n_simulations: int = 1000,
    x_min: float | None = None,
    x_max: float | None = None,
    min_tail: int = 2,
    threshold: float | None = None,
    progress: bool = False,
) -> GoodnessOfFit:
    """The :class:`~capcore.spectra.inference.GoodnessOfFit` of the power law (Clauset et al. 2009, section 4.1).

    Simulated spectra have as many values as the data: each is, with the share of the tail, a draw from the fitted
    law, and otherwise one of the eigenvalues below x_min. Each is fitted as the data were, x_min included.
    Simulations exactly as far off as the data count as farther, and the data themselves count as one of the
    simulations, so that no p-value is zero.

    If independent draws from a power law without an end are tested and ``x_min`` is given, all p-values 1/(n + 1) … 1
    are equally likely: the test keeps its level exactly. Where x_min is searched for it is conservative: of such
    spectra (60 to 300 values) 0.03 to 0.04 have p ≤ 0.05, 0.06 to 0.08 have p ≤ 0.1, and only 0.36 to 0.41 have
    p ≤ 0.5. The data have been cut where they fit best, and the simulations follow that best fit. So p is then no
    probability, and the mean p of many spectra is above one half even where all of them are power laws.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        Non-negative, in any order.
    rng : Generator
        Source of the simulations.
    n_simulations : int
        How many; 1000 give p to about 0.01.
    x_min : float, optional
        Lower end of the tail, instead of the search.
    x_max : float, optional
        Upper end of the law.
    min_tail : int
        Fewest eigenvalues in a tail.
    threshold : float, optional
        Eigenvalues up to it are zero; these four as in :func:`~capcore.spectra.power_law.fit_power_law`.
    progress : bool
        Show a progress bar.

    Examples
    --------
    >>> quantiles = (1 - (np.arange(200) + 0.5) / 200) ** (-1 / 1.5)
    >>> goodness_of_fit(quantiles, np.random.default_rng(0), n_simulations=99).p_value > 0.9
    True
    """
    x_min = plain_number(x_min, "x_min")
    x_max = plain_number(x_max, "x_max")
    min_tail = plain_number(min_tail, "min_tail")
    n_simulations = positive_integer(n_simulations, "n_simulations")
    fit = _fitted(fit_power_law(eigenvalues, x_min=x_min, x_max=x_max, min_tail=min_tail, threshold=threshold))
    logs = usable(eigenvalues, threshold, x_max).logs
    low = float(np.log(fit.x_min))
    floor, ceiling = (None if value is None else float(np.log(value)) for value in (x_min, fit.x_max))
    body = logs[: fit.n - fit.n_tail]
    distances = np.full(n_simulations, np.nan)
    for part in _blocks(n_simulations, len(logs), progress, "goodness of fit"):
        shape = (part.stop - part.start, len(logs))
        drawn = low + _draw_gaps(rng.random(shape), fit.alpha - 1, None if ceiling is None else ceiling - low)
        if len(body):
            below = rng.random(shape) >= fit.n_tail / fit.n
            drawn[below] = body[rng.integers(len(body), size=int(below.sum()))]
        _, _, distances[part] = refit(np.sort(drawn, axis=1), floor, ceiling, min_tail)
    farther = int(np.count_nonzero(~(distances < fit.distance)))  # also simulations that cannot be fitted
    return GoodnessOfFit((farther + 1) / (n_simulations + 1), fit.distance, distances)


def _fitted(fit: PowerLawFit) -> PowerLawFit:
    if not fit.ok:
        raise ValueError(
            f"eigenvalues: found nothing to fit ({fit.reason}), expected a spectrum that has a power-law fit."
        )
    return fit


def _blocks(total: int, length: int, progress: bool, title: str) -> list[slice]:
    step = max(1, _BLOCK // length)
    parts = [slice(begin, min(begin + step, total)) for begin in range(0, total, step)]
    return tqdm(parts, desc=title, disable=not progress)


def _draw_gaps(uniform: np.ndarray, rate: float, span: float | None) -> np.ndarray:
    """Gaps ln(x / x_min) of a power law at the given probabilities."""
    if span is None:
        return -np.log1p(-uniform) / rate
    if abs(rate * span) < 1e-9:
        return uniform * span
    return -np.log1p(uniform * np.expm1(-rate * span)) / rate


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
