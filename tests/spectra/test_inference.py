"""Intervals and p-values keep what they promise on independent draws, and eigenvalues are not such draws."""

import numpy as np
import pytest
from scipy.stats import chi2

from capcore.spectra.inference import bootstrap_power_law, goodness_of_fit
from capcore.spectra.power_law import fit_power_law
from tests.strategies import refused


def pareto(rng, n=150):
    return rng.pareto(1.5, n) + 1  # α = 2.5


def test_intervals_of_independent_draws_hold_the_exponent():
    rng = np.random.default_rng(0)
    held, by_sigma = 0, 0
    for _ in range(120):
        values = np.r_[pareto(rng), rng.uniform(0.1, 1, 150)]
        interval = bootstrap_power_law(values, rng, n_resamples=100)
        fit = fit_power_law(values)
        held += interval.low <= 2.5 <= interval.high
        by_sigma += abs(fit.alpha - 2.5) < 1.96 * fit.sigma
    assert held >= 107  # 0.95 of 120 less three standard errors
    assert by_sigma <= held  # σ does not know that x_min was chosen


def test_with_x_min_known_the_resamples_spread_by_sigma():
    values = pareto(np.random.default_rng(1), 400)
    interval = bootstrap_power_law(values, np.random.default_rng(2), n_resamples=2000, x_min=1.0)
    fit = fit_power_law(values, x_min=1.0)
    assert interval.alphas.std() == pytest.approx(fit.sigma, rel=0.15)  # the sample's own spread, and 2000 resamples


def test_seeds_decide():
    values = pareto(np.random.default_rng(1))
    one, again, other = (bootstrap_power_law(values, np.random.default_rng(seed), n_resamples=60) for seed in (0, 0, 1))
    assert (one.low, one.high) == (again.low, again.high) != (other.low, other.high)
    assert [np.mean(one.alphas < end) for end in (one.low, one.high)] == pytest.approx([0.025, 0.975], abs=1 / 60)


def test_resamples_without_a_fit_are_nan():
    interval = bootstrap_power_law([1.0, 2.0], np.random.default_rng(0), n_resamples=200)
    failed = np.isnan(interval.alphas)
    assert 60 < failed.sum() < 140  # half of all pairs are twice the same value


def p_values_of_power_laws(n_draws, **options):
    """p-values of draws of 60 from a power law by 19 simulations each: twentieths."""
    rng = np.random.default_rng(5)
    return np.array(
        [goodness_of_fit(pareto(rng, 60), rng, n_simulations=19, **options).p_value for _ in range(n_draws)]
    )


def test_p_values_of_a_true_power_law_are_uniform_for_a_given_x_min():
    """The distance does not depend on the rate, so that data and simulations are exchangeable: all ranks are alike.

    A uniform law exceeds the limit of χ² once in 10⁵ seeds.
    """
    p_values = p_values_of_power_laws(400, x_min=1.0)
    counts = np.bincount(np.rint(20 * p_values).astype(int), minlength=21)[1:]
    assert ((counts - 20) ** 2 / 20).sum() < chi2.isf(1e-5, 19)


def test_p_values_of_a_true_power_law_are_conservative_for_a_searched_x_min():
    """As documented: 0.36 to 0.41 of them up to one half, and 0.06 to 0.08 up to 0.1; four standard errors around."""
    p_values = p_values_of_power_laws(600)
    for level, (low, high) in {0.5: (0.36, 0.41), 0.1: (0.06, 0.08)}.items():
        share, error = np.mean(p_values <= level + 1e-9), 4 * (high * (1 - high) / 600) ** 0.5
        assert low - error < share < high + error
    assert np.mean(p_values <= 0.5 + 1e-9) < 0.5 - 4 * (0.25 / 600) ** 0.5  # uniform p-values would not


def test_another_law_is_rejected():
    values = np.random.default_rng(6).lognormal(0, 0.5, 1500)
    found = goodness_of_fit(values, np.random.default_rng(7), n_simulations=99, x_min=1.0)
    assert found.p_value == 0.01  # (0 + 1)/(99 + 1): as small as 99 simulations can say
    assert found.distance == fit_power_law(values, x_min=1.0).distance and found.distances.shape == (99,)


def test_a_tie_counts_as_farther():
    found = goodness_of_fit([1.0, 2.0], np.random.default_rng(0), n_simulations=20)
    assert np.allclose(found.distances, found.distance)  # any two values are equally far from their law
    assert found.p_value > 0.3


test_bad_input_is_refused = refused(
    lambda use: use(np.random.default_rng(0)),
    (lambda rng: bootstrap_power_law([1.0], rng), ["eigenvalues", "nothing to fit"]),
    (lambda rng: bootstrap_power_law([1.0, 2.0], rng, n_resamples=0), ["n_resamples", "at least 1"]),
    (lambda rng: goodness_of_fit([1.0, 1.0], rng), ["eigenvalues", "distinct"]),
    (lambda rng: goodness_of_fit([1.0, 2.0], rng, n_simulations=0), ["n_simulations"]),
)
