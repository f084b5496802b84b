"""The chapter on errors with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "hierarchical_errors"
FAST = {"n_runs": 2, "max_iterations": 50, "n_converged": 2}
VARIANTS = {
    "another process": {"process": "FractionalGaussianNoise", "process_parameters": {"hurst": 0.9}},
    "three layers of kernel size 3": {"n_layers": 3, "kernel_size": 3},
    "one channel": {"channels": 1},
    "a list of channels, at full capacity": {"channels": [2, 3], "n_layers": 3},
    "a sweep with a list": {"n_layers": 3, "channel_sweep": [1, [2, 3]], "channels": 1},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **FAST, **parameters))
    assert {name.split(".")[1] for name in values} == {"22", "23", "39", "50"}
    assert 0 <= values["P1.22.distance_inputs"] <= 1


def test_the_stored_runs_are_not_shown_for_another_model(run, recorded):
    default, other = (recorded(run(NAME, **FAST, **more)) for more in ({}, {"channels": 3}))
    assert default["P1.22.distance_inputs"] != other["P1.22.distance_inputs"]
    assert default["P1.22.families"] == other["P1.22.families"]


def test_an_attained_target_records_no_error_statistics(drawn, recorded):
    values = recorded(drawn(NAME, process="AR1", **FAST))
    assert {name.split(".")[1] for name in values} == {"22", "23", "39", "50"}
    assert "P1.39.short_long_ratio" not in values and "P1.50.difficulty_correlation" not in values


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("n_layers: found 0", {"n_layers": 0}),
        ("exponent: found -0.5", {"process_parameters": {"exponent": -0.5}}),
        ("process: found 'AR2'", {"process": "AR2"}),
        ("n_run: not a parameter.*Did you mean 'n_runs'", {"n_run": 4}),
        ("n_runs: found 1, expected a whole number of at least 2", {"n_runs": 1}),
        ("max_iterations: found 0", {"max_iterations": 0}),
        (r"channels: found 0|channels\[", {"channel_sweep": [0]}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
