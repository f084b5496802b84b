"""The chapter on frequencies with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "frequency_allocation"
FAST = {"channels": [1, 2], "longest": 6, "n_draws": 3}
VARIANTS = {
    "another process": {"process": "RationalQuadratic", "process_parameters": {"scale": 1.5}},
    "an attained target": {"process": "AR1"},
    "the shortest window": {"n_layers": 4},
    "one channel": {"channels": [1]},
    "a list of channels": {"channels": [[1, 2, 2, 2, 2]]},
    "another seed": {"seed": 3},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **{**FAST, **parameters}))
    assert set(values) == {"P1.45.sum", "P1.45.cleaner", "P1.45.families", "P1.45.stationary"}
    assert values["P1.45.sum"] <= 1e-9


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("n_layers: found 3, expected a whole number of at least 4", {"n_layers": 3}),
        ("longest: found 5, expected a whole number of at least 6", {"longest": 5}),
        ("n_draws: found 0", {"n_draws": 0}),
        ("seed: found -1", {"seed": -1}),
        ("channels: found 4, expected a non-empty list", {"channels": 4}),
        ("channels: found 0", {"channels": [0]}),
        ("channels: found only models with full capacity", {"channels": [8]}),
        ("hurst: found 2", {"process": "FractionalGaussianNoise", "process_parameters": {"hurst": 2}}),
        ("process: found 'PowrLaw'.*Did you mean 'PowerLaw'", {"process": "PowrLaw"}),
        ("longes: not a parameter.*Did you mean 'longest'", {"longes": 7}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
