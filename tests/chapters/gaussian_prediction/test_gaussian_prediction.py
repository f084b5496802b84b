"""Prediction, responses of an optimum, critical points, and counts by Gram matrices."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from capcore.architectures import Hierarchical, Linear
from capcore.capacity.constraints import ConstraintSpace
from capcore.fitting.optimum import fit
from capcore.processes import AR1, FAMILIES, AutoRegressive, PowerLaw
from capcore.processes.problem import Problem
from chapters.gaussian_prediction import response
from chapters.gaussian_prediction.optima import Curve, gradient, gradient_gap, stationarity
from chapters.gaussian_prediction.response import (
    answers,
    autocorrelation_error,
    error_scale,
    measured_responses,
    model_autocorrelation,
    probe_moves,
    response_matrix,
)
from chapters.gaussian_prediction.study import (
    constraint_matrix,
    count_directions,
    dense_predictor,
    error_variance,
    gram_eigenvalues,
    prediction_gaps,
    sampled_error,
)
from chapters.kit.stored import stored
from chapters.shared.survey import case
from tests.strategies import matrices


@pytest.fixture(scope="module")
def models():
    return stored("optimum_responses")["values"]


def test_training_again_moves_the_coefficients_as_stored(models):
    """Ten inputs, each target moved by a third of the error's length both ways."""
    arch = Hierarchical(1, n_layers=6)
    trained = case(arch, PowerLaw())
    lags = [0, 1, 2, 3, 5, 8, 12, 20, 33, 63]
    length = 0.1 * response.error_scale(trained.fit.coefficients, trained.problem)
    moved = response.measured_responses(arch, trained.fit.params, trained.problem, np.eye(64)[:, lags], length)
    assert np.allclose(moved.T, np.array(models["1 channel"]["columns"])[lags], atol=2e-3)


def test_eigenvalues_count_in_one_basis_of_the_channels_and_singular_values_in_all():
    arch, rng = Hierarchical(8, n_layers=6), np.random.default_rng(1)
    trained = case(arch, PowerLaw())
    kernels = [trained.fit.params[part].copy() for part in arch.layers.values()]
    assert count_directions(constraint_matrix(arch, np.concatenate(kernels), trained.problem)).by_eigenvalues == 64
    for l in range(5):
        change = np.linalg.qr(rng.normal(size=(8, 8)))[0] * np.geomspace(1, 100, 8)  # channels of unlike scales
        kernels[l] = (kernels[l].reshape(-1, 8) @ change).ravel()
        kernels[l + 1] = (np.linalg.inv(change) @ kernels[l + 1].reshape(8, -1)).ravel()
    params = np.concatenate(kernels)
    assert_allclose(arch.coefficients(params), trained.fit.coefficients, atol=1e-8)
    counts = count_directions(constraint_matrix(arch, params, trained.problem))
    assert counts.by_eigenvalues < counts.by_singular_values == 64


@pytest.fixture
def axes():
    fig, axes = plt.subplots(1, 2)
    yield axes
    fig.canvas.draw()  # labels and legends that cannot be drawn raise here
    plt.close(fig)


def drawn(ax):
    return [line.get_ydata() for line in ax.get_lines()]


EPS = np.finfo(float).eps


@given(matrices())
def test_gram_eigenvalues_are_squared_singular_values(matrix):
    singular = np.linalg.svd(matrix, compute_uv=False)
    expected = np.zeros(matrix.shape[0])
    expected[: singular.size] = singular**2
    assert_allclose(gram_eigenvalues(matrix), expected, atol=1e-12 * singular[0] ** 2)


