"""The chapter on one's own trained network with other parameters."""

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
