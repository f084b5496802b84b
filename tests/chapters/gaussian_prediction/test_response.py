"""How an optimum responds to a moved target, and the recursion of its autocorrelation error."""

import numpy as np
import pytest

from capcore.architectures import Hierarchical, Linear
from capcore.capacity.constraints import ConstraintSpace
from capcore.fitting.optimum import fit
from capcore.processes import AR1, FAMILIES, PowerLaw
from capcore.processes.problem import Problem
from chapters.gaussian_prediction.response import (
    answers,
    autocorrelation_error,
    error_scale,
    measured_responses,
    model_autocorrelation,
    probe_moves,
    response_bounds,
    response_matrix,
    visible_errors,
)
from chapters.shared.survey import case


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
def test_moves_across_are_no_more_than_what_refitting_scatters(channels, rng):
    arch, params, problem, space = trained(channels)
    moves = probe_moves(space, rng)
    columns = np.stack([*moves.values(), np.zeros(problem.target.size)], axis=1)
    step = 0.1 * error_scale(arch.coefficients(params), problem)
    generic, inside, across, control = np.linalg.norm(
        measured_responses(arch, params, problem, columns, step, rng=rng), axis=0
    )
    assert inside > 0.5 and generic > 0.2
    assert across < 1e-6 and control < 1e-6  # the square root of rounding, over the step


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


def test_it_solves_the_recursion_of_the_model(rng):
    coefficients = rng.normal(size=5) / 10
    c = model_autocorrelation(coefficients, 12)
    assert c[0] == 1
    for k in range(1, 12):
        assert np.isclose(c[k], sum(coefficients[j] * c[abs(k - j - 1)] for j in range(5)))


@pytest.mark.parametrize("family", ["PowerLaw", "FractionalGaussianNoise", "DampedCosine"])
def test_the_source_of_the_error_is_the_covariance_times_the_coefficient_error(family):
    process, arch = FAMILIES[family](), Hierarchical(1, n_layers=5)
    coefficients = fit(arch, process).coefficients
    found = autocorrelation_error(coefficients, process)
    by_hand = [
        found.error[k] - sum(coefficients[j] * found.error[abs(k - j - 1)] for j in range(32)) for k in range(1, 33)
    ]
    assert found.error[0] == 0
    assert np.allclose(found.residual, by_hand, atol=1e-14)
    assert found.relative_residual > 1e-3  # so E does not solve the homogeneous system
    assert found.relative_residual_with_source < 1e-10


def test_the_homogeneous_system_has_only_the_zero_solution(rng):
    """With E₀ = 0 the recursion E_k = Σ Â_j E_|k−j| at lags 1 … n forces E = 0 for a stable model."""
    a = rng.normal(size=6) / 10
    system = np.eye(7)
    for k in range(1, 7):
        for j in range(6):
            system[k, abs(k - j - 1)] -= a[j]
    assert np.linalg.matrix_rank(system) == 7


def test_unstable_and_perfect_models_are_left_out():
    models = [([0.9], AR1(0.9)), ([1.2], AR1(0.9)), ([0.8], AR1(0.9))]
    assert [round(error.size, 6) for error in visible_errors(models)] == [0.1]
    with pytest.raises(ValueError, match="unstable"):
        autocorrelation_error([1.2], PowerLaw())


def test_capacity_answers_input_by_input():
    trained = case(arch := Hierarchical(2, n_layers=4), PowerLaw())
    found = answers(arch, trained)
    assert np.allclose(found.squares, np.linalg.norm(found.matrix, axis=0) ** 2)
    assert np.all(found.bounds[0] * found.capacities <= found.squares * (1 + 1e-9))
    assert np.all(found.squares <= found.bounds[1] * found.capacities * (1 + 1e-9))
