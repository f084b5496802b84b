"""The chapter on where trained networks spend capacity with other parameters."""

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
