"""Values of claims from small networks: those that the page on these networks showed, and of every check."""

import pytest

from chapters.claims import load
from chapters.spectra_resnets import fits, judged, large


@pytest.fixture(scope="module")
def power_laws():
    return judged.of_power_laws()


@pytest.fixture(scope="module")
def ranges():
    return judged.of_range()


def test_every_check_that_is_not_about_pretrained_networks_has_a_value(power_laws, ranges):
    for claim, values in (("P3.01", power_laws), ("P3.02", ranges)):
        names = {check.name for check in load()[claim].checks if not check.name.startswith("pretrained_")}
        assert names == values.keys()


def test_shares_of_tests_are_those_of_the_stored_fits(power_laws, ranges):
    content = fits.stored_fits()
    keys = [key for key in content if key != "chance_level"]
    assert len(keys) == 10
    for name, value in (("slices", power_laws["slices"]), ("pooled", power_laws["pooled"])):
        p_values = [p for key in keys for p in content[key][name]["p_value"]]
        assert value == pytest.approx(sum(p > 0.1 for p in p_values) / len(p_values))
    alphas = [alpha for key in keys for alpha in content[key]["slices"]["alpha"]]
    assert ranges["slices"] == pytest.approx(sum(2 <= alpha <= 5 for alpha in alphas) / len(alphas))


def test_they_are_as_they_were_when_the_claims_were_judged_first(power_laws, ranges):
    """Recorded in the third edition, before pretrained networks were analysed."""
    assert ranges["slices"] == pytest.approx(0.6555, abs=1e-3) and ranges["pooled"] == pytest.approx(0.6825, abs=1e-3)
    assert ranges["shuffled_pooled"] == pytest.approx(0.2823, abs=1e-3) and ranges["gaussian"] == pytest.approx(0.72)
    assert power_laws["fits_control"] == pytest.approx(-0.2007, abs=1e-3)
    assert power_laws["exponential_control"] == pytest.approx(-0.3266, abs=1e-3)


def test_large_layers_are_those_of_their_table(power_laws, ranges):
    assert power_laws["large"] == large.answers(large.stored_table(), "P3.01")["large"]
    assert ranges["large_targets"] == large.smaller(large.stored_table())
