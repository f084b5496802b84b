"""The idea in ten minutes with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "idea"
VARIANTS = {
    "everything else": {"correlation": -0.5, "channels": 4, "process": "RationalQuadratic"},
    "full capacity": {"channels": 8},
    "a low-rank target": {"process": "AR1"},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, parameters):
    assert run(NAME, **parameters)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("correlation: found 1, expected a number between -1 and 1", {"correlation": 1.0}),
        ("channels: found 0", {"channels": 0}),
        ("process: found 'PowrLaw'.*Did you mean 'PowerLaw'", {"process": "PowrLaw"}),
        ("chanels: not a parameter.*Did you mean 'channels'", {"chanels": 2}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
