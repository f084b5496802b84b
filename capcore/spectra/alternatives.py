"""Is another law a better description of the tail than a power law? Likelihood ratios on the same eigenvalues.

Laws that a tail x ≥ x_min may follow, fitted by maximum likelihood and normalised on that tail.

All work on gaps y = ln(x / x_min) ≥ 0 and z = x / x_min ≥ 1, so that no scale of the eigenvalues over- or underflows.
Every function returns a :class:`~capcore.spectra.alternatives.TailModel`; its likelihoods are densities in x, and can
be compared.

The power law with an exponential cut-off needs ∫₁^∞ z^(−α) e^(−u(z−1)) dz for any real α; SciPy has this integral,
e^u E_α(u), for whole α only. With z = e^y it is the integral of exp(−s y − u q(y)), where s = α − 1 + u and
q(y) = e^y − 1 − y, so that two terms are left which are not nearly equal where all y are small. Its exponent is concave
in y: Gauss–Legendre nodes where the integrand matters give it, and the moments of y and q that Newton's method needs,
to near double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # whose submodules take longer to load than most networks to be analysed: each where it is used

from capcore.gate import all_of_kind, of_kind
from capcore.spectra.power_law import PowerLawFit, usable
from capcore.validation import finite_number, one_of

_NODES, _WEIGHTS = (part / 2 for part in np.polynomial.legendre.leggauss(160))
_NODES += 0.5
_DEPTH = 45.0  # e-folds below the peak at which the integrand is nothing
_SERIES = np.array([1 / math.factorial(k) for k in range(17, 1, -1)])  # of q(y) / y², for y up to 1/2
_STEPS = 100  # of Newton's method, which needs six of them on spectra
_LEAST_SPREAD = 1e-4  # of gaps, in units of their mean


@dataclass(frozen=True)
class TailModel:
    """A law fitted to a tail.

    Attributes
    ----------
    name : str
        Of the law.
    parameters : dict
        By name, in units of the eigenvalues.
    log_likelihoods : (n,) array
        Logarithm of the density at each eigenvalue of the tail, in the order given.
    limit : str
        The law of which the fit is a limit, because the likelihood rises towards it without end; empty if the maximum
        is in the interior.
    """

    name: str
    parameters: dict[str, float]
    log_likelihoods: np.ndarray
    limit: str = ""

    @property
    def log_likelihood(self) -> float:
        """Their sum."""
        return float(self.log_likelihoods.sum())


def power_law_model(values: np.ndarray, x_min: float) -> TailModel:
    """Density (α−1)/x_min · (x/x_min)^(−α): paper 3, Eq. 1, normalised.

    >>> round(power_law_model(np.array([1.0, np.e**2]), 1.0).parameters["alpha"], 12)
    2.0
    """
    gaps = np.log(values / x_min)
    rate = 1.0 / gaps.mean()
    return TailModel("power law", {"alpha": 1.0 + float(rate)}, np.log(rate / x_min) - (rate + 1.0) * gaps)


def exponential_model(values: np.ndarray, x_min: float) -> TailModel:
    """Density Λ exp(−Λ(x − x_min)).

    >>> exponential_model(np.array([1.0, 2.0, 3.0]), 1.0).parameters
    {'rate': 1.0}
    """
    excess = values - x_min
    rate = 1.0 / excess.mean()
    return TailModel("exponential", {"rate": float(rate)}, np.log(rate) - rate * excess)


def lognormal_model(values: np.ndarray, x_min: float) -> TailModel:
    """Density of a lognormal law with parameters μ, σ that is cut off below x_min.

    The logarithms follow a truncated normal law, an exponential family: its likelihood is largest where mean and
    variance of the gaps are the sample's. If their coefficient of variation is 1 or more there is no such place (del
    Castillo 1994), and the law runs towards μ → −∞, σ → ∞ with −μ/σ² fixed, which is the power law.

    >>> gaps = np.abs(np.random.default_rng(0).standard_normal(4000))  # half of a normal law: μ = 0, σ = 1
    >>> fit = lognormal_model(np.exp(gaps), 1.0)
    >>> {name: round(value, 1) for name, value in fit.parameters.items()}
    {'mu': 0.1, 'sigma': 0.9}
    """
    gaps = np.log(values / x_min)
    mean, variance = gaps.mean(), gaps.var()
    share = variance / mean**2
    if share >= 1 - 1e-9:
        limit = power_law_model(values, x_min)
        return TailModel("lognormal", {"mu": -np.inf, "sigma": np.inf}, limit.log_likelihoods, "power law")
    cut = scipy.optimize.brentq(
        lambda xi: _truncated_normal(xi)[1] - share, -1e6, 1e6, xtol=1e-14, rtol=1e-14, maxiter=500
    )
    sigma = mean / _truncated_normal(cut)[0]
    standard = gaps / sigma
    if cut > 0:  # the factor exp(−ξ²/2) that numerator and normalisation share is left out of both
        density = -standard * (standard / 2 + cut) - np.log(scipy.special.erfcx(cut / np.sqrt(2)) / 2)
    else:
        density = -0.5 * (standard + cut) ** 2 - scipy.special.log_ndtr(-cut)
    density += -np.log(sigma) - 0.5 * np.log(2 * np.pi) - np.log(values)
    return TailModel("lognormal", {"mu": float(np.log(x_min) - sigma * cut), "sigma": float(sigma)}, density)


def cutoff_model(values: np.ndarray, x_min: float) -> TailModel:
    """Density ∝ x^(−α) exp(−Λx), Λ ≥ 0: a power law with an exponential cut-off ("truncated power law").

    The power law is the case Λ = 0, the exponential α = 0. α may take any sign.

    >>> fit = cutoff_model(1.0 + np.random.default_rng(0).exponential(size=4000), 1.0)
    >>> bool(abs(fit.parameters["alpha"]) < 0.3), bool(abs(fit.parameters["rate"] - 1) < 0.2)
    (True, True)
    """
    ratios = values / x_min
    gaps = np.log(ratios)
    alpha, rate, log_norm = fit_cutoff(gaps, ratios)
    if rate == 0.0:
        limit = power_law_model(values, x_min)
        return TailModel("truncated power law", {**limit.parameters, "rate": 0.0}, limit.log_likelihoods, "power law")
    density = -alpha * gaps - rate * (ratios - 1.0) - log_norm - np.log(x_min)
    return TailModel("truncated power law", {"alpha": alpha, "rate": rate / x_min}, density)


def _truncated_normal(cut: float) -> tuple[float, float]:
    """Of a standard normal law above ``cut``: mean of the excess over it, and the variance over that mean squared."""
    if cut > 30.0:  # Mills' ratio, asymptotically: differences of nearly equal numbers otherwise
        r = cut**-2
        mean = (1 - r * (2 - r * (10 - r * (74 - 706 * r)))) / cut
        share = (1 - r * (6 - r * (50 - 518 * r))) * r
        return mean, share / mean**2
    hazard = np.sqrt(2 / np.pi) / scipy.special.erfcx(cut / np.sqrt(2)) if cut > -30 else 0.0
    mean = hazard - cut
    return float(mean), float((1 - hazard * mean) / mean**2)


@dataclass(frozen=True)
class _Moments:
    """Of the normalised integrand: its integral's logarithm, means of y and v = u·q(y), the variance of y, the slope
    of v on y, and the variance of v that is left about this line.
    """

    log_norm: float
    gap: float
    cut: float
    variance: float
    tilt: float
    rest: float


def fit_cutoff(gaps: np.ndarray, ratios: np.ndarray) -> tuple[float, float, float]:
    """α, u and the normalisation's logarithm that are most likely for ``ratios`` (n,) = exp(``gaps``) (n,); u = 0 for
    a pure power law.

    The negative log-likelihood is convex in (α, u), and Newton's steps are cut short where they would leave u > 0.
    Where its slope at the pure power law points to u < 0, u is 0. Of gaps that are all the same the likelihood rises
    without end; they are fitted as if they had a spread of 10⁻⁴ of their mean.
    """
    gap = float(gaps.mean())
    curve = float(np.mean(_curve(gaps, float(gaps.max()))))
    if gap < 1.0 and curve >= gap**2 / (1.0 - gap) * (1 - 1e-12):  # the mean of q under the pure power law
        return 1.0 + 1.0 / gap, 0.0, math.log(gap)
    curve = max(curve, float(_curve(gap, gap)) + math.exp(gap) * (_LEAST_SPREAD * gap) ** 2 / 2)
    variance = max(float(gaps.var()), (_LEAST_SPREAD * gap) ** 2)
    if variance < gap**2 / 2:  # a hump away from x_min, begun as a normal law
        u = math.exp(-gap) / variance
        slope = -u * math.expm1(gap)
    else:
        u = 0.5 / float((ratios - 1.0).mean())
        slope = max(u - 0.5, 0.0)
    here = _moments(slope, u)
    for _ in range(_STEPS):
        step, gain, whole = _newton_step(here, u, gap, curve)
        size = 1.0
        while True:
            at = slope + size * step[0], u + size * step[1]
            there = _moments(*at)
            fall = here.log_norm - there.log_norm - size * (step[0] * gap + step[1] * curve)
            if gain < 1e-8 or fall >= 0.1 * size * gain or size < 1e-8:
                break
            size /= 4
        (slope, u), here = at, there
        if gain < (1e-14 if whole else 1e-20):  # Newton's own convergence is quadratic, that towards u = 0 is linear
            break
    return 1.0 + slope - u, u, here.log_norm


def _newton_step(here: _Moments, u: float, gap: float, curve: float) -> tuple[tuple[float, float], float, bool]:
    """Step in (s, u) that minimises the quadratic model of the loss among those that leave a twentieth of u; how much
    the loss falls with it to first order; and whether it is Newton's own.
    """
    down, across = here.gap - gap, here.cut - u * curve  # minus the slopes of the loss in s and in ln u
    newton = (across - here.tilt * down) / here.rest
    change = max(newton, -0.95)
    step = down / here.variance - here.tilt * change
    return (step, u * change), down * step + across * change, change == newton


def _moments(slope: float, u: float) -> _Moments:
    """Of the integrand with s = ``slope``; between the places where it has fallen by ``_DEPTH``."""
    peak = math.log1p(-slope / u) if slope < 0 else 0.0
    top = -slope * peak - u * float(_curve(peak, peak))
    level = top - _DEPTH
    low = _edge(0.0, slope, u, level) if level > 0 else 0.0
    reach = _DEPTH / (u * math.exp(peak))  # beyond the peak the exponent falls by u e^peak q(y − peak) or more
    high = peak + math.log1p(math.sqrt(2 * reach) + reach)
    high = _edge(min(high, _DEPTH / slope) if slope > 0 else high, slope, u, level)
    y = low + (high - low) * _NODES
    v = u * _curve(y, high)
    weights = _WEIGHTS * np.exp(-slope * y - v - top)
    total = float(weights.sum())
    weights /= total
    gap, cut = float(weights @ y), float(weights @ v)
    y -= gap
    v -= cut
    weighted = weights * y
    variance = float(weighted @ y)
    tilt = float(weighted @ v) / variance
    v -= tilt * y
    return _Moments(top + math.log(total * (high - low)), gap, cut, variance, tilt, float(weights @ v**2))


def _edge(y: float, slope: float, u: float, level: float) -> float:
    """Where the exponent is at ``level``, from outside: as it is concave, Newton's method does not step across."""
    for _ in range(4):
        rise = u * math.expm1(y)
        y -= (slope * y + rise - u * y + level) / (slope + rise)
    return y


