"""Spectra of which the answer is known, for the tests that a fitted power law goes through: true tails, and noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from capcore.spectra.alternatives import ALTERNATIVES, compare_tails
from capcore.spectra.eigenvalues import gram_spectra
from capcore.spectra.exponents import usable
from capcore.spectra.inference import goodness_of_fit
from capcore.spectra.power_law import PowerLawFit, fit_power_law


def with_law_tail(eigenvalues: object, fit: PowerLawFit, rng: np.random.Generator) -> np.ndarray:
    """(n,) A spectrum with a true power law for a tail, and the body of a given one.

    Each value is, with the tail's share of the eigenvalues, a draw from the fitted law, and otherwise one of the
    eigenvalues below x_min: Clauset et al. (2009), section 4.1.

    eigenvalues : (M,), the ones that were fitted. fit : of :func:`~capcore.spectra.power_law.fit_power_law`, without
    x_max. n is its ``n``. Raises ``ValueError`` for a failed fit.

    >>> values = np.arange(1.0, 41.0)
    >>> drawn = with_law_tail(values, fit_power_law(values, x_min=30.0), np.random.default_rng(0))
    >>> len(drawn), set(drawn[drawn < 30]) <= set(values)
    (40, True)
    """
    if not fit.ok:
        raise ValueError(f"fit: found a failed fit ({fit.reason}), expected one that succeeded.")
    body = usable(eigenvalues).values[: fit.n - fit.n_tail]
    drawn = fit.x_min * (1 - rng.random(fit.n)) ** (-1 / (fit.alpha - 1))
    if len(body):
        below = rng.random(fit.n) >= fit.n_tail / fit.n
        drawn[below] = rng.choice(body, int(below.sum()))
    return drawn


def gaussian_spectrum(rows: int, columns: int, matrices: int, rng: np.random.Generator) -> np.ndarray:
    """(matrices · min(rows, columns),) Eigenvalues of Gaussian weights; no exponent depends on their variance.

    >>> len(gaussian_spectrum(16, 32, 9, np.random.default_rng(0)))
    144
    """
    return gram_spectra(rng.normal(size=(matrices, rows, columns))).eigenvalues.ravel()


def outcomes(eigenvalues: np.ndarray, rng: np.random.Generator, n_simulations: int, level: float) -> dict[str, Any]:
    """Name → result of every test: ``p_value`` of the goodness of fit, ``span`` (λ_max / x_min), and :func:`signs`."""
    fit = fit_power_law(eigenvalues)
    p_value = goodness_of_fit(eigenvalues, rng, n_simulations=n_simulations).p_value
    return {"p_value": p_value, "span": float(np.max(eigenvalues) / fit.x_min), **signs(eigenvalues, fit, level)}


def signs(eigenvalues: np.ndarray, fit: PowerLawFit, level: float) -> dict[str, int]:
    """Other law → 1 if the power law is preferred to it at the level, −1 if the other is, 0 if neither.

    >>> values = 1 + np.random.default_rng(0).exponential(size=500)
    >>> signs(values, fit_power_law(values, x_min=1.0), 0.1)["exponential"]
    -1
    """
    tests = compare_tails(eigenvalues, fit, level=level)
    found = ({"power law": 1, "neither": 0}.get(test.favours, -1) for test in tests)
    return dict(zip(ALTERNATIVES, found, strict=True))
