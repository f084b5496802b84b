"""Fits of the shipped spectra: the stored ones come out again; and controls, of which the answer is known."""

import numpy as np
import pytest

from capcore.spectra import DensityOptions, SpectraOptions, fit_power_law
from chapters.kit import stored as results
from chapters.kit.stored import stored
from chapters.spectra_resnets import fits
from chapters.spectra_resnets.fits import gaussian_spectrum, outcomes, signs, with_law_tail
from chapters.spectra_resnets.networks import stored_networks


@pytest.fixture(scope="module")
def networks():
    return stored_networks()


def test_fits_of_other_spectra_are_refused(monkeypatch):
    content = stored("resnet_fits")
    assert content["settings"]["spectra"] == stored("resnet_spectra")["values"]["arrays_sha256"]
    with pytest.raises(results.ResultsError, match=r"made from spectra .* Make it again"):
        fits.stored_fits({"values": {"arrays_sha256": "0" * 64}})


def test_shares_count():
    columns = {
        "p_value": np.array([0.05, 0.5, 0.9, 0.1]),
        "lognormal": np.array([0, 0, -1, 1]),
        "exponential": np.array([1, 0, 0, 1]),
        "truncated power law": np.array([0, 0, 0, -1]),
        "low": np.array([2.0, 1.9, 2.5, 3.0]),
        "high": np.array([5.0, 3.0, 5.1, 4.0]),
    }
    expected = {"fits": 0.5, "no_other": 0.5, "unrefuted": 0.25, "over_exponential": 0.5, "cutoff": 0.25}
    assert fits.shares(columns) == {**expected, "inside": 0.5}
    controls = {f"law {name}": column for name, column in columns.items() if name not in ("low", "high")}
    found = fits.shares(fits.control(controls, "law"))
    assert np.isnan(found.pop("inside")) and found == expected


def test_columns_of_networks_are_joined():
    part = {"slices": {"name": ["a"], "alpha": [2.0]}}
    found = fits.gathered({"x": part, "y": part}, ["x", "y"], "slices")
    assert found["alpha"].tolist() == [2.0, 2.0] and "name" not in found


def test_controls_are_drawn_for_every_spectrum_and_seeded(networks):
    settings = {**fits.SETTINGS, "n_simulations": 19, "n_resamples": 0}
    found = fits.fitted_spectra(networks["layers_removed"], "pooled", settings)
    for name in fits.CONTROLS:
        columns = fits.control(found, name)
        assert set(columns) == {"p_value", "span", *fits.ALTERNATIVES}
        assert len(columns["p_value"]) == len(found["alpha"]) == 17
        assert all(0 < p <= 1 for p in columns["p_value"])
    again = fits.fitted_spectra(networks["layers_removed"], "pooled", settings)
    again.pop("low"), again.pop("high"), found.pop("low"), found.pop("high")  # NaN without resamples
    assert found == again


def test_spans_are_those_of_the_exponents(networks):
    columns = fits.stored_fits()["dense"]["pooled"]
    report = networks["dense"].report(SpectraOptions(DensityOptions("pooled"), alternatives=()))
    expected = [row.lambda_max / row.x_min for row in report.spectra if row.ok]
    np.testing.assert_allclose(columns["span"], expected, rtol=1e-5)


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
