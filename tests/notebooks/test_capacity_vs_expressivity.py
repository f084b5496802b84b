"""The chapter on capacity and expressivity with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "capacity_vs_expressivity"
FAST = {"channels": 1}
VARIANTS = {
    "one channel": {},
    "few examples": {"n_examples": 64, "channels": 2, "seed": 3},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **{**FAST, **parameters}))
    assert {name.split(".")[1] for name in values} == {"01", "02"}
    assert values["N2.01.invariant_orbits"] == 0 and values["N2.02.linear_totals"] == 0


def test_its_figures_are_drawn(drawn):
    drawn(NAME, **FAST)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("channels: found 0", {"channels": 0}),
        ("n_examples: found 10, expected a whole number of at least 64", {"n_examples": 10}),
        ("seed: found -1", {"seed": -1}),
        ("channel: not a parameter.*Did you mean 'channels'", {"channel": 2}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
