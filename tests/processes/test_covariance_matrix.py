"""Problems given by a covariance matrix: against solves in other ways, for what is not stationary, and refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import capcore as cc
from capcore.fitting.optimum import fit as dense_fit
from tests.strategies import all_of, refused

N = 8
ARCH = cc.Hierarchical(channels=2, n_layers=3)


@pytest.fixture
def joint(rng):
    """(n + 1, n + 1) covariance of n inputs and of what is predicted, nothing of it stationary."""
    mixing = rng.normal(size=(N + 1, N + 3))
    return mixing @ mixing.T


@pytest.fixture
def problem(joint):
    return cc.FromCovariance(joint[:N, :N], cross=joint[:N, N], variance=joint[N, N])


def test_the_target_is_the_regression_and_v_star_the_variance_that_is_left(joint, problem):
    """v* is the Schur complement, 1 over the last entry of the inverse of the joint covariance."""
    inverse = np.linalg.inv(joint)
    assert_allclose(problem.target, -inverse[:N, N] / inverse[N, N], rtol=1e-9)
    assert problem.variance == pytest.approx(1 / inverse[N, N], rel=1e-9)


def test_a_sample_gives_the_least_squares_fit_to_it(rng):
    x = rng.normal(size=(200, N)) @ rng.normal(size=(N, N))
    y = np.sin(x[:, 0]) + x[:, 1]
    problem = cc.FromCovariance(x.T @ x / 200, cross=x.T @ y / 200, variance=y @ y / 200)
    coefficients, residue, *_ = np.linalg.lstsq(x, y)
    assert_allclose(problem.target, coefficients, rtol=1e-8, atol=1e-10)
    assert problem.variance == pytest.approx(residue[0] / 200, rel=1e-8)


def test_the_target_itself_means_the_same(joint, problem):
    again = cc.FromCovariance(joint[:N, :N], target=problem.target, variance=joint[N, N])
    assert type(again) is cc.Problem
    assert_allclose(again.target, problem.target)
    assert again.variance == pytest.approx(problem.variance, rel=1e-9)
    assert cc.FromCovariance(joint[:N, :N], target=problem.target).variance == 0


def test_that_of_a_process_is_the_problem_of_the_process():
    process = cc.PowerLaw(0.5)
    made = cc.FromCovariance(process.covariance(N), cross=process.autocovariance(N + 1)[1:], variance=1.0)
    target, variance = process.predictor(N)
    assert_allclose(made.target, target, atol=1e-14)
    assert made.variance == pytest.approx(variance, rel=1e-13)
    params = cc.fit(ARCH, made).params
    for method in ("dense", "sketch"):
        found = cc.allocate(ARCH, params, made, method=method)
        assert_allclose(found.per_input, cc.allocate(ARCH, params, process).per_input, atol=1e-9)


def test_a_model_is_fitted_to_what_is_not_stationary(joint, problem):
    """With as many free directions as inputs every target can be had, whatever Σ; with one channel the loss remains."""
    found = cc.fit(ARCH, problem)
    assert found.loss < 1e-20 * joint[N, N] and found.details.variance == pytest.approx(problem.variance)
    narrow = cc.fit(cc.Hierarchical(channels=1, n_layers=3), problem)
    error = narrow.coefficients - problem.target
    assert narrow.loss == pytest.approx(error @ joint[:N, :N] @ error, rel=1e-9) and narrow.loss > 1e-6


def test_two_components_at_each_position(joint):
    arch = cc.Hierarchical(channels=1, n_layers=2, input_dim=2)
    problem = cc.FromCovariance(joint[:N, :N], cross=joint[:N, N])
    found = cc.allocate(arch, cc.fit(arch, problem), problem)
    assert found.per_input.shape == (4,) and found.per_input.sum() == pytest.approx(found.total)
    with pytest.raises(ValueError, match=r"problem with 8 coefficients, expected 4"):
        cc.fit(cc.Hierarchical(channels=1, n_layers=2), problem)


def test_capacity_needs_no_target_and_a_fit_does(joint, problem):
    bare, params = cc.FromCovariance(joint[:N, :N]), ARCH.init(np.random.default_rng(0))
    for method in ("auto", "sketch"):
        found = cc.allocate(ARCH, params, bare, method=method)
        assert_allclose(found.per_input, cc.allocate(ARCH, params, problem).per_input, atol=1e-9)
    for each in (cc.fit, dense_fit):
        with pytest.raises(TypeError, match=all_of(["task: found", "expected something to predict", "cross="])):
            each(ARCH, bare)


def test_a_nugget_is_white_noise_at_every_input(joint):
    singular = np.ones((N, N))
    made = cc.FromCovariance(singular, cross=np.ones(N), variance=1.0, nugget=0.5)
    assert_allclose(made.covariance, singular + 0.5 * np.eye(N))
    assert_allclose(made.target, np.full(N, 1 / (N + 0.5)))  # Sherman and Morrison
    assert made.variance == pytest.approx(1 - N / (N + 0.5))


def test_it_is_a_copy_and_exactly_symmetric(joint):
    sigma = joint[:N, :N] * (1 + 1e-12 * np.triu(np.ones((N, N)), 1))
    kept = sigma.copy()
    made = cc.FromCovariance(sigma).covariance
    assert np.array_equal(made, made.T) and np.array_equal(sigma, kept)
    sigma[:] = 0
    assert_allclose(made, kept, rtol=1e-10)


EYE = np.eye(3)
ASKEW = EYE + np.outer([0.3, 0, 0], [0, 1, 0])


test_refusals = refused(
    lambda arguments: cc.FromCovariance(**arguments),
    ({"covariance": np.ones((3, 2))}, ["covariance", "(3, 2)", "square"]),
    ({"covariance": np.ones(3)}, ["covariance", "(3,)", "2 dimension"]),
    ({"covariance": ASKEW}, ["found 0.3 at (0, 1), expected 0", "(Σ + Σᵀ) / 2"]),
    ({"covariance": np.ones((3, 3))}, ["numerically singular", "Leave inputs out", "nugget=1e-06"]),
    ({"covariance": EYE - 0.6 * (1 - EYE)}, ["eigenvalue -0.2", "none below 0", "nugget=0.4"]),
    ({"covariance": np.zeros((3, 3))}, ["values up to 0.0e+00", "Measure"]),
    ({"covariance": EYE, "target": np.ones(2)}, ["target: found 2 values, expected 3"]),
    ({"covariance": EYE, "cross": np.ones(4)}, ["cross: found 4 values, expected 3"]),
    ({"covariance": EYE, "cross": np.ones(3), "target": np.ones(3)}, ["target, cross: found both", "one of them"]),
    ({"covariance": EYE, "variance": 1.0}, ["variance: found one of nothing", "cross="]),
    ({"covariance": EYE, "cross": np.ones(3), "variance": 2.9}, ["found 2.9, expected at least 3", "Compare units"]),
    ({"covariance": EYE, "nugget": -1}, ["nugget: found -1", "at least 0"]),
    ({"covariance": EYE, "cross": np.full(3, 1e200)}, ["cross", "1.0e+200", "other units"]),
)


def test_what_the_messages_advise_works():
    cc.FromCovariance((ASKEW + ASKEW.T) / 2)
    cc.FromCovariance(np.ones((3, 3)), nugget=1e-6)
    cc.FromCovariance(EYE - 0.6 * (1 - EYE), nugget=0.4)
