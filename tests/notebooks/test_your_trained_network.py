"""The chapter on one's own trained network with other parameters, and with those that it must refuse."""

import re

import pytest

from tests.notebooks.conftest import said

NAME = "your_trained_network"


@pytest.mark.parametrize(
    "parameters",
    [{"width": 4, "n_images": 100, "decay": 3.0, "seed": 2}, {"width": 2, "n_images": 120}],
    ids=str,
)
def test_it_runs_with_other_parameters(run, parameters):
    text = said(run(NAME, **parameters))
    size = 64 * parameters["width"] + parameters["width"] + 10 * parameters["width"] + 10
    (total,) = re.findall(rf"of {size:,} parameters (\d+) count", text)
    assert 0 < int(total) < size


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("width: found 1, expected a whole number of at least 2", {"width": 1}),
        ("n_images: found 10, expected between 100 and 1437", {"n_images": 10}),
        ("n_images: found 1500, expected between", {"n_images": 1500}),
        ("decay: found 0, expected above 0", {"decay": 0.0}),
        ("decay: found .*nan", {"decay": float("nan")}),
        ("seed: found -1", {"seed": -1}),
        ("decays: not a parameter.*Did you mean 'decay'", {"decays": 1.0}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
