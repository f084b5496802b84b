"""The chapter on receptive fields with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "receptive_field"
FAST = {"deepest": 128, "network_depth": 32, "draws": 4, "wide": 12}
VARIANTS = {
    "larger squared weights": {"jump": 0.5, "network_jump": 0.25},
    "more jumps": {"rate": 4.0, "deepest": 32},
    "one channel": {"channels": 1},
    "other draws": {"seed": 7, "draws": 2},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **{**FAST, **parameters}))
    assert len(values) == 12
    assert values["P2.04.fixed_exponent"] == pytest.approx(0.5)
    assert values["P2.04.scaled_exponent"] == pytest.approx(0, abs=1e-9)


def test_its_figures_are_drawn(drawn):
    drawn(NAME, **FAST)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("deepest: found 16, expected at least 32 layers", {"deepest": 16}),
        ("deepest: found 0", {"deepest": 0}),
        ("jump: found 0.7, expected more than 0 and at most ½", {"jump": 0.7}),
        ("jump: found 1, expected more than 0 and less than 1", {"network_jump": 1.0}),
        ("network_depth|deepest: found 4", {"network_depth": 4}),
        ("rates: found jumps at a total rate of 20", {"rate": 10.0}),
        ("rate: found 'much'", {"rate": "much"}),
        ("channels: found 0", {"channels": 0}),
        ("draws: found 1, expected a whole number of at least 2", {"draws": 1}),
        ("wide: found -3", {"wide": -3}),
        ("seed: found -1", {"seed": -1}),
        ("deepests: not a parameter.*Did you mean 'deepest'", {"deepests": 64}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
