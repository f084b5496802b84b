import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.gaussian_prediction.optima import Curve, affine_crossings

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
def test_every_critical_point_lies_on_its_own_complement(a, b):
    curve = Curve([[0, 1, 0], [0, 0, 1]], [a, b])
    w = np.linspace(-3, 3, 2001)
    losses = np.sum(np.square(curve.coefficients(w) - curve.target[:, None]), axis=0)
    assert curve.critical_points.size in (1, 2, 3)
    assert np.allclose(curve.off_constraint(curve.critical_points), 0, atol=1e-7)
    best = np.sum(np.square(curve.coefficients(curve.optimum) - curve.target))
    assert best <= losses.min() + 1e-12


def test_a_straight_line_is_crossed_once():
    curve = Curve([[0.3, 1.0], [-1.0, 2.0]], [1.0, 1.0])
    assert np.allclose(curve.crossings(curve.optimum), curve.critical_points)
    assert curve.critical_points.size == 1


def test_taken_at_one_point_it_is_a_polynomial_of_the_curve_s_degree():
    curve = Curve([[0, 1, 0], [0, 0, 1]], [1.0, -0.5])
    w = np.linspace(-2, 2, 9)
    assert np.allclose(np.diff(curve.off_constraint(w, at=0.7), 3), 0)
    assert np.isclose(curve.off_constraint(np.array([0.7]), at=0.7)[0], curve.off_constraint(np.array([0.7]))[0])


def test_affine_models_are_crossed_once(rng):
    assert affine_crossings(50, rng).all()


def test_the_target_must_fit():
    with pytest.raises(ValueError, match="target: found 3 values, expected 2 as in powers"):
        Curve([[0, 1], [1, 0]], [0.0, 0.0, 0.0])
