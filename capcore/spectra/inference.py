"""How certain is an exponent? Bootstrap intervals that include the choice of x_min, and a test of the fit itself.

Like every published method, both treat eigenvalues as independent draws. They are not: the eigenvalues of one matrix
repel each other, so they are far more evenly spaced than independent numbers of the same density. For Gaussian weights
(64 × 128, many seeds), the exponent above a *known* x_min scatters by 0.07, whereas σ says 0.4. If x_min is *chosen*
from the data, the exponent scatters by 2.5, whereas σ says 0.9, because the choice jumps from seed to seed. So σ can be
too large or too small, an interval says nothing about training the network again, and a large p-value is weak evidence.
What an interval does show is how strongly the exponent depends on a few eigenvalues and on the choice of x_min.
Compare with the spectra of shuffled or random weights of the same shape (:mod:`capcore.spectra.noise`) before reading
anything into an exponent.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from capcore.checks.arguments import positive_integer
from capcore.results.notebook import Record
from capcore.spectra.exponents import usable
from capcore.spectra.power_law import PowerLawFit, fit_power_law, fit_power_laws

_BLOCK = 200_000  # random numbers drawn at a time
_ENDS = (2.5, 97.5)  # percentiles of the interval


@dataclass(frozen=True)
class BootstrapInterval(Record):
    """A percentile interval for the exponent, of nominal coverage 95 %, and the exponent of every resample.

    Attributes
    ----------
    low, high : float
        Ends of the interval for α.
    alphas : (B,) array
        Exponent of each resample, or NaN if the resample could not be fitted.
    """

    low: float
    high: float
    alphas: np.ndarray


@dataclass(frozen=True)
class GoodnessOfFit(Record):
    """Whether a spectrum is as close to its power law as data drawn from that law would be.

    Attributes
    ----------
    p_value : float
        (k + 1)/(n + 1), where k of n simulated spectra are at least as far from their own best law as the data are from
        theirs. Small values speak against the power law. Under a power law the p-value is uniform only if x_min was
        given: see :func:`~capcore.spectra.inference.goodness_of_fit`.
    distance : float
        Kolmogorov–Smirnov distance of the data.
    distances : (n,) array
        Distances of the simulated spectra.
    """

    p_value: float
    distance: float
    distances: np.ndarray


def bootstrap_power_law(
    eigenvalues: object,
    rng: np.random.Generator,
    *,
    n_resamples: int = 200,
    x_min: float | None = None,
    min_tail: int = 2,
) -> BootstrapInterval:
    """Bootstrap the exponent that :func:`~capcore.spectra.power_law.fit_power_law` finds (paper 3, Eq. 1).

    Every resample draws the whole spectrum with replacement and chooses x_min again. The
    :class:`~capcore.spectra.inference.BootstrapInterval` therefore includes the uncertainty of both steps, which σ
    ignores. This was tested with independent draws: 300 from a power law with α = 2.5, alone or with 300 other values
    below them. The 95 % interval then contained the exponent in 95 to 97 of 100 cases, and the interval ± 1.96 σ in 90
    to 93. See :mod:`capcore.spectra.inference` for what this means for eigenvalues, which are not independent.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The eigenvalues, non-negative and in any order.
    rng : Generator
        Generator of the resamples.
    n_resamples : int
        Number of resamples.
    x_min : float, optional
        Lower end of the tail. By default it is searched for.
    min_tail : int
        Smallest number of eigenvalues allowed in a tail.

    Raises
    ------
    ValueError
        If the spectrum itself cannot be fitted.

    Examples
    --------
    >>> quantiles = (1 - (np.arange(300) + 0.5) / 300) ** (-1 / 1.5)
    >>> interval = bootstrap_power_law(quantiles, np.random.default_rng(0), n_resamples=100)
    >>> interval.low < 2.5 < interval.high
    True
    """
    n_resamples = positive_integer(n_resamples, "n_resamples")
    _, values = _fitted(eigenvalues, x_min, min_tail)
    fits = []
    for number in _blocks(n_resamples, len(values)):
        resamples = values[rng.integers(len(values), size=(number, len(values)))]
        fits += fit_power_laws([*resamples], x_min=x_min, min_tail=min_tail, threshold=0.0)
    alphas = np.array([fit.alpha for fit in fits])
    good = np.isfinite(alphas)
    low, high = np.percentile(alphas[good], _ENDS) if good.any() else (np.nan, np.nan)
    return BootstrapInterval(float(low), float(high), alphas)


def goodness_of_fit(
    eigenvalues: object,
    rng: np.random.Generator,
    *,
    n_simulations: int = 1000,
    x_min: float | None = None,
    min_tail: int = 2,
) -> GoodnessOfFit:
    """Test whether a spectrum is compatible with its power law (Clauset et al. 2009, section 4.1).

    The :class:`~capcore.spectra.inference.GoodnessOfFit` compares the data with simulated spectra of the same size.
    Each simulated value is drawn from the fitted law with a probability equal to the tail's share of the data, and
    otherwise from the eigenvalues below x_min. Every simulation is fitted like the data, including the choice of x_min.
    Ties count against the data, and the data count as one of the simulations, so that no p-value is zero.

    If the data are independent draws from a power law and ``x_min`` is given, then the p-values
    1/(n + 1) … 1 are all equally likely, so the test has exactly its nominal level. If x_min is searched for, the test
    is conservative: for such spectra of 60 to 300 values, a share of 0.03 to 0.04 has p ≤ 0.05, 0.06 to 0.08 has
    p ≤ 0.1, and only 0.36 to 0.41 has p ≤ 0.5. The reason is that the data were cut where they fit best, and the
    simulations follow that best fit. In this case p is not a probability, and its mean over many spectra exceeds one
    half even if all of them are power laws.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The eigenvalues, non-negative and in any order.
    rng : Generator
        Generator of the simulations.
    n_simulations : int
        Number of simulated spectra; with 1000, p is known to about 0.01.
    x_min : float, optional
        Lower end of the tail. By default it is searched for.
    min_tail : int
        Smallest number of eigenvalues allowed in a tail.

    Examples
    --------
    >>> quantiles = (1 - (np.arange(200) + 0.5) / 200) ** (-1 / 1.5)
    >>> goodness_of_fit(quantiles, np.random.default_rng(0), n_simulations=99).p_value > 0.9
    True
    """
    n_simulations = positive_integer(n_simulations, "n_simulations")
    fit, values = _fitted(eigenvalues, x_min, min_tail)
    body = values[: fit.n - fit.n_tail]
    distances = []
    for number in _blocks(n_simulations, fit.n):
        shape = (number, fit.n)
        simulated = fit.x_min * (1 - rng.random(shape)) ** (-1 / (fit.alpha - 1))
        if len(body):
            below = rng.random(shape) >= fit.n_tail / fit.n
            simulated[below] = body[rng.integers(len(body), size=int(below.sum()))]
        fits = fit_power_laws([*simulated], x_min=x_min, min_tail=min_tail, threshold=0.0)
        distances += [fit.distance for fit in fits]
    nearer = int(np.count_nonzero(np.array(distances) < fit.distance))  # NaN, no fit, counts as farther
    return GoodnessOfFit((n_simulations - nearer + 1) / (n_simulations + 1), fit.distance, np.array(distances))


def _fitted(eigenvalues: object, x_min: float | None, min_tail: int) -> tuple[PowerLawFit, np.ndarray]:
    """The fit, and the positive eigenvalues in ascending order."""
    fit = fit_power_law(eigenvalues, x_min=x_min, min_tail=min_tail)
    if not fit.ok:
        raise ValueError(f"eigenvalues: found nothing to fit ({fit.reason}), expected a power-law tail.")
    return fit, usable(eigenvalues).values


def _blocks(total: int, length: int) -> Iterator[int]:
    """Numbers of rows of this length that are drawn together."""
    step = max(1, _BLOCK // length)
    yield from (min(step, total - begin) for begin in range(0, total, step))
