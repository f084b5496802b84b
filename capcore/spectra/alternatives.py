"""Does another law describe the tail better than a power law? Likelihood ratios on the same eigenvalues decide.

Each law is fitted to the tail x ≥ x_min by maximum likelihood and normalised on it. The fits use the gaps
y = ln(x / x_min) ≥ 0 and the ratios z = x / x_min ≥ 1, so that they do not overflow or underflow, whatever the scale of
the eigenvalues. Each function returns a :class:`~capcore.spectra.alternatives.TailModel`. Its likelihoods are densities
in x, so those of different laws can be compared.

The power law with an exponential cut-off needs the integral ∫₁^∞ z^(−α) e^(−u(z−1)) dz = e^u E_α(u) for any real α,
but SciPy provides it only for integer α. Substituting z = e^y turns the integrand into exp(−s y − u q(y)) with
s = α − 1 + u and q(y) = e^y − 1 − y. This form avoids two terms that nearly cancel where all y are small. Its exponent
is concave in y, so Gauss–Legendre nodes placed where the integrand matters give the integral to nearly double
precision, together with the moments of y and q that Newton's method needs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # loads each submodule at first use, because loading them all takes longer than analysing most networks

from capcore.checks.arguments import all_of_kind, finite_number, of_kind, one_of
from capcore.results.notebook import Record
from capcore.spectra.exponents import usable
from capcore.spectra.power_law import PowerLawFit

_NODES, _WEIGHTS = (part / 2 for part in np.polynomial.legendre.leggauss(160))
_NODES += 0.5
_DEPTH = 45.0  # e-folds below its peak, where the integrand is negligible
_SERIES = np.array([1 / math.factorial(k) for k in range(17, 1, -1)])  # coefficients of q(y) / y², for y up to 1/2
_STEPS = 100  # limit on Newton steps; spectra need six
_LEAST_SPREAD = 1e-4  # smallest spread of the gaps that is fitted, in units of their mean


@dataclass(frozen=True)
class TailModel:
    """A law fitted to a tail.

    Attributes
    ----------
    name : str
        Name of the law.
    parameters : dict
        Fitted parameters by name, in units of the eigenvalues.
    log_likelihoods : (n,) array
        Logarithm of the density at each eigenvalue of the tail, in the order given.
    limit : str
        Name of the limiting law if the likelihood has no maximum and keeps rising towards that limit; empty if the
        maximum is in the interior.
    """

    name: str
    parameters: dict[str, float]
    log_likelihoods: np.ndarray
    limit: str = ""


def power_law_model(values: np.ndarray, x_min: float) -> TailModel:
    """Fit the power law (paper 3, Eq. 1, normalised), with density (α−1)/x_min · (x/x_min)^(−α).

    >>> round(power_law_model(np.array([1.0, np.e**2]), 1.0).parameters["alpha"], 12)
    2.0
    """
    gaps = np.log(values / x_min)
    rate = 1.0 / gaps.mean()
    return TailModel("power law", {"alpha": 1.0 + float(rate)}, np.log(rate / x_min) - (rate + 1.0) * gaps)


def exponential_model(values: np.ndarray, x_min: float) -> TailModel:
    """Fit the exponential law, with density Λ exp(−Λ(x − x_min)).

    >>> exponential_model(np.array([1.0, 2.0, 3.0]), 1.0).parameters
    {'rate': 1.0}
    """
    excess = values - x_min
    rate = 1.0 / excess.mean()
    return TailModel("exponential", {"rate": float(rate)}, np.log(rate) - rate * excess)


def lognormal_model(values: np.ndarray, x_min: float) -> TailModel:
    """Fit a lognormal law with parameters μ and σ, truncated to x ≥ x_min.

    The logarithms then follow a truncated normal law. Because this law is an exponential family, its likelihood is
    largest where the mean and variance of the gaps match those of the sample. If the sample's coefficient of variation
    is 1 or more, no parameters match (del Castillo 1994): the fit runs off to μ → −∞, σ → ∞ with −μ/σ² fixed, and its
    limit is the power law.

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
    if cut > 0:  # cancel the factor exp(−ξ²/2) that numerator and normalisation share
        density = -standard * (standard / 2 + cut) - np.log(scipy.special.erfcx(cut / np.sqrt(2)) / 2)
    else:
        density = -0.5 * (standard + cut) ** 2 - scipy.special.log_ndtr(-cut)
    density += -np.log(sigma) - 0.5 * np.log(2 * np.pi) - np.log(values)
    return TailModel("lognormal", {"mu": float(np.log(x_min) - sigma * cut), "sigma": float(sigma)}, density)


