"""The Levinson recursion and its inverse against dense linear algebra, determinants, roots and Lyapunov equations."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.linalg import companion, solve_discrete_lyapunov, solve_toeplitz, toeplitz

from capcore.processes.toeplitz import (
    autocovariance_from_predictor,
    condition_bound,
    levinson_durbin,
    reflection_coefficients,
)
from tests.strategies import seeds


@st.composite
def autocovariances(draw, max_order=24):
    """(n + 1,) positive definite by Bochner's theorem: random spectral lines on a white floor."""
    n = draw(st.integers(0, max_order))
    rng = np.random.default_rng(draw(seeds))
    frequencies, powers = rng.uniform(0, np.pi, 5), rng.exponential(size=5)
    c = np.cos(np.outer(np.arange(n + 1), frequencies)) @ powers
    c[0] += powers.sum() * draw(st.sampled_from([1e-3, 0.1, 1.0]))
    return c


@st.composite
def characteristic_roots(draw, radii):
    """Up to six roots, real ones and conjugate pairs, with moduli drawn from ``radii``."""
    roots = []
    for _ in range(draw(st.integers(1, 3))):
        radius, angle = draw(radii), draw(st.floats(0.1, 3.0))
        if draw(st.booleans()):
            roots += [radius * np.exp(1j * angle), radius * np.exp(-1j * angle)]
        else:
            roots.append(radius * draw(st.sampled_from([-1, 1])))
    return np.array(roots)


def predictor_with_roots(roots):
    """y_{t+1} = Σ a_i y_{t−i} has the characteristic polynomial z^m − Σ a_i z^{m−1−i}."""
    return -np.poly(roots).real[1:]


# The condition number of these matrices is below 1e5: 1e-9 leaves four digits of room above cond · eps.
TOLERANCE = 1e-9


@given(autocovariances())
def test_predictor_solves_the_yule_walker_equations(c):
    result = levinson_durbin(c)
    if c.size > 1:
        dense = np.linalg.solve(toeplitz(c[:-1]), c[1:])
        np.testing.assert_allclose(result.predictor, dense, rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(result.predictor, solve_toeplitz(c[:-1], c[1:]), rtol=0, atol=TOLERANCE)


@given(autocovariances(max_order=8))
def test_every_order_is_the_predictor_of_that_order(c):
    result = levinson_durbin(c)
    assert result.variances.shape == (c.size,) and result.reflections.shape == (c.size - 1,)
    for k in range(1, c.size):
        dense = np.linalg.solve(toeplitz(c[:k]), c[1 : k + 1])
        assert result.reflections[k - 1] == pytest.approx(dense[-1], abs=TOLERANCE)  # partial autocorrelation
        assert result.variances[k] == pytest.approx(c[0] - dense @ c[1 : k + 1], rel=TOLERANCE)


def test_orders_zero_and_one_by_hand():
    zero = levinson_durbin(np.array([3.0]))
    assert zero.predictor.size == 0 and zero.reflections.size == 0 and zero.variances.tolist() == [3.0]
    one = levinson_durbin(np.array([4.0, 2.0]))
    assert one.predictor.tolist() == [0.5] and one.variances.tolist() == [4.0, 3.0]


@pytest.mark.parametrize(
    ("c", "order"), [([1, 0.9, 0.1, 0.2], 2), ([1, 1, 1, 1], 1), ([1, 2], 1), ([0, 1], 0), ([-1], 0)]
)
def test_recursion_stops_at_the_first_order_that_is_not_positive(c, order):
    result = levinson_durbin(np.array(c, dtype=float))
    assert result.variances.size == order + 1 and result.reflections.size == order
    assert not result.variances[-1] > 0 and np.all(result.variances[:-1] > 0)


@given(autocovariances())
def test_condition_bound_is_a_lower_bound(c):
    result = levinson_durbin(c)
    bound = condition_bound(c, result.predictor, result.variances[-1])
    inverse = np.linalg.inv(toeplitz(c))
    assert bound == pytest.approx(np.linalg.norm(toeplitz(c), 1) * np.abs(inverse[:, 0]).sum(), rel=TOLERANCE)
    assert 1 - TOLERANCE <= bound <= np.linalg.cond(toeplitz(c), 1) * (1 + TOLERANCE)


@given(autocovariances())
def test_step_down_recovers_the_reflections(c):
    result = levinson_durbin(c)
    np.testing.assert_allclose(reflection_coefficients(result.predictor), result.reflections, rtol=0, atol=1e-7)


@given(characteristic_roots(st.one_of(st.floats(0, 0.99), st.floats(1.01, 1.5))))
def test_stability_is_decided_by_the_roots(roots):
    reflections = reflection_coefficients(predictor_with_roots(roots))
    stable = bool(np.all(np.abs(reflections) < 1))  # NaN below an unstable order: not stable
    assert stable == bool(np.abs(roots).max() < 1)


@given(characteristic_roots(st.floats(1.01, 1.5)))
def test_the_product_of_unstable_roots_is_caught_at_the_last_order(roots):
    # The last reflection coefficient is ± the product of all roots; nothing below it is defined.
    reflections = reflection_coefficients(predictor_with_roots(roots))
    assert abs(reflections[-1]) == pytest.approx(np.abs(np.prod(roots)), rel=1e-9)
    assert np.isnan(reflections[:-1]).all()


@given(characteristic_roots(st.floats(0, 0.95)), st.integers(1, 40), st.floats(0.1, 10))
def test_autocovariance_solves_the_lyapunov_equation_and_continues_beyond_the_order(roots, n, variance):
    predictor = predictor_with_roots(roots)
    m = predictor.size
    transition = companion(np.concatenate([[1.0], -predictor]))  # first row holds the coefficients
    noise = np.zeros((m, m))
    noise[0, 0] = variance
    state = solve_discrete_lyapunov(transition, noise)
    assume(np.linalg.cond(state) < 1e10)
    expected = np.empty(n)
    power = np.eye(m)
    for k in range(n):
        expected[k] = (power @ state)[0, 0]
        power = transition @ power
    found = autocovariance_from_predictor(predictor, variance, n)
    assert found.shape == (n,)
    # The Lyapunov solver itself has a relative error of about eps · (condition of the stationary covariance).
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * np.linalg.cond(state) * state[0, 0] + 1e-12)
