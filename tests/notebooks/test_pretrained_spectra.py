"""The chapter on pretrained networks with other parameters, and with parameters that it must refuse."""

import pytest

DRAWN = {}


@pytest.mark.parametrize("parameters", [{"fewest": 128}], ids=["larger layers"])
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(**parameters))
    assert len(values) == 40 and {name.split(".")[1] for name in values} == {"01", "02"}
    assert values["P3.02.slices"] == pytest.approx(0.656, abs=0.002)  # of residual networks: as on their own page
    assert values["P3.01.exponential_control"] < -0.2
    assert values["P3.02.gaussian"] == pytest.approx(0.72, abs=0.03)
    assert 0.6 < values["P3.02.pretrained_pooled"] < 0.9  # of all layers, whichever are drawn


def test_it_refuses_layers_without_a_spectrum(refused):
    refused("fewest", fewest=5)
