import numpy as np
import pytest

from capcore.architectures import Hierarchical, Linear
from capcore.constraints import ConstraintSpace
from capcore.optimum import Problem, fit
from capcore.processes import FAMILIES, PowerLaw
from chapters.gaussian_prediction.response import (
    error_scale,
    measured_responses,
    probe_moves,
    response_bounds,
    response_experiment,
    response_matrix,
)


def trained(channels, process=None, n_layers=5):
    arch = Hierarchical(channels, n_layers)
    problem = Problem.of(arch, process or PowerLaw())
    params = fit(arch, problem).params
    return arch, params, problem, ConstraintSpace.from_columns(problem.covariance @ arch.jacobian(params))


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("family", ["PowerLaw", "FractionalGaussianNoise", "RationalQuadratic"])
def test_only_moves_inside_the_constraint_space_are_seen(channels, family):
    arch, params, problem, space = trained(channels, FAMILIES[family]())
    matrix = response_matrix(arch, params, problem)
    values = np.linalg.svd(matrix, compute_uv=False)
    assert np.linalg.norm(matrix - matrix @ space.basis @ space.basis.T) < 1e-10 * values[0]
    assert values[space.dimension - 1] > 0.5 and values[space.dimension] < 1e-10
    tangent = ConstraintSpace.from_columns(arch.jacobian(params)).basis
    assert np.linalg.norm(matrix - tangent @ tangent.T @ matrix) < 1e-10 * values[0]


@pytest.mark.parametrize("channels", [1, 2])
def test_the_closed_form_is_what_refitting_measures(channels, rng):
    """The step is large enough for rounding and small enough for its square: four digits are left."""
    arch, params, problem, space = trained(channels)
    moves = np.stack(list(probe_moves(space, rng).values()), axis=1)
    step = 0.03 * error_scale(arch.coefficients(params), problem)
    measured = measured_responses(arch, params, problem, moves, step, rng=rng)
    assert np.allclose(measured, response_matrix(arch, params, problem) @ moves, atol=1e-4)


def test_for_a_linear_model_it_is_the_oblique_projector(rng):
    arch = Linear(rng.normal(size=(7, 3)))
    problem = Problem.of(arch, PowerLaw())
    b, covariance = arch.basis, problem.covariance
    expected = b @ np.linalg.solve(b.T @ covariance @ b, b.T @ covariance)
    assert np.allclose(response_matrix(arch, fit(arch, problem).params, problem), expected)


@pytest.mark.parametrize("channels", [1, 2])
def test_the_experiment_separates_the_moves(channels):
    arch, params, problem, _ = trained(channels)
    curves = response_experiment(arch, params, problem, [0.1, 1.0], rng=1)
    assert list(curves) == ["generic", "inside 𝒦", "orthogonal to 𝒦", "none (control)"]
    assert np.all(curves["inside 𝒦"] > 0.5) and np.all(curves["generic"] > 0.2)
    # What refitting scatters: the square root of rounding, over the step.
    assert np.all(curves["orthogonal to 𝒦"] < 1e-6) and np.all(curves["none (control)"] < 1e-6)


def test_capacity_bounds_the_response_to_each_input():
    arch, params, problem, space = trained(2)
    matrix = response_matrix(arch, params, problem)
    low, high = response_bounds(matrix, space.dimension)
    ratios = np.square(matrix).sum(axis=0) / space.per_input()
    assert low * (1 - 1e-9) <= ratios.min() and ratios.max() <= high * (1 + 1e-9)


def test_moves_are_what_they_are_called(rng):
    space = ConstraintSpace.from_columns(rng.normal(size=(6, 2)))
    moves = probe_moves(space, rng)
    assert np.allclose([np.linalg.norm(move) for move in moves.values()], 1)
    assert np.allclose(space.along(np.stack([moves["inside 𝒦"], moves["orthogonal to 𝒦"]], axis=1)), [1, 0])
    assert "orthogonal to 𝒦" not in probe_moves(ConstraintSpace.from_columns(np.eye(3)), rng)


def test_an_attained_target_still_has_a_scale():
    arch, params, problem, _ = trained(16, n_layers=3)
    assert np.isclose(error_scale(arch.coefficients(params), problem), 1e-6 * np.linalg.norm(problem.target))


def test_moves_must_be_columns(rng):
    arch, params, problem, _ = trained(1, n_layers=3)
    with pytest.raises(ValueError, match="moves: found an array of shape"):
        measured_responses(arch, params, problem, np.zeros(8), 0.1)
