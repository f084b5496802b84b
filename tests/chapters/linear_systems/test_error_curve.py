import numpy as np
import pytest

from capcore.processes import FAMILIES, FractionalGaussianNoise
from chapters.linear_systems.study import error_curve

families = pytest.mark.parametrize("family", FAMILIES)


@families
def test_the_optimum_is_the_lowest_point_and_a_crossing(family):
    curve = error_curve(FAMILIES[family]())
    assert curve.losses(curve.optimum)[0] <= curve.losses(np.linspace(-2, 3, 5001)).min() + 1e-12
    assert np.abs(curve.crossings - curve.optimum).min() < 1e-5
    assert np.allclose(curve.constrained(curve.crossings), 0, atol=1e-9)
    assert curve.other_crossings.size == curve.crossings.size - 1


@families
def test_losses_are_quadratic_forms_and_slopes_their_derivatives(family):
    curve = error_curve(FAMILIES[family]())
    alphas, step = np.linspace(-0.5, 1.5, 7), 1e-6
    errors = curve.errors(alphas)
    assert np.allclose(curve.losses(alphas), np.sum(errors * (errors @ curve.problem.covariance), axis=1))
    difference = (curve.losses(alphas + step) - curve.losses(alphas - step)) / (2 * step)
    assert np.allclose(curve.slopes(alphas), difference, atol=1e-7)


@families
def test_the_constraint_is_the_gradient_of_no_direction_of_the_model(family):
    """At the optimum the loss falls in no direction of the curve: J·ΣX = 0."""
    curve = error_curve(FAMILIES[family]())
    gradient = curve.problem.covariance @ curve.errors(curve.optimum)[0]
    assert abs(curve.arch.jacobian([curve.optimum])[:, 0] @ gradient) < 1e-6


@families
def test_crossings_in_use_are_those_between_zero_and_one(family):
    curve = error_curve(FAMILIES[family]())
    expected = [alpha for alpha in curve.crossings if 0 <= alpha <= 1]
    assert curve.crossings_in_use.tolist() == expected


def test_white_noise_is_best_forecast_by_zero():
    curve = error_curve(FractionalGaussianNoise(0.5))
    assert curve.optimum == pytest.approx(0, abs=1e-8)


def test_no_points_give_no_errors():
    curve = error_curve(FAMILIES["PowerLaw"]())
    assert curve.errors([]).shape == (0, 2)
    assert curve.losses([]).shape == (0,)
