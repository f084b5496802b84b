"""Spectra that have a true power law for a tail, with the body and the size of a given one."""

import numpy as np

from capcore.spectra.exponents import usable
from capcore.spectra.power_law import PowerLawFit


def with_law_tail(eigenvalues: object, fit: PowerLawFit, rng: np.random.Generator) -> np.ndarray:
    """(n,) A spectrum with a true power law for a tail, and the body of a given one.

    Each value is, with the tail's share of the eigenvalues, a draw from the fitted law, and otherwise one of the
    eigenvalues below x_min: Clauset et al. (2009), section 4.1.

    eigenvalues : (M,), the ones that were fitted. fit : of :func:`~capcore.spectra.power_law.fit_power_law`, without
    x_max. n is its ``n``.

    >>> from capcore.spectra.power_law import fit_power_law
    >>> values = np.arange(1.0, 41.0)
    >>> drawn = with_law_tail(values, fit_power_law(values, x_min=30.0), np.random.default_rng(0))
    >>> len(drawn), set(drawn[drawn < 30]) <= set(values)
    (40, True)
    """
    body = usable(eigenvalues).values[: fit.n - fit.n_tail]
    drawn = fit.x_min * (1 - rng.random(fit.n)) ** (-1 / (fit.alpha - 1))
    if len(body):
        below = rng.random(fit.n) >= fit.n_tail / fit.n
        drawn[below] = rng.choice(body, int(below.sum()))
    return drawn
