"""Whether the two halves of a series have the same autoregression: a Wald test, as Chow's (1960), for each variance.

Final prediction errors assume that the series goes on as it was. If its halves disagree, they rank models wrongly.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from capcore.checks.arguments import quiet
from capcore.processes.time_series import LENGTH_PER_LAG, estimate_process

UNLIKELY = 1e-3
MOST_LAGS = 20


def halves_agree(series: object, order: int) -> float | None:
    """The p-value of the hypothesis that both halves have one autoregression; None where they are too short.

    The coefficients of AR(q) estimated from a half with m/2 values have the covariance v Σ⁻¹ / (m/2), so that
    ΔᵀC⁻¹Δ has the χ² law of q degrees of freedom, with Δ the difference of the two estimates and C the sum of their
    covariances. That needs an order at which the errors are white: with five lags for a power law, 12 of 100
    stationary series have p < 0.05; with twenty lags, 4 have.

    Parameters
    ----------
    series : (m,) array_like
        Oldest first.
    order : int
        q, of which at most 20 are used.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=2000)
    >>> halves_agree(noise, 3) > 0.01, halves_agree(np.r_[noise[:1000], np.cumsum(noise[1000:])], 3) < 1e-6
    (True, True)
    """
    values = np.asarray(series)
    half = len(values) // 2
    order = min(order, MOST_LAGS, half // LENGTH_PER_LAG - 1)
    if order < 1:
        return None
    difference, spread = np.zeros(order), np.zeros((order, order))
    for sign, part in ((1, values[:half]), (-1, values[half:])):
        try:
            with quiet():
                process = estimate_process(part, order)
                predictor, variance = process.predictor(order)
        except ValueError:
            return None
        difference += sign * predictor
        spread += variance * np.linalg.inv(process.covariance(order)) / process.pairs[0]
    return float(chi2.sf(difference @ np.linalg.solve(spread, difference), order))
