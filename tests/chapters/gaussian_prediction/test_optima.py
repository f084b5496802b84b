"""Critical points and their gradients, and crossings of curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.architectures import Hierarchical, Linear
from capcore.fitting.optimum import fit
from capcore.processes import FAMILIES, AutoRegressive, PowerLaw
from capcore.processes.problem import Problem
from chapters.gaussian_prediction.optima import Curve, gradient, gradient_gap, stationarity


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("channels", [1, 3])
def test_the_gradient_is_twice_the_constraints_on_the_error(family, channels, rng):
    arch = Hierarchical(channels, n_layers=4)
    problem = Problem.of(arch, FAMILIES[family]())
    params = arch.init(rng)
    error = arch.coefficients(params) - problem.target
    assert np.allclose(gradient(arch, params, problem), 2 * (problem.covariance @ arch.jacobian(params)).T @ error)
    assert gradient_gap(arch, params, problem) < 1e-7


def test_stationarity_is_a_cosine(rng):
    arch = Linear(np.eye(6)[:, :2])
    problem = Problem.of(arch, PowerLaw())
    assert 0.01 < stationarity(arch, rng.normal(size=2), problem) <= 1
    assert stationarity(arch, fit(arch, problem).params, problem) < 1e-7  # where the optimiser stops
    perfect = Linear(problem.target[:, None])
    assert stationarity(perfect, np.array([1.0]), problem) == 0


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


def test_a_straight_line_is_crossed_once():
    curve = Curve([[0.3, 1.0], [-1.0, 2.0]], [1.0, 1.0])
    assert np.allclose(curve.crossings(curve.optimum), curve.critical_points)
    assert curve.critical_points.size == 1


def test_the_target_must_fit():
    with pytest.raises(ValueError, match="target: found 3 values, expected 2 as in powers"):
        Curve([[0, 1], [1, 0]], [0.0, 0.0, 0.0])
