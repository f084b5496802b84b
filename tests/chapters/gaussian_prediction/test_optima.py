"""Critical points and their gradients, and crossings of curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.architectures import Hierarchical, Linear
from capcore.optimum import Problem, fit
from capcore.processes import FAMILIES, AutoRegressive, PowerLaw
from chapters.gaussian_prediction.optima import (
    Curve,
    add_channel,
    affine_crossings,
    describe,
    gradient,
    gradient_gap,
    hessian,
    stationarity,
)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("channels", [1, 3])
def test_the_gradient_is_twice_the_constraints_on_the_error(family, channels, rng):
    arch = Hierarchical(channels, n_layers=4)
    problem = Problem.of(arch, FAMILIES[family]())
    params = arch.init(rng)
    error = arch.coefficients(params) - problem.target
    assert np.allclose(gradient(arch, params, problem), 2 * (problem.covariance @ arch.jacobian(params)).T @ error)
    assert gradient_gap(arch, params, problem) < 1e-7


def test_the_hessian_of_a_linear_model_is_twice_its_normal_matrix(rng):
    arch = Linear(rng.normal(size=(8, 3)))
    problem = Problem.of(arch, PowerLaw())
    expected = 2 * arch.basis.T @ problem.covariance @ arch.basis
    assert np.allclose(hessian(arch, rng.normal(size=3), problem), expected, rtol=1e-6)


def test_stationarity_is_a_cosine(rng):
    arch = Linear(np.eye(6)[:, :2])
    problem = Problem.of(arch, PowerLaw())
    assert 0.01 < stationarity(arch, rng.normal(size=2), problem) <= 1
    assert stationarity(arch, fit(arch, problem).params, problem) < 1e-7  # where the optimiser stops
    perfect = Linear(problem.target[:, None])
    assert stationarity(perfect, np.array([1.0]), problem) == 0


@pytest.mark.parametrize("channels", [1, 2, [1, 3, 2, 2]])
def test_an_empty_channel_makes_a_saddle(channels):
    arch = Hierarchical(channels, n_layers=5)
    problem = Problem.of(arch, PowerLaw())
    params = fit(arch, problem).params
    larger, padded = add_channel(arch, params)
    assert larger.channels == [c + 1 for c in arch.channels]
    assert np.array_equal(larger.coefficients(padded), arch.coefficients(params))
    saddle = describe(larger, padded, problem)
    assert saddle.stationarity < 1e-6
    assert saddle.capacity == arch.generic_capacity() < larger.generic_capacity()
    assert saddle.n_descents and saddle.kind == "saddle"
    rng = np.random.default_rng(0)
    assert fit(larger, problem, start=padded + 1e-3 * rng.normal(size=padded.size)).loss < 0.5 * saddle.loss


def test_an_optimum_is_no_saddle():
    arch = Hierarchical(2, n_layers=5)
    found = describe(arch, fit(arch, PowerLaw()).params, Problem.of(arch, PowerLaw()))
    assert (found.kind, found.n_descents, found.capacity) == ("local optimum", 0, arch.generic_capacity())


def test_an_echo_has_two_local_optima_with_mirrored_allocations():
    arch = Hierarchical(1, n_layers=5)
    echo = Problem.of(arch, AutoRegressive(np.r_[0.5, np.zeros(30), 0.45]))
    runs = sorted((fit(arch, echo, start="random", rng=s) for s in range(8)), key=lambda run: run.loss)
    near, far = describe(arch, runs[0].params, echo), describe(arch, runs[-1].params, echo)
    assert near.loss < 0.9 * far.loss
    assert near.kind == far.kind == "local optimum"
    assert near.stationarity < 1e-6 and far.stationarity < 1e-6
    assert np.argmax(runs[0].coefficients) == 0 and np.argmax(runs[-1].coefficients) == 31


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
