"""The chapter on where trained networks spend capacity with other parameters, and with those that it must refuse."""

import pytest

from tests.notebooks.conftest import said

NAME = "trained_capacity"


@pytest.mark.parametrize(
    "parameters",
    [
        {"source": "damped cosine", "warped": False, "units": "gated", "n_examples": 200, "seed": 3},
        {"n_examples": 200},
    ],
    ids=str,
)
def test_it_runs_with_other_parameters(run, parameters):
    assert "cases and" in said(run(NAME, **parameters))


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("source: found 'AR1', expected one of", {"source": "AR1"}),
        ("units: found 'relu', expected one of", {"units": "relu"}),
        ("n_examples: found 100, expected a whole number of at least 200", {"n_examples": 100}),
        ("seed: found -1", {"seed": -1}),
        ("unit: not a parameter.*Did you mean 'units'", {"unit": "tanh"}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
