"""Damped Gauss–Newton: its dual step against the textbook one, its flags, and problems with a known answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import cholesky

from capcore.architectures import Hierarchical
from capcore.fitting.gauss_newton import START_DAMPING, minimise_gauss_newton
from capcore.processes import PowerLaw
from capcore.processes.problem import Problem
from chapters.dilated_blocks.experiment import reachable_share
from tests.strategies import hierarchical_models, seeds


def problem_for(arch, seed):
    """A target and the Cholesky factor of a covariance with eigenvalues between ½ and 2."""
    rng = np.random.default_rng(seed)
    n = arch.n_inputs * arch.input_dim
    q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return rng.normal(size=n), cholesky(q * rng.uniform(0.5, 2, n) @ q.T)


@given(hierarchical_models(max_layers=3, max_channels=3), seeds)
def test_the_dual_step_is_the_levenberg_marquardt_step(arch, seed):
    # (JᵀΣJ + μI) δW = −JᵀΣ(A − A*), solved in the p parameters, at the first damping the loss accepts.
    target, root = problem_for(arch, seed)
    params = arch.init(np.random.default_rng(seed))
    step = minimise_gauss_newton(arch, target, root, params, max_iterations=1).params - params
    weighted = root @ arch.jacobian(params)
    residual = root @ (arch.coefficients(params) - target)
    largest = np.linalg.norm(weighted, 2) ** 2
    normal = weighted.T @ weighted + START_DAMPING * largest * np.eye(arch.n_params)
    expected = -np.linalg.solve(normal, weighted.T @ residual)
    if step.any():  # accepted
        assert_allclose(step, expected, atol=1e-9 * np.linalg.norm(expected))
    else:
        trial = root @ (arch.coefficients(params + expected) - target)
        assert not trial @ trial < residual @ residual * (1 - 1e-12)


@given(hierarchical_models(max_layers=3, max_channels=2), seeds, st.booleans())
def test_the_loss_never_rises(arch, seed, bent):
    target, root = problem_for(arch, seed)
    start = arch.init(np.random.default_rng(seed))
    result = minimise_gauss_newton(arch, target, root, start, max_iterations=30, acceleration=bent)
    assert np.all(np.diff(result.history) <= 0)
    residual = root @ (arch.coefficients(result.params) - target)
    assert result.history[-1] == pytest.approx(residual @ residual, rel=1e-12, abs=1e-30)


def test_one_layer_is_linear_and_ends_at_the_target():
    arch = Hierarchical([], kernel_size=7)
    target, root = problem_for(arch, 0)
    result = minimise_gauss_newton(arch, target, root, np.zeros(7))
    assert result.converged and "attained" in result.message
    assert_allclose(result.params, target, atol=1e-13)


def test_a_cubic_valley_with_a_known_optimum():
    # Rank one on a 2×2 table: the optimum of the unweighted problem is the leading singular pair (Eckart–Young).
    target = np.array([3.0, 1.0, 1.0, 2.0])
    arch = Hierarchical(1, 2)
    s = np.linalg.svd(target.reshape(2, 2), compute_uv=False)
    for seed in range(20):  # with no covariance to break the tie, rounding decides how each run ends: all must say so
        params = arch.init(np.random.default_rng(seed))
        result = minimise_gauss_newton(arch, target, np.eye(4), params)
        assert result.converged and "stationary" in result.message
        assert result.history[-1] == pytest.approx(s[1] ** 2, rel=1e-12)


def test_flags_say_why_it_stopped():
    arch = Hierarchical(1, 6)
    problem = Problem.of(arch, PowerLaw())
    args = arch, problem.target, problem.root, arch.init(np.random.default_rng(0))
    short = minimise_gauss_newton(*args, max_iterations=3)
    assert not short.converged and short.message == "stopped after 3 iterations" and len(short.history) == 4
    none = minimise_gauss_newton(*args, max_iterations=0)
    assert not none.converged and len(none.history) == 1 and none.params is args[3]
    assert minimise_gauss_newton(*args).converged
    loose = minimise_gauss_newton(*args, tolerance=0.5)
    assert loose.converged and len(loose.history) < len(minimise_gauss_newton(*args).history)
    scale = np.sum((problem.root @ problem.target) ** 2)
    for floor in (0.5, 0.1, 0.01):
        attained = minimise_gauss_newton(*args, floor=floor)
        assert attained.converged and "attained" in attained.message
        assert attained.history[-1] <= floor * scale < attained.history[-2]


def test_tolerance_is_the_squared_relative_offset():
    # The share of the loss that the undamped step could still remove, computed from the Jacobian by least squares.
    arch = Hierarchical(2, 4)
    problem = Problem.of(arch, PowerLaw())
    start = arch.init(np.random.default_rng(1))
    for tolerance in (1e-2, 1e-5, 1e-9):
        result = minimise_gauss_newton(arch, problem.target, problem.root, start, tolerance=tolerance)
        residual = problem.root @ (arch.coefficients(result.params) - problem.target)
        tangent = problem.root @ arch.jacobian(result.params)
        left = residual - tangent @ np.linalg.lstsq(tangent, residual, rcond=1e-12)[0]
        share = 1 - left @ left / (residual @ residual)
        assert result.converged and share <= tolerance * (1 + 1e-6)
        assert share > tolerance * 1e-6  # stopped by this tolerance, not long after it


def test_a_step_that_is_not_finite_is_not_taken():
    class Overflows(Hierarchical):
        def linearise(self, params):
            return self.coefficients(params), lambda vector: np.full(self.n_params, np.inf)

    arch = Overflows(1, 3)
    problem = Problem.of(arch, PowerLaw())
    start = arch.init(np.random.default_rng(0))
    result = minimise_gauss_newton(arch, problem.target, problem.root, start)
    assert not result.converged and "stalled" in result.message
    assert result.params is start and len(set(result.history)) == 1


def test_rebalancing_is_called_on_schedule_and_callback_after_every_iteration():
    arch = Hierarchical(4, 6)
    problem = Problem.of(arch, PowerLaw())
    seen, calls = [], []

    def rebalance(params):
        calls.append(len(seen))
        return params

    minimise_gauss_newton(
        *(arch, problem.target, problem.root, arch.init(np.random.default_rng(0))),
        max_iterations=60,
        tolerance=0.0,
        rebalance=rebalance,
        callback=seen.append,
    )
    assert calls == [20, 50] and len(seen) == 60


def test_the_acceleration_is_the_second_derivative_of_a_damped_geodesic():
    # f = w v at one input: f'' along a step (a, b) is 2ab, and the bend is −½ Jᵀ(JJᵀ + μ)⁻¹ f''.
    arch = Hierarchical([1], kernel_size=[1, 1])
    start, target = np.array([1.0, 2.0]), np.array([2.2])
    straight, bent = (
        minimise_gauss_newton(arch, target, np.eye(1), start, max_iterations=1, acceleration=on).params - start
        for on in (False, True)
    )
    gradient = np.array([2.0, 1.0])
    damped = (1 + START_DAMPING) * gradient @ gradient
    assert_allclose(straight, gradient * 0.2 / damped, rtol=1e-12)
    assert_allclose(bent - straight, -0.5 * gradient * 2 * straight.prod() / damped, rtol=1e-9)


@given(hierarchical_models(max_layers=3, max_channels=2), seeds)
def test_what_is_reachable_is_what_a_bounded_step_promises(arch, seed):
    target, root = problem_for(arch, seed)
    params = arch.init(np.random.default_rng(seed))
    weighted = root @ arch.jacobian(params)
    residual = root @ (arch.coefficients(params) - target)
    basis = np.linalg.svd(weighted, full_matrices=False)[0]
    damping = np.sum(np.square(basis.T @ residual)) / np.sum(np.square(params))
    step = np.linalg.solve(weighted.T @ weighted + damping * np.eye(params.size), -weighted.T @ residual)
    assert np.linalg.norm(step) <= 0.5 * np.linalg.norm(params) * (1 + 1e-9)
    promised = 1 - np.sum(np.square(residual + weighted @ step)) / np.sum(np.square(residual))
    assert reachable_share(arch, target, root, params) == pytest.approx(promised, abs=1e-9)


def test_nothing_is_reachable_at_a_singular_optimum():
    # Two equal dilations with one channel are a square: a target below it is missed, along a direction that vanishes.
    arch = Hierarchical(1, dilations=[1, 1])
    target = np.convolve([1.0, 0.5], [1.0, 0.5]) + np.array([0.0, 0.0, 0.5])  # x² + x + ¾ has no real roots
    result = minimise_gauss_newton(
        arch, target, np.eye(3), np.array([1.0, 0.4, 1.0, 0.6]), acceleration=True, rebalance=arch.rebalance
    )
    assert result.converged and result.history[-1] > 1e-3
    assert reachable_share(arch, target, np.eye(3), result.params) < 1e-9
