"""The chapter on redundancy with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "layer_redundancy"
FAST = {"channels": [2], "n_layers": 4, "guided": [2, 4, 2], "shown_channels": [1, 2], "n_subsets": 12, "n_values": 20}
FASTER = {**FAST, "n_draws": 2, "n_starts": 2, "uniform": 3}
VARIANTS = {
    "another process": {"process": "DampedCosine"},
    "an attained target": {"process": "AR1"},
    "one exponential": {"process": "RationalQuadratic", "process_parameters": {"scale": 1.0}},
    "nothing redundant": {"channels": [1], "shown_channels": [1]},
    "two layers": {"n_layers": 2, "guided": [2], "seed": 4},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **{**FASTER, **parameters}))
    assert {name.split(".")[1] for name in values} == {"41", "42", "43", "44"}
    assert values["P1.41.mismatches"] == 0
    assert values["P1.42.smallest"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("n_layers: found 0", {"n_layers": 0}),
        ("the arguments disagree", {"guided": [2, 4]}),
        ("channels: found 0", {"channels": [0]}),
        ("found 0, expected a whole number of at least 1", {"n_draws": 0}),
        ("seed: found -1", {"seed": -1}),
        ("exponent: found -0.5", {"process_parameters": {"exponent": -0.5}}),
        ("process: found 'PowerLaws'.*Did you mean 'PowerLaw'", {"process": "PowerLaws"}),
        ("n_draw: not a parameter.*Did you mean 'n_draws'", {"n_draw": 4}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