def _curve(y: np.ndarray | float, largest: float) -> np.ndarray | float:
    """q(y) = e^y − 1 − y for 0 ≤ y ≤ ``largest``, without cancellation where these are small."""
    return y * y * np.polyval(_SERIES, y) if largest < 0.5 else np.expm1(y) - y


_MODELS: dict[str, Callable[[np.ndarray, float], TailModel]] = {
    "lognormal": lognormal_model,
    "exponential": exponential_model,
    "truncated power law": cutoff_model,
}
ALTERNATIVES = tuple(_MODELS)
LARGEST = 1e300
"""Of the eigenvalues of a tail, of their inverses, and of the ratio of two of them."""


@dataclass(frozen=True)
class LikelihoodRatio:
    """A power law against one other law, on one tail.

    Attributes
    ----------
    alternative : str
        The other law's name.
    model : TailModel
        The other law, fitted.
    ratio : float
        Log-likelihood of the power law minus that of the other; negative speaks for the other.
    statistic : float
        Vuong's ratio/(√n s), s the standard deviation of the differences; for the nested pair, twice the difference.
    p_value : float
        Of a statistic this far from zero, if both laws were equally close to the truth (Vuong, two-sided); for the
        nested pair, if the power law were true (chi-square with one degree of freedom and half its mass at zero, as
        the cut-off is at the edge of what it may be).
    nested : bool
        Whether the power law is a special case of the other.
    favours : str
        ``"power law"``, the other's name, or ``"neither"``, at the level that was asked for.
    """

    alternative: str
    model: TailModel
    ratio: float
    statistic: float
    p_value: float
    nested: bool
    favours: str


