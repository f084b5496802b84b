"""Controls of the tests of power laws: true tails are true, bodies are kept, and what is known of both comes out."""

import numpy as np
import pytest

from capcore.spectra import fit_power_law
from chapters.spectra_resnets.fit_controls import gaussian_spectrum, outcomes, signs, with_law_tail


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    values = np.sort(np.concatenate([rng.uniform(0.1, 1, 300), (1 - rng.random(200)) ** (-1 / 1.5)]))
    return values, fit_power_law(values, x_min=1.0)


def test_the_tail_is_a_draw_from_the_fitted_law(fitted):
    """Sizes and exponents within four standard errors, over 200 spectra of 500."""
    values, fit = fitted
    drawn = np.concatenate([with_law_tail(values, fit, np.random.default_rng(k)) for k in range(200)])
    tail = drawn[drawn >= fit.x_min]
    n, share = len(drawn), fit.n_tail / fit.n
    assert len(tail) / n == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / n))
    assert len(tail) / np.log(tail / fit.x_min).sum() + 1 == pytest.approx(fit.alpha, abs=4 * 1.5 / np.sqrt(len(tail)))


def test_the_body_is_the_spectrums_own(fitted):
    values, fit = fitted
    drawn = with_law_tail(values, fit, np.random.default_rng(1))
    assert set(drawn[drawn < fit.x_min]) <= set(values[values < fit.x_min])
    assert len(drawn) == fit.n and not np.isin(drawn[drawn > fit.x_min], values).any()


def test_a_law_from_the_smallest_on_has_no_body():
    values = (1 - (np.arange(50) + 0.5) / 50) ** (-1 / 1.5)
    drawn = with_law_tail(values, fit_power_law(values, x_min=values[0]), np.random.default_rng(2))
    assert len(drawn) == 50 and drawn.min() >= values[0]


def test_a_failed_fit_is_refused():
    with pytest.raises(ValueError, match="found a failed fit"):
        with_law_tail(np.ones(5), fit_power_law(np.ones(5)), np.random.default_rng(0))


def test_gaussian_spectra_are_those_of_a_stack():
    found = gaussian_spectrum(12, 20, 3, np.random.default_rng(3))
    weights = np.random.default_rng(3).normal(size=(3, 12, 20))
    np.testing.assert_allclose(np.sort(found), np.sort(np.linalg.svd(weights, compute_uv=False).ravel() ** 2))


def test_outcomes_tell_a_long_power_law_from_an_exponential():
    rng = np.random.default_rng(4)
    law = outcomes((1 - rng.random(1_000)) ** (-1 / 1.5), rng, 99, 0.1)
    other = outcomes(1 + rng.exponential(size=1_000), rng, 19, 0.1)
    assert law["p_value"] > 0.1 and law["exponential"] == 1 and law["span"] > 10
    assert other["span"] < law["span"] and other["exponential"] < 1


def test_signs_have_all_laws(fitted):
    values, fit = fitted
    assert list(signs(values, fit, 0.1)) == ["lognormal", "exponential", "truncated power law"]
