"""Error curves, models side by side, and the error of a trained model beside its capacity."""

import numpy as np
import pytest

from capcore.architectures import Hierarchical, Linear
from capcore.processes import AR1, FAMILIES, FractionalGaussianNoise, PowerLaw
from chapters.idea.study import line_model
from chapters.linear_systems.study import (
    allocate_all,
    error_curve,
    optimal_error,
    plane_to_explore,
    relative_squares,
)


def test_equal_totals_in_different_places():
    """Free weights on the six most recent and on the six oldest inputs are mirror images, since Σ is Toeplitz."""
    models = {"recent": Linear(np.eye(10)[:, :6]), "old": Linear(np.eye(10)[:, 4:])}
    recent, old = (alloc.per_input for alloc in allocate_all(models, PowerLaw()).values())
    assert recent.sum() == pytest.approx(6)
    assert np.allclose(recent, old[::-1])
    assert recent[0] > 0.9 > old[0]


def test_models_keep_their_labels_and_order():
    models = {"z": Hierarchical(1, 2), "a": Linear(np.eye(4)[:, :1])}
    allocs = allocate_all(models, AR1(0.5))
    assert list(allocs) == ["z", "a"]
    assert [alloc.total for alloc in allocs.values()] == [3, 1]


families = pytest.mark.parametrize("family", FAMILIES)


@families
def test_the_optimum_is_the_lowest_point_and_a_crossing(family):
    curve = error_curve(FAMILIES[family]())
    assert curve.losses(curve.optimum)[0] <= curve.losses(np.linspace(-2, 3, 5001)).min() + 1e-12
    assert np.abs(curve.crossings - curve.optimum).min() < 1e-5
    assert np.allclose(curve.constrained(curve.crossings), 0, atol=1e-9)
    assert curve.other_crossings.size == curve.crossings.size - 1


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


def test_shares_do_not_depend_on_the_scale():
    for scale in (1e-200, 1.0, 1e200):
        assert np.allclose(relative_squares(scale * np.array([3.0, 0.0, -4.0])), [0.36, 0.0, 0.64])


def test_no_error_has_no_shares():
    with pytest.raises(ValueError, match="found only zeros"):
        relative_squares(np.zeros(3))


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "AR1"])
def test_one_free_dimension_fixes_the_shares_of_a_trained_model(family):
    """Eq. 7 with κ = 3 of n = 4: equality, to the gradient that the optimiser leaves."""
    error = optimal_error(Hierarchical(channels=1, n_layers=2), FAMILIES[family]())
    assert error.total == 3
    assert np.allclose(error.shares, error.free, atol=1e-6)
    assert np.allclose(error.ratio, 1, atol=1e-3)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "AR1"])
@pytest.mark.parametrize("options", [{"n_layers": 6}, {"n_layers": 3, "kernel_size": 3}])
def test_no_share_exceeds_what_the_constraints_leave_free(family, options):
    error = optimal_error(Hierarchical(channels=1, **options), FAMILIES[family]())
    assert error.shares.sum() == pytest.approx(1)
    assert error.mean_shares.sum() == pytest.approx(1)
    assert error.ratio.max() <= 1.001


def test_an_attained_target_leaves_no_error():
    """AR(1): A* = (φ, 0, …) is a product of one kernel per layer."""
    assert optimal_error(Hierarchical(channels=1, n_layers=3), AR1()) is None
    assert optimal_error(Linear(np.eye(3)), PowerLaw()) is None


def test_a_fixed_input_has_no_error():
    """White inputs, free weights on the first two of four: capacity 1 and error 0 there."""
    error = optimal_error(Linear(np.eye(4)[:, :2]), PowerLaw(exponent=20.0))
    assert np.allclose(error.free, [0, 0, 1, 1], atol=1e-6)
    assert error.ratio.max() <= 1.001


def test_several_components_per_position_are_refused():
    with pytest.raises(ValueError, match="input_dim = 2"):
        optimal_error(Hierarchical(channels=1, n_layers=2, input_dim=2), PowerLaw())


def test_the_explorer_is_given_the_curve_as_polynomials_and_the_line_of_the_idea():
    curve = error_curve(PowerLaw())
    data = plane_to_explore(curve)
    smoothing, line = (np.array(model["powers"], dtype=float) for model in data["models"])
    for w in (-0.4, 0.0, 0.3, 1.2):
        assert np.allclose(smoothing @ [1, w, w**2], curve.arch.coefficients([w]))
    idea = line_model([2, 1], [1, 3], 0.0)
    assert np.allclose(line @ [1, 0.7], 0.7 * idea.direction)
    assert np.allclose(data["target"], curve.problem.target, atol=1e-6)
    assert data["correlation"] == pytest.approx(PowerLaw().autocovariance(2)[1], abs=0.005)
    assert plane_to_explore(error_curve(AR1(0.99)))["correlation"] == 0.95, "the slider ends there"