def compare_tails(
    eigenvalues: object,
    fit: PowerLawFit,
    *,
    alternatives: Sequence[str] = ALTERNATIVES,
    level: float = 0.1,
    threshold: float | None = None,
) -> list[LikelihoodRatio]:
    """One :class:`~capcore.spectra.alternatives.LikelihoodRatio` per alternative, on the eigenvalues from
    ``fit.x_min`` on (Clauset et al. 2009, section 5).

    A nested alternative can never be less likely; it is preferred only if the improvement is more than chance. Where
    the lognormal runs into the power law the two cannot be told apart: the ratio is zero and p is one. The
    eigenvalues are taken as independent, which they are not (:mod:`capcore.spectra.inference`): a p-value is a guide,
    not an error rate.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The ones that were fitted.
    fit : PowerLawFit
        Of :func:`~capcore.spectra.power_law.fit_power_law`, without x_max.
    alternatives : sequence of str
        Among ``ALTERNATIVES``.
    level : float
        P-values up to it decide.
    threshold : float, optional
        As for the fit.

    Raises
    ------
    ValueError
        For a failed fit, for one with an upper end, where the eigenvalues are not the ones fitted, and for those beyond
        1e±300.

    Examples
    --------
    >>> from capcore.spectra.power_law import fit_power_law
    >>> values = 1 + np.random.default_rng(0).exponential(size=500)
    >>> [test.favours for test in compare_tails(values, fit_power_law(values, x_min=1.0))]
    ['lognormal', 'exponential', 'truncated power law']
    """
    of_kind(fit, "fit", PowerLawFit)
    all_of_kind(alternatives, "alternatives", str)
    if not fit.ok:
        raise ValueError(f"fit: found a failed fit ({fit.reason}), expected one that succeeded.")
    if fit.x_max is not None:
        raise ValueError(f"fit: found x_max = {fit.x_max!r}, expected None. Fit without an upper end to compare tails.")
    level = finite_number(level, "level")
    names = [one_of(name, "alternatives", ALTERNATIVES) for name in alternatives]
    values = usable(eigenvalues, threshold).values
    tail = values[values >= fit.x_min]
    if len(tail) != fit.n_tail:
        raise ValueError(
            f"eigenvalues: found {len(tail)} from x_min on, expected the {fit.n_tail} that were fitted. "
            "Pass the spectrum and the threshold that the fit was made with."
        )
    if fit.x_min < 1 / LARGEST or tail[-1] > LARGEST or tail[-1] / LARGEST > fit.x_min:
        raise ValueError(
            f"eigenvalues: found a tail from {fit.x_min:.1e} to {tail[-1]:.1e}, expected {1 / LARGEST:g} to "
            f"{LARGEST:g}, and a ratio up to that: densities would leave double precision. Rescale the eigenvalues."
        )
    power = power_law_model(tail, fit.x_min)
    return [_compare(power, _MODELS[name](tail, fit.x_min), level) for name in names]


def _compare(power: TailModel, other: TailModel, level: float) -> LikelihoodRatio:
    difference = power.log_likelihoods - other.log_likelihoods
    nested = other.name == "truncated power law"
    if other.limit == "power law":
        ratio, statistic, p_value = 0.0, 0.0, 1.0
    elif nested:
        ratio = min(float(difference.sum()), 0.0)
        statistic = -2.0 * ratio
        p_value = math.erfc(math.sqrt(statistic / 2)) / 2 if statistic > 0 else 1.0  # half the chi-square's tail
    else:
        ratio = float(difference.sum())
        spread = float(difference.std()) * np.sqrt(len(difference))
        statistic = ratio / spread if spread > 0 else 0.0
        p_value = math.erfc(abs(statistic) / math.sqrt(2))
    favours = "neither" if p_value > level else "power law" if ratio > 0 else other.name
    return LikelihoodRatio(other.name, other, ratio, statistic, p_value, nested, favours)
