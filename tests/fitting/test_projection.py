"""Projections: the best weights of columns, whatever their scale."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from capcore.fitting.projection import least_squares
from tests.strategies import matrices, seeds


@given(matrices(max_n=8, max_p=6), seeds, st.floats(1e-100, 1e100))
def test_the_best_weights_solve_the_least_squares_problem(columns, seed, factor):
    values = np.random.default_rng(seed).normal(size=len(columns))
    weights, basis = least_squares(columns, values)
    projected = columns @ np.linalg.pinv(columns, rcond=1e-12) @ values
    assert_allclose(columns @ weights, projected, atol=1e-8)
    assert_allclose(basis @ (basis.T @ values), projected, atol=1e-8)
    assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
    scaled = columns * np.r_[factor, np.ones(columns.shape[1] - 1)]  # the scale of a column does not matter
    assert_allclose(scaled @ least_squares(scaled, values)[0], projected, atol=1e-8)


def test_repeated_and_empty_columns_cost_nothing():
    weights, basis = least_squares(np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]]), np.array([1.0, 0.0]))
    assert basis.shape == (2, 1)
    assert_allclose(weights, [0.1, 0.1, 0.0], atol=1e-15)
