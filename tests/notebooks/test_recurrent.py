"""The chapter on recurrent models with other parameters, and with parameters that it must refuse."""

import pytest

from tests.notebooks.conftest import said

NAME = "recurrent"
FAST = {"channels": [1, 2, 4], "profile_channels": [1, 2], "law_channels": 3, "many": 4, "digits": 60, "n_runs": 1}
VARIANTS = {
    "another process": {"process": "FractionalGaussianNoise", "process_parameters": {"hurst": 0.6}, "n_inputs": 32},
    "an attained target": {"process": "AR1", "n_inputs": 24},
    "one that oscillates": {"process": "DampedCosine", "n_inputs": 16, "seed": 3},
    "five inputs, more channels than inputs": {"n_inputs": 5, "channels": [8, 1, 2]},
    "as few inputs as it takes, one model": {"n_inputs": 4, "channels": [3], "profile_channels": [3]},
    "many channels": {"n_inputs": 16, "channels": [2, 40], "many": 40, "n_runs": 3, "law_channels": 1},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **{**FAST, **parameters}))
    assert {name.split(".")[1] for name in values} == {"28", "29", "30"}
    n = parameters["n_inputs"]
    assert values["P1.28.parameters"] == [3]
    channels = sorted(parameters.get("channels", FAST["channels"]))
    assert values["P1.28.capacity"] == [min(2 * c, n) for c in channels]


def test_what_it_says_is_true_of_an_attained_target(run):
    text = said(run(NAME, **{**FAST, **VARIANTS["an attained target"]}))
    assert "too few losses are above zero to tell the laws apart" in text and "They do." not in text
    assert "Process: AR(1), φ 0.9; 24 inputs" in text and "power law, exponent" not in text


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("n_inputs: found 1, expected a whole number of at least 4", {"n_inputs": 1}),
        ("n_inputs: found 64.0", {"n_inputs": 64.0}),
        ("channels: found 0", {"channels": [0]}),
        (r"channels: found 4, expected a non-empty list such as \[1, 2, 4\]", {"channels": 4}),
        (r"profile_channels: found \[\]", {"profile_channels": []}),
        ("exponent: found -0.5", {"process_parameters": {"exponent": -0.5}}),
        ("process: found 'PowrLaw'.*Did you mean 'PowerLaw'", {"process": "PowrLaw"}),
        ("chanels: not a parameter.*Did you mean 'channels'", {"chanels": [4]}),
        ("digits: found 20, expected a whole number of at least 50", {"digits": 20}),
        ("many: found 0", {"many": 0}),
        ("law_channels: found 0", {"law_channels": 0}),
        ("n_runs: found 0", {"n_runs": 0}),
        ("seed: found -1", {"seed": -1}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
