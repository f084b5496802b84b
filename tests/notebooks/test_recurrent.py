"""The chapter on recurrent models with other parameters."""

from tests.notebooks.conftest import said

FAST = {"channel_list": [1, 2, 4], "profile_channels": [1, 2], "law_channels": 3, "many": 4, "digits": 60, "n_runs": 1}
VARIANTS = {
    "another process": {"process": "FractionalGaussianNoise", "process_parameters": {"hurst": 0.6}, "n_inputs": 32},
    "an attained target": {"process": "AR1", "n_inputs": 24},
    "one that oscillates": {"process": "DampedCosine", "n_inputs": 16, "seed": 3},
    "five inputs, more channels than inputs": {"n_inputs": 5, "channel_list": [8, 1, 2]},
    "as few inputs as it takes, one model": {"n_inputs": 4, "channel_list": [3], "profile_channels": [3]},
    "many channels": {"n_inputs": 16, "channel_list": [2, 40], "many": 40, "n_runs": 3, "law_channels": 1},
}


def test_it_runs_with_other_parameters(values, parameters):
    assert {name.split(".")[1] for name in values} == {"28", "29", "30"}
    n = parameters["n_inputs"]
    assert values["P1.28.parameters"] == [3]
    channels = sorted(parameters.get("channel_list", FAST["channel_list"]))
    assert values["P1.28.capacity"] == [min(2 * c, n) for c in channels]


def test_what_it_says_is_true_of_an_attained_target(run):
    text = said(run(**{**FAST, **VARIANTS["an attained target"]}))
    assert "too few losses are above zero to tell the laws apart" in text and "They do." not in text
    assert "Process: AR(1), φ 0.9; 24 inputs" in text and "power law, exponent" not in text