def test_the_gram_matrix_loses_what_the_columns_show():
    # Two unit columns at an angle of 1e-9: independent, but their Gram matrix is ones to the last bit.
    matrix = np.array([[1.0, 1.0], [0.0, 1e-9], [0.0, 0.0]])
    assert ConstraintSpace.from_columns(matrix).dimension == 2
    values = gram_eigenvalues(matrix)
    assert np.count_nonzero(values > 3 * EPS * values[0]) == 1
    assert_allclose(ConstraintSpace.from_columns(matrix).per_input(), [1, 1, 0], atol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("channels", [1, 3])
def test_the_gradient_is_twice_the_constraints_on_the_error(family, channels, rng):
    arch = Hierarchical(channels, n_layers=4)
    problem = Problem.of(arch, FAMILIES[family]())
    params = arch.init(rng)
    error = arch.coefficients(params) - problem.target
    assert np.allclose(gradient(arch, params, problem), 2 * (problem.covariance @ arch.jacobian(params)).T @ error)
    assert gradient_gap(arch, params, problem) < 1e-7


def test_an_echo_has_two_local_optima_at_opposite_ends():
    arch = Hierarchical(1, n_layers=5)
    echo = Problem.of(arch, AutoRegressive(np.r_[0.5, np.zeros(30), 0.45]))
    near, *_, far = sorted((fit(arch, echo, start="random", rng=s) for s in range(8)), key=lambda run: run.loss)
    assert near.loss < 0.9 * far.loss
    assert stationarity(arch, near.params, echo) < 1e-6 and stationarity(arch, far.params, echo) < 1e-6
    assert np.argmax(near.coefficients) == 0 and np.argmax(far.coefficients) == 31


numbers = st.floats(-2, 2).map(lambda x: round(x, 3))


@given(a=numbers, b=st.floats(-2, 0.5).map(lambda x: round(x, 3)))
def test_a_parabola_with_one_critical_point_is_crossed_twice(a, b):
    """4w³ + (2 − 4b)w − 2a has one real root for b < ½; the second crossing lies at −ŵ − 1/(2ŵ)."""
    curve = Curve([[0, 1, 0], [0, 0, 1]], [a, b])
    if abs(curve.optimum) < 0.01:  # the constraint is then nearly parallel to the axis, the second crossing far away
        return
    assert curve.critical_points.size == 1
    expected = np.sort([curve.optimum, -curve.optimum - 1 / (2 * curve.optimum)])
    assert np.allclose(curve.crossings(curve.optimum), expected, rtol=1e-6)


@given(a=numbers, b=numbers)
def test_the_optimum_is_the_best_of_all_points(a, b):
    curve = Curve([[0, 1, 0], [0, 0, 1]], [a, b])
    w = np.linspace(-3, 3, 2001)
    losses = np.sum(np.square(curve.coefficients(w) - curve.target[:, None]), axis=0)
    assert curve.critical_points.size in (1, 2, 3)
    best = np.sum(np.square(curve.coefficients(curve.optimum) - curve.target))
    assert best <= losses.min() + 1e-12


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
    estimate = autocorrelation_error(coefficients, process)
    by_hand = [
        estimate.error[k] - sum(coefficients[j] * estimate.error[abs(k - j - 1)] for j in range(32))
        for k in range(1, 33)
    ]
    assert estimate.error[0] == 0
    assert np.allclose(estimate.residual, by_hand, atol=1e-14)
    assert estimate.relative_residual > 1e-3  # so E does not solve the homogeneous system
    assert estimate.relative_residual_with_source < 1e-10


def test_capacity_answers_input_by_input():
    trained = case(arch := Hierarchical(2, n_layers=4), PowerLaw())
    result = answers(arch, trained)
    assert np.allclose(result.squares, np.linalg.norm(result.matrix, axis=0) ** 2)
    assert np.all(result.bounds[0] * result.capacities <= result.squares * (1 + 1e-9))
    assert np.all(result.squares <= result.bounds[1] * result.capacities * (1 + 1e-9))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [1, 5, 32])
def test_levinson_and_dense_algebra_agree(family, n):
    process = FAMILIES[family]()
    target, variance = process.predictor(n)
    dense, dense_variance = dense_predictor(process, n)
    assert np.allclose(target, dense, atol=1e-12 * np.linalg.cond(process.covariance(n)))
    assert np.isclose(variance, dense_variance, rtol=1e-12)
    assert max(prediction_gaps(process, n)) < 1e-10


@pytest.mark.parametrize("family", FAMILIES)
def test_the_error_variance_is_the_quadratic_form(family, rng):
    process, n = FAMILIES[family](), 12
    problem = Problem.of(Linear(np.eye(n)), process)
    for coefficients in rng.normal(size=(5, n)):
        expected = problem.variance + problem.loss(coefficients)
        assert np.isclose(error_variance(coefficients, process), expected, rtol=1e-11)
    assert np.isclose(error_variance(problem.target, process), problem.variance, rtol=1e-10)


def test_the_printed_order_of_equation_31_is_worse():
    target, variance = PowerLaw().predictor(64)
    assert error_variance(target[::-1], PowerLaw()) > 1.1 * variance


def test_sampling_agrees_within_its_error_bars(rng):
    coefficients = np.array([0.7, -0.2, 0.1])
    sampled = sampled_error(coefficients, AR1(0.8), 25_000, rng)  # more than two blocks, the last one not full
    expected = error_variance(coefficients, AR1(0.8))
    assert abs(sampled.mean - expected) < 4 * sampled.standard_error
    # A squared normal variable of variance v has variance 2v².
    assert np.isclose(sampled.standard_error, expected * np.sqrt(2 / 25_000), rtol=0.05)
