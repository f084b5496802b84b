"""The chapter on layers with other parameters."""

import pytest

FAST = {"n_draws": 3}
VARIANTS = {
    "another process": {"process": "RationalQuadratic", "process_parameters": {"scale": 1.5}},
    "an attained target": {"process": "AR1"},
    "three layers of kernel size 3": {"n_layers": 3, "kernel_size": 3},
    "a list of channels": {"channels_by_layer": [2, 3], "n_layers": 3},
    "many channels": {"channels": 8},
    "two layers": {"n_layers": 2, "seed": 3},
}


def test_it_runs_with_other_parameters(run, recorded, parameters):
    check(recorded(run(**FAST, **parameters)))


def check(values):
    """All checks are recorded, and those of algebra hold, whatever the parameters."""
    assert {name.split(".")[1] for name in values} == {"24", "25", "26", "27", "48"}
    assert values["P1.26.total_excess"] <= 1e-9
    assert values["P1.26.plane_excess"] == pytest.approx(0.5)


def test_the_exact_totals_are_those_of_the_parameters(drawn, recorded):
    """At one channel every layer adds one to those before it, so nothing is zero at the top."""
    values = recorded(drawn(channels=1, **FAST))
    check(values)
    assert values["P1.24.forward_top"] == 2 and values["P1.24.backward_bottom"] == 2
