"""α̂ by the plain loop, in its forms and units, and within the bounds of the α-norm."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, fit_power_law
from chapters.spectra_metrics import alpha_hat as study
from chapters.spectra_metrics.study import log_ratio
from chapters.spectra_resnets.networks import stored_networks
from tests.strategies import seeds


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    weights = {"a.weight": rng.standard_t(3, (24, 16, 3, 3)), "fc.weight": rng.normal(size=(12, 40))}
    return analyse_spectra(weights, SpectraOptions(DensityOptions("slices"), alternatives=()))


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


@pytest.fixture(scope="module")
def nets():
    found = stored_networks()
    return {"dense": found["dense"]}


def test_units_differ_by_the_law_of_rescaling(nets):
    found = study.by_unit(nets)
    rows = [row for row in nets["dense"].report().spectra if row.ok]
    shift = sum(row.alpha * np.log10(max(row.rows, row.columns)) for row in rows)
    assert found["sum"]["no 1/N"] - found["sum"]["1/N (paper)"] == pytest.approx(shift, rel=1e-9)
    taps = sum(row.alpha * np.log10({None: 1, (0, 0): 0.5}.get(row.tap, 4.5)) for row in rows)
    wide = sum(row.alpha * np.log10(9) for row in rows if row.tap == (0, 0) and "downsample" not in row.layer)
    found_shift = found["sum"]["WeightWatcher"] - found["sum"]["no 1/N"]
    assert found_shift == pytest.approx(taps + wide, rel=1e-9)  # ½ for one tap, 9/2 for nine
    assert found["mean"]["no 1/N"] * len(rows) == pytest.approx(found["sum"]["no 1/N"], rel=1e-12)


def test_ratios_are_those_of_the_eigenvalues(nets):
    found = study.slice_ratios(nets, 2.0)
    assert found["alpha"].max() <= 2.0 and len({len(values) for values in found.values()}) == 1
    density = next(d for d in nets["dense"].densities() if d.name == "layer3.2.conv2.weight[0, 0]")
    expected = log_ratio(density.eigenvalues * 64, 1, 64)
    own = np.isclose(found["printed"], expected, rtol=1e-9)
    assert found["n_tail"][own].tolist() == [fit_power_law(density.eigenvalues).n_tail]
    assert np.isclose(found["printed"], expected, rtol=1e-9).any()
    values = density.eigenvalues * 64
    x_min = fit_power_law(values).x_min
    expected = np.log(64 * values.sum() / x_min) / np.log(values.max() / x_min)
    assert np.isclose(found["x_min"], expected, rtol=1e-9).any()
    assert study.near(found, "alpha", 1e-12) == 1
