"""The chapter on training and every measure with other parameters."""

from tests.notebooks.conftest import said

VARIANTS = {
    "few images": {"n_images": 40},
    "another network": {"activation": "relu", "width": 5, "seed": 7, "n_images": 60},
}
DRAWN = {"n_images": 40, "width": 3}


def test_it_runs_with_other_parameters(run, parameters):
    text = said(run(**parameters))
    assert "keep the rank 1,368" in text and "18 of the 18 correlations" in text  # of the stored networks
