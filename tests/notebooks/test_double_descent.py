"""The chapter on effective model complexity with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "double_descent"
FAST = {"n_seeds": 2, "n_draws": 20, "n_train": 60}
VARIANTS = {
    "more images": {"n_train": 120},
    "all labels wrong": {"wrong": 1.0},
    "right labels only, another seed": {"wrong": 0.0, "seed": 5},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **{**FAST, **parameters}))
    assert len(values) == 16 and all(name.startswith("S4.07.") for name in values)
    assert values["S4.07.least_squares"] == values["S4.07.random_features"] == values["S4.07.title"] == 0
    assert values["S4.07.cover"] == [10, 20, 40, 80]
    assert 0.9 <= values["S4.07.peak"] <= 1.1 and values["S4.07.zero_one"] < 1


def test_the_figures_are_drawn(drawn):
    drawn(NAME, **FAST)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("n_train: found 20, expected a whole number of at least 40", {"n_train": 20}),
        ("n_train, wrong: found 1700 and 0.2, expected at most 800", {"n_train": 1700}),
        ("n_train, wrong: found 200 and 1.5", {"wrong": 1.5}),
        ("n_seeds: found 1, expected a whole number of at least 2", {"n_seeds": 1}),
        ("n_draws: found 3", {"n_draws": 3}),
        ("n_seed: not a parameter.*Did you mean 'n_seeds'", {"n_seed": 5}),
        ("seed: found -1", {"seed": -1}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
