"""The stored responses of 64 coefficients: those of the package, within their bounds, and found by training again."""

import numpy as np
import pytest

from capcore import Hierarchical, PowerLaw
from chapters.gaussian_prediction import response
from chapters.kit.stored import stored
from chapters.shared.survey import case


@pytest.fixture(scope="module")
def models():
    return stored("optimum_responses")["values"]


@pytest.mark.parametrize("label", ["1 channel", "2 channels", "4 channels"])
def test_squared_moves_lie_between_the_bounds_and_are_those_of_the_columns(models, label):
    found = models[label]
    capacities, squares, (low, high) = (np.array(found[name]) for name in ("capacities", "squares", "bounds"))
    assert capacities.sum() == pytest.approx(found["total"], abs=1e-4)
    assert np.all(low * capacities <= squares * 1.0001) and np.all(squares <= high * capacities * 1.0001)
    assert np.allclose(np.square(found["columns"]).sum(axis=1), squares, atol=2e-3)


def test_training_again_moves_the_coefficients_as_stored(models):
    """Ten inputs, each target moved by a third of the error's length both ways."""
    arch = Hierarchical(1, n_layers=6)
    trained = case(arch, PowerLaw())
    lags = [0, 1, 2, 3, 5, 8, 12, 20, 33, 63]
    length = 0.1 * response.error_scale(trained.fit.coefficients, trained.problem)
    moved = response.measured_responses(arch, trained.fit.params, trained.problem, np.eye(64)[:, lags], length)
    assert np.allclose(moved.T, np.array(models["1 channel"]["columns"])[lags], atol=2e-3)
