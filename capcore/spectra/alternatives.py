"""Is another law a better description of the tail than a power law? Likelihood ratios on the same eigenvalues."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from capcore.gate import all_of_kind, of_kind
from capcore.spectra.exponents import usable
from capcore.spectra.power_law import PowerLawFit
from capcore.spectra.tail_models import TailModel, cutoff_model, exponential_model, lognormal_model, power_law_model
from capcore.validation import finite_number, one_of

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