def cutoff_model(values: np.ndarray, x_min: float) -> TailModel:
    """Fit a power law with an exponential cut-off ("truncated power law"), with density ∝ x^(−α) exp(−Λx), Λ ≥ 0.

    The power law is the special case Λ = 0, and the exponential law is α = 0. The exponent α may have either sign.

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
    """For a standard normal variable above ``cut``: the mean of its excess, and its variance over that mean squared."""
    if cut > 30.0:  # expand Mills' ratio asymptotically, to avoid differences of nearly equal numbers
        r = cut**-2
        mean = (1 - r * (2 - r * (10 - r * (74 - 706 * r)))) / cut
        share = (1 - r * (6 - r * (50 - 518 * r))) * r
        return mean, share / mean**2
    hazard = np.sqrt(2 / np.pi) / scipy.special.erfcx(cut / np.sqrt(2)) if cut > -30 else 0.0
    mean = hazard - cut
    return float(mean), float((1 - hazard * mean) / mean**2)


@dataclass(frozen=True)
class _Moments:
    """Moments under the normalised integrand.

    In order: the logarithm of the integral, the means of y and of v = u·q(y), the variance of y, the slope of v
    regressed on y, and the residual variance of v.
    """

    log_norm: float
    gap: float
    cut: float
    variance: float
    tilt: float
    rest: float


def fit_cutoff(gaps: np.ndarray, ratios: np.ndarray) -> tuple[float, float, float]:
    """Maximum-likelihood α and u for ``ratios`` (n,) = exp(``gaps``) (n,), and the logarithm of the normalisation.

    The negative log-likelihood is convex in (α, u), so Newton's method finds its minimum; steps that would leave u > 0
    are shortened. If the slope at the pure power law points towards u < 0, the fit is that power law, with u = 0. If
    all gaps are equal the likelihood is unbounded, so they are fitted as if they had a spread of 10⁻⁴ of their mean.
    """
    gap = float(gaps.mean())
    curve = float(np.mean(_curve(gaps, float(gaps.max()))))
    if gap < 1.0 and curve >= gap**2 / (1.0 - gap) * (1 - 1e-12):  # q exceeds its mean under a power law
        return 1.0 + 1.0 / gap, 0.0, math.log(gap)
    curve = max(curve, float(_curve(gap, gap)) + math.exp(gap) * (_LEAST_SPREAD * gap) ** 2 / 2)
    variance = max(float(gaps.var()), (_LEAST_SPREAD * gap) ** 2)
    if variance < gap**2 / 2:  # the density peaks away from x_min: start from a normal law
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
        if gain < (1e-14 if whole else 1e-20):  # full steps converge quadratically, shortened ones linearly
            break
    return 1.0 + slope - u, u, here.log_norm


def _newton_step(here: _Moments, u: float, gap: float, curve: float) -> tuple[tuple[float, float], float, bool]:
    """A Newton step in (s, u), shortened so that at least a twentieth of u remains.

    Returns the step that minimises the quadratic model of the loss under this constraint, the first-order decrease of
    the loss along it, and whether it is the full Newton step.
    """
    down, across = here.gap - gap, here.cut - u * curve  # negative derivatives of the loss in s and in ln u
    newton = (across - here.tilt * down) / here.rest
    change = max(newton, -0.95)
    step = down / here.variance - here.tilt * change
    return (step, u * change), down * step + across * change, change == newton


def _moments(slope: float, u: float) -> _Moments:
    """Moments for s = ``slope``, integrated between the points where the integrand has fallen by ``_DEPTH`` e-folds."""
    peak = math.log1p(-slope / u) if slope < 0 else 0.0
    top = -slope * peak - u * float(_curve(peak, peak))
    level = top - _DEPTH
    low = _edge(0.0, slope, u, level) if level > 0 else 0.0
    reach = _DEPTH / (u * math.exp(peak))  # because the exponent falls by at least u e^peak q(y − peak)
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
    """Where the exponent reaches ``level``. Starting outside, Newton's method cannot overshoot a concave function."""
    for _ in range(4):
        rise = u * math.expm1(y)
        y -= (slope * y + rise - u * y + level) / (slope + rise)
    return y


