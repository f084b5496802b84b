"""The chapter on training and every measure with other parameters."""

import pytest

from tests.notebooks.conftest import said

NAME = "along_training"
VARIANTS = {
    "few images": {"n_images": 40},
    "another network": {"activation": "relu", "width": 5, "seed": 7, "n_images": 60},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, parameters):
    text = said(run(NAME, **parameters))
    assert "in 125 of 150 stored networks" in text and "18 of the 18 correlations" in text  # of the stored networks


def test_its_figures_are_drawn(drawn):
    drawn(NAME, n_images=40, width=3)
