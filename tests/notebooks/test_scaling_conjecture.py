"""The chapter on the scaling conjecture with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "scaling_conjecture"
FAST = {"deepest": 128, "width": 8, "n_draws": 4, "task": "none"}
VARIANTS = {
    "few channels and draws": {},
    "two draws": {"n_draws": 2},
    "another seed": {"seed": 5, "width": 16},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **{**FAST, **parameters}))
    assert values["P2.05.grows"] > 10 > values["P2.05.finite_half"]
    assert {name.split(".")[1] for name in values} == {"05", "06", "19"}
    assert values["P2.06.degenerate"] > 0.99 > values["P2.06.larger"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"task": "transport", "block": "tanh", "n_layers": 4},
        {"task": "digits", "block": "relu", "n_layers": 2, "exponent": 0.6},
    ],
    ids=["transport", "an exponent that is not stored"],
)
def test_it_trains_another_network(run, recorded, parameters):
    assert "P2.06.trains" in recorded(run(NAME, **{**FAST, **parameters}))


def test_its_figures_are_drawn(drawn):
    drawn(NAME, **FAST)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("deepest: found 100, expected a whole number of at least 128", {"deepest": 100}),
        ("deepest: found 200, expected a power of two", {"deepest": 200}),
        ("width: found 0", {"width": 0}),
        ("n_draws: found 1, expected a whole number of at least 2", {"n_draws": 1}),
        ("task: found 'digit'.*Did you mean 'digits'", {"task": "digit"}),
        ("block: found 'two_layer'.*Did you mean 'two-layer'", {"block": "two_layer"}),
        ("n_layers: found 0", {"n_layers": 0}),
        ("distance: found 4, expected at most the number of layers, 3", {"task": "transport", "n_layers": 3}),
        ("exponent: found 'half'", {"exponent": "half"}),
        ("seed: found -1", {"seed": -1}),
        ("layers: not a parameter.*Did you mean 'n_layers'", {"layers": 8}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
