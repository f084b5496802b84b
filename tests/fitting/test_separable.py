"""Separable least squares: the best weights, and the search over what enters non-linearly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from capcore.fitting.separable import best_weights, minimise_projected
from tests.strategies import matrices, seeds


@given(matrices(max_n=8, max_p=6), seeds)
def test_best_weights_solve_the_least_squares_problem(columns, seed):
    values = np.random.default_rng(seed).normal(size=len(columns))
    weights, residual, basis = best_weights(columns, values)
    projected = columns @ np.linalg.pinv(columns, rcond=1e-12) @ values
    assert_allclose(residual, values - projected, atol=1e-8)
    assert_allclose(columns @ weights + residual, values, atol=1e-8)
    assert_allclose(basis.T @ residual, 0, atol=1e-12)
    assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)


@given(matrices(n=6, max_p=4), seeds, st.floats(1e-100, 1e100))
def test_the_scale_of_a_column_does_not_matter(columns, seed, factor):
    values = np.random.default_rng(seed).normal(size=6)
    scaled = columns * np.r_[factor, np.ones(columns.shape[1] - 1)]
    assert_allclose(best_weights(scaled, values)[1], best_weights(columns, values)[1], atol=1e-8)


def test_repeated_and_empty_columns_cost_nothing():
    columns, values = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]]), np.array([1.0, 0.0])
    weights, residual, basis = best_weights(columns, values)
    assert basis.shape == (2, 1)
    assert_allclose(weights, [0.1, 0.1, 0.0], atol=1e-15)
    assert_allclose(residual, [0.8, -0.4], atol=1e-15)


def exponentials(times):
    """Columns exp(−s t) and their derivatives."""

    def columns(s):
        values = np.exp(-np.outer(times, s))
        return values, lambda weights: -times[:, None] * values * weights

    return columns


@given(seeds)
def test_a_sum_of_decays_is_found_from_nearby(seed):
    rng = np.random.default_rng(seed)
    times, rates, weights = np.linspace(0, 3, 20), np.array([0.4, 2.5]), rng.uniform(1, 2, 2)
    goal = np.exp(-np.outer(times, rates)) @ weights
    calls = []
    found = minimise_projected(exponentials(times), goal, rates * [1.3, 0.8], (0.0, 10.0), callback=calls.append)
    assert found.converged
    assert_allclose(found.searched, rates, rtol=1e-5)
    assert_allclose(found.weights, weights, rtol=1e-4)
    assert calls == np.minimum.accumulate(found.losses).tolist()


@given(seeds)
def test_at_the_end_the_full_problem_is_stationary(seed):
    """A noisy goal: the gradient by the searched parameters, weights held, vanishes as well."""
    rng = np.random.default_rng(seed)
    times = np.linspace(0, 3, 20)
    goal = np.exp(-np.outer(times, [0.5, 2.0])) @ [1.0, 1.0] + 0.01 * rng.normal(size=20)
    found = minimise_projected(exponentials(times), goal, np.array([0.4, 2.2]), (0.0, 50.0), max_iterations=500)
    values, steer = exponentials(times)(found.searched)
    residual = values @ found.weights - goal
    assert_allclose(values.T @ residual, 0, atol=1e-10)
    inside = (found.searched > 1e-3) & (found.searched < 49)
    assert_allclose((steer(found.weights).T @ residual)[inside], 0, atol=1e-6)


def test_bounds_and_the_number_of_evaluations():
    times = np.linspace(0, 3, 20)
    goal = np.exp(-2.0 * times)
    held = minimise_projected(exponentials(times), goal, np.array([0.5]), (0.0, 1.0))
    assert held.searched[0] == pytest.approx(1.0, abs=1e-6)
    once = minimise_projected(exponentials(times), goal, np.array([0.5]), (0.0, 9.0), max_iterations=1)
    assert once.searched[0] == pytest.approx(0.5) and len(once.losses) == 1 and not once.converged
    none = minimise_projected(exponentials(times), goal, np.array([0.5]), (0.0, 9.0), max_iterations=0)
    assert len(none.losses) == 1  # the loss at the start is asked for in any case
