"""The chapter on training and every measure with other parameters, and with parameters that it must refuse."""

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


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("activation: found 'sigmoid', expected one of", {"activation": "sigmoid"}),
        ("width: found 0", {"width": 0}),
        ("n_images: found 10, expected a whole number of at least 20", {"n_images": 10}),
        ("n_images: found 1500, expected at most 1437", {"n_images": 1500}),
        ("seed: found -1", {"seed": -1}),
        ("images: not a parameter.*Did you mean 'n_images'", {"images": 5}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
