"""The model of two inputs against a minimiser, and the sentences that the chapter says of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from chapters.idea.study import line_model

numbers = st.floats(-3, 3).filter(lambda x: abs(x) > 0.1)
pairs = st.tuples(numbers, numbers)


@given(pairs, pairs, st.floats(-0.9, 0.9))
def test_it_is_trained_and_follows_along_the_space_alone(direction, target, correlation):
    model = line_model(direction, target, correlation)

    def loss(w):
        error = w * model.direction - model.target
        return error @ model.covariance @ error

    best = minimize_scalar(loss).x * model.direction
    np.testing.assert_allclose(model.trained(), best, atol=1e-6)
    (along,) = model.space.basis.T
    assert np.linalg.norm(model.moved(np.array([-along[1], along[0]]))) < 1e-12
    assert model.space.per_input().sum() == pytest.approx(1)


@given(pairs, pairs)
def test_of_uncorrelated_inputs_the_response_is_the_capacity(direction, target):
    model = line_model(direction, target, 0.0)
    response = [model.moved(axis) @ model.moved(axis) for axis in np.eye(2)]
    np.testing.assert_allclose(response, model.space.per_input(), atol=1e-12)


def test_a_positive_correlation_draws_the_capacities_together():
    apart = [np.ptp(line_model([2, 1], [1, 3], rho).space.per_input()) for rho in (0, 0.25, 0.5, 0.75)]
    assert apart == sorted(apart, reverse=True)
    assert line_model([2, 1], [1, 3], 0.5).space.per_input().round(2).tolist() == [0.61, 0.39]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2, 3], [1, 3], 0.0), "direction: found 3 numbers, expected 2"),
        (([1, 2], [1], 0.0), "target: found 1 numbers, expected 2"),
        (([0, 0], [1, 3], 0.0), r"direction: found \(0, 0\)"),
        (([1, 2], [1, 3], 1.0), "correlation: found 1, expected a number between -1 and 1"),
        (([1, float("nan")], [1, 3], 0.0), "direction: found"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        line_model(*arguments)
