"""Fits of the shipped spectra: the stored ones come out again, and their shares are what they say."""

import numpy as np
import pytest

from capcore.spectra import DensityOptions, SpectraOptions, goodness_of_fit, layer_generator
from chapters import stored as results
from chapters.spectra_resnets import resnet_fits as study
from chapters.spectra_resnets.stored_spectra import stored_networks
from chapters.stored import stored


@pytest.fixture(scope="module")
def networks():
    return stored_networks()


def test_the_stored_fits_come_out_again(networks):
    """Exponents of a whole network, and the full tests of its smallest layer."""
    before = study.stored_fits()["resnet20"]
    brief = study.fitted_spectra(
        networks["resnet20"], "slices", {**study.SETTINGS, "n_simulations": 1, "n_resamples": 0}
    )
    for name in ("name", "n_tail", *study.ALTERNATIVES):
        assert brief[name] == before["slices"][name]
    np.testing.assert_allclose(brief["alpha"], before["slices"]["alpha"], rtol=1e-5)
    (density,) = (d for d in networks["resnet20"].densities() if d.name == "linear.weight")
    rng = layer_generator(0, density.name, "goodness of fit")
    found = goodness_of_fit(density.eigenvalues, rng, n_simulations=999).p_value
    assert found == pytest.approx(before["slices"]["p_value"][before["slices"]["name"].index(density.name)], abs=0.002)


def test_fits_of_other_spectra_are_refused(monkeypatch):
    content = stored("resnet_fits")
    assert content["settings"]["spectra"] == stored("resnet_spectra")["values"]["arrays_sha256"]
    with pytest.raises(results.StaleResultsError, match=r"made from spectra .* Make it again"):
        study.stored_fits({"values": {"arrays_sha256": "0" * 64}})


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
    assert study.shares(columns) == {**expected, "inside": 0.5}
    controls = {f"law {name}": column for name, column in columns.items() if name not in ("low", "high")}
    found = study.shares(study.control(controls, "law"))
    assert np.isnan(found.pop("inside")) and found == expected


def test_columns_of_networks_are_joined():
    part = {"slices": {"name": ["a"], "alpha": [2.0]}}
    found = study.gathered({"x": part, "y": part}, ["x", "y"], "slices")
    assert found["alpha"].tolist() == [2.0, 2.0] and "name" not in found


def test_controls_are_drawn_for_every_spectrum_and_seeded(networks):
    settings = {**study.SETTINGS, "n_simulations": 19, "n_resamples": 0}
    found = study.fitted_spectra(networks["layers_removed"], "pooled", settings)
    for name in study.CONTROLS:
        columns = study.control(found, name)
        assert set(columns) == {"p_value", "span", *study.ALTERNATIVES}
        assert len(columns["p_value"]) == len(found["alpha"]) == 17
        assert all(0 < p <= 1 for p in columns["p_value"])
    again = study.fitted_spectra(networks["layers_removed"], "pooled", settings)
    again.pop("low"), again.pop("high"), found.pop("low"), found.pop("high")  # NaN without resamples
    assert found == again


def test_spans_are_those_of_the_exponents(networks):
    columns = study.stored_fits()["dense"]["pooled"]
    report = networks["dense"].report(SpectraOptions(DensityOptions("pooled"), alternatives=()))
    expected = [row.lambda_max / row.x_min for row in report.spectra if row.ok]
    np.testing.assert_allclose(columns["span"], expected, rtol=1e-5)
