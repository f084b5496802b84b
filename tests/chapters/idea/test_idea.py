"""Two inputs and one parameter, against a minimiser and areas of the figures; and refits beside the missed share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.optimize import minimize_scalar

import capcore as cc
from chapters.idea.figures import plot_equal_error, plot_shadows
from chapters.idea.study import line_model, refitted
from chapters.kit.stored import stored


@pytest.mark.parametrize(("direction", "correlation"), [([2, 1], 0.0), ([1, -1], 0.0), ([-1, 0], 0.4), ([1, 3], -0.6)])
def test_squares(direction, correlation):
    model = line_model(direction, [1, 3], correlation)
    ax = plot_shadows(model, Figure().subplots())
    corners = [patch.get_xy()[:4] for patch in ax.patches]
    areas = [abs(np.linalg.det([square[1] - square[0], square[3] - square[0]])) for square in corners]
    np.testing.assert_allclose(areas, model.space.per_input(), atol=1e-12)


@pytest.mark.parametrize("correlation", [0.0, 0.5, -0.8])
def test_equal_errors(correlation):
    """On the curve the error is the trained model's; the model's line has no point inside it; 𝒦 is across the error."""
    model = line_model([2, 1], [1, 3], correlation)
    ax = plot_equal_error(model, Figure().subplots())
    (curve,) = [line.get_xydata() for line in ax.lines if line.get_linestyle() == "--"]
    (dotted,) = [line.get_xydata() for line in ax.lines if line.get_linestyle() == ":"]
    least = np.diff(dotted, axis=0)[0]
    errors = curve - model.target
    np.testing.assert_allclose(
        np.einsum("ij,jk,ik->i", errors, model.covariance, errors), least @ model.covariance @ least
    )
    assert abs(least @ model.space.basis[:, 0]) < 1e-12
    line = np.outer(np.linspace(-9, 9, 181), model.direction) - model.target
    assert np.einsum("ij,jk,ik->i", line, model.covariance, line).min() > least @ model.covariance @ least - 1e-12


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


@pytest.mark.parametrize("lag", [7, 20, 32])
def test_a_small_event_costs_the_missed_share(lag):
    """The gap is the curvature of the residual, which is of the order of the stack's loss: a few thousandths of v*."""
    stack, process = cc.Hierarchical(1, 6), cc.PowerLaw()
    fit = cc.fit(stack, process)
    missed = cc.allocate(stack, fit, process).missed[lag]
    assert refitted(stack, fit, process, lag, 1e-3) == pytest.approx(missed, abs=0.02)


def test_with_channels_enough_no_event_is_missed():
    """What the explorer shows: units sum up, and from two channels on a refit loses a fiftieth at most."""
    for channels, found in stored("missed_events")["values"].items():
        assert sum(found["capacity"]) == pytest.approx(found["total"], abs=0.0033)  # 64 roundings
        assert (max(found["cost"]) < 0.02) == (int(channels) > 1)
    assert max(found["missed"]) == 0 and min(found["capacity"]) == 1
