"""Laws that a tail x ≥ x_min may follow, fitted by maximum likelihood and normalised on that tail.

All work on gaps y = ln(x / x_min) ≥ 0 and z = x / x_min ≥ 1, so that no scale of the eigenvalues over- or underflows.
Every function returns a :class:`~capcore.spectra.tail_models.TailModel`; its likelihoods are densities in x, and can
be compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr

from capcore.spectra.exponential_integral import fit_cutoff


@dataclass(frozen=True)
class TailModel:
    """A law fitted to a tail.

    ``name`` : of the law. ``parameters`` : by name, in units of the eigenvalues. ``log_likelihoods`` (n,) : logarithm
    of the density at each eigenvalue of the tail, in the order given. ``limit`` : the law of which the fit is a
    limit, because the likelihood rises towards it without end; empty if the maximum is in the interior.
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
    """Density (α−1)/x_min · (x/x_min)^(−α).

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
    cut = brentq(lambda xi: _truncated_normal(xi)[1] - share, -1e6, 1e6, xtol=1e-14, rtol=1e-14, maxiter=500)
    sigma = mean / _truncated_normal(cut)[0]
    standard = gaps / sigma
    if cut > 0:  # the factor exp(−ξ²/2) that numerator and normalisation share is left out of both
        density = -standard * (standard / 2 + cut) - np.log(erfcx(cut / np.sqrt(2)) / 2)
    else:
        density = -0.5 * (standard + cut) ** 2 - log_ndtr(-cut)
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
    hazard = np.sqrt(2 / np.pi) / erfcx(cut / np.sqrt(2)) if cut > -30 else 0.0
    mean = hazard - cut
    return float(mean), float((1 - hazard * mean) / mean**2)