def _curve(y: np.ndarray | float, largest: float) -> np.ndarray | float:
    """Compute q(y) = e^y − 1 − y for 0 ≤ y ≤ ``largest``, without cancellation at small y."""
    return y * y * np.polyval(_SERIES, y) if largest < 0.5 else np.expm1(y) - y


_MODELS = {
    "lognormal": lognormal_model,
    "exponential": exponential_model,
    "truncated power law": cutoff_model,
}
ALTERNATIVES = tuple(_MODELS)
LARGEST = 1e300
"""Upper limit on the eigenvalues of a tail, on their inverses, and on the ratio of any two of them."""


@dataclass(frozen=True, repr=False)
class LikelihoodRatio(Record):
    """Comparison of a power law with one other law on the same tail.

    Attributes
    ----------
    model : TailModel
        Fit of the other law, with its name.
    ratio : float
        Log-likelihood of the power law minus that of the other law. Negative values favour the other law.
    statistic : float
        Vuong's ratio/(√n s), where s is the standard deviation of the pointwise differences. If the laws are nested,
        twice the difference of the log-likelihoods.
    p_value : float
        Probability of a statistic at least this far from zero if both laws were equally close to the truth (Vuong,
        two-sided). If the laws are nested, the probability if the power law were true: a chi-square law with one degree
        of freedom and half its mass at zero, because the power law lies on the boundary of the cut-off's range.
    favours : str
        ``"power law"``, the other law's name, or ``"neither"``, at the requested level.
    """

    model: TailModel
    ratio: float
    statistic: float
    p_value: float
    favours: str


def compare_tails(
    eigenvalues: object, fit: PowerLawFit, *, alternatives: Sequence[str] = ALTERNATIVES, level: float = 0.1
) -> list[LikelihoodRatio]:
    """Compare a fitted power law with other laws on the same tail (Clauset et al. 2009, section 5).

    Each alternative gives one :class:`~capcore.spectra.alternatives.LikelihoodRatio`. A nested alternative is never
    less likely, so it is preferred only if it improves the fit by more than chance would. If the lognormal fit runs off
    to the power law, the two cannot be told apart: the ratio is zero and p is one. The p-values assume that eigenvalues
    are independent, which they are not (:mod:`capcore.spectra.inference`), so they are a guide, not error rates.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        The eigenvalues that were fitted.
    fit : PowerLawFit
        Result of :func:`~capcore.spectra.power_law.fit_power_law`.
    alternatives : sequence of str
        Any of ``ALTERNATIVES``.
    level : float
        A p-value up to this level favours one law; above it, neither.

    Raises
    ------
    ValueError
        If the fit failed, if the eigenvalues are not those that were fitted, or if they lie beyond 1e±300.

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
    level = finite_number(level, "level")
    names = [one_of(name, "alternatives", ALTERNATIVES) for name in alternatives]
    values = usable(eigenvalues).values
    tail = values[values >= fit.x_min]
    if len(tail) != fit.n_tail:
        raise ValueError(f"eigenvalues: found {len(tail)} from x_min on, expected {fit.n_tail}: those of the fit.")
    if fit.x_min < 1 / LARGEST or tail[-1] > LARGEST or tail[-1] / LARGEST > fit.x_min:
        raise ValueError(
            f"eigenvalues: found a tail from {fit.x_min:.1e} to {tail[-1]:.1e}, expected {1 / LARGEST:g} to "
            f"{LARGEST:g} and a ratio up to that. Rescale the eigenvalues."
        )
    power = power_law_model(tail, fit.x_min)
    return [_compare(power, _MODELS[name](tail, fit.x_min), level) for name in names]


def _compare(power: TailModel, other: TailModel, level: float) -> LikelihoodRatio:
    difference = power.log_likelihoods - other.log_likelihoods
    if other.limit == "power law":
        ratio, statistic, p_value = 0.0, 0.0, 1.0
    elif other.name == "truncated power law":  # of which the power law is a special case
        ratio = min(float(difference.sum()), 0.0)
        statistic = -2.0 * ratio
        p_value = math.erfc(math.sqrt(statistic / 2)) / 2 if statistic > 0 else 1.0  # half of the chi-square tail
    else:
        ratio = float(difference.sum())
        spread = float(difference.std()) * np.sqrt(len(difference))
        statistic = ratio / spread if spread > 0 else 0.0
        p_value = math.erfc(abs(statistic) / math.sqrt(2))
    favours = "neither" if p_value > level else "power law" if ratio > 0 else other.name
    return LikelihoodRatio(other, ratio, statistic, p_value, favours)
