"""α̂ by the plain loop, in its forms, and within the bounds of the α-norm."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import SpectraOptions, analyse_spectra, fit_power_law
from chapters.spectra_metrics import alpha_hat as study
from tests.strategies import seeds


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    weights = {"a.weight": rng.standard_t(3, (24, 16, 3, 3)), "fc.weight": rng.normal(size=(12, 40))}
    return analyse_spectra(weights, SpectraOptions(alternatives=()))


@given(seeds, st.integers(3, 40), st.floats(0.5, 3))
def test_the_plain_loop_is_the_fit(seed, n, rate):
    values = np.random.default_rng(seed).pareto(rate, n) + 1
    assert study.plain_exponent(values) == pytest.approx(fit_power_law(values).alpha, rel=1e-9)


def test_the_loop_skips_equal_candidates_and_zeros():
    values = np.array([0.0, 1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 8.0])
    assert study.plain_exponent(values) == pytest.approx(fit_power_law(values).alpha, rel=1e-12)


def test_the_sum_by_two_routes(report):
    plain = study.plain_alpha_hat([density.eigenvalues for density in report.densities])
    assert plain == pytest.approx(report.model.sum_alpha_hat, abs=1e-12 * study.size(report.spectra))


def test_the_forms_agree_and_a_wrong_one_would_not(report):
    found = study.forms(report.spectra)
    assert np.ptp(list(found.values())) < 1e-12 * study.size(report.spectra)
    assert found["mean"] == pytest.approx(report.model.mean_alpha_hat * report.model.n_fitted, rel=1e-12)
    assert found["layers"] == pytest.approx(report.model.layer_mean_alpha_hat * 2, rel=1e-12)
    assert abs(found["sum"] - report.model.mean_alpha * report.model.log_product_spectral) > 0.01  # without covariance


def test_bounds_of_the_alpha_norm(report):
    assert study.outside_alpha_norm(report.spectra) == 0
    wrong = [replace(row, log_alpha_norm=row.alpha_hat - 0.01) for row in report.spectra]
    assert study.outside_alpha_norm(wrong) == len(report.spectra)


def test_the_largest_eigenvalue_is_the_squared_norm_over_n():
    plain, squared = study.spectral_norm_differences([(5, 8), (30, 10)], np.random.default_rng(0))
    assert squared < 1e-12 < 0.01 < plain
