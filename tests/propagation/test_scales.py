"""Kernels, rates and capacities from 1e-300 to 1e300: right, or refused, by every public function that takes them."""

import numpy as np
import pytest

import capcore.propagation as pr
from tests.any_scale import ORDINARY, at_all_scales, equals, functions, right_or_refused

RNG = np.random.default_rng(22)
KERNEL = RNG.normal(size=(2, 3, 2))
MATRIX = RNG.normal(size=(5, 4))
STEP = pr.ConvolutionTransport.of_offsets({-1: 0.25, 0: 0.5, 1: 0.25})
RATES = pr.ConvolutionTransport.of_offsets({-1: 1.0, 1: 2.0})
START = RNG.random(9)
SAMPLES = RNG.random((40, 3))
EXPECTED = SAMPLES.mean(axis=0) + 0.02
HEAT = pr.LimitCoefficients(2.0, 0.5, 0.1)


def number(k, value=1.0):
    return float(np.ldexp(value, k))


def grown(values, k):
    """Values times 2^k, infinite where that is no number."""
    with np.errstate(over="ignore"):
        return np.ldexp(values, k)


def evolved(solve, rates, start, time=1.0, leak=0.0):
    found = solve(start, [pr.Segment(time, rates, leak)])
    return np.r_[found.final.ravel(), found.leaked.ravel()]


def passed(layers, start, **options):
    found = pr.propagate(start, layers, **options)
    return np.r_[found.input.ravel(), list(found.masses.values())]


def chi_square(k):
    found = pr.mean_chi_square(np.ldexp(SAMPLES, k), np.ldexp(EXPECTED, k))
    return [found.statistic, found.dof, found.p_value]


def gradients(k, share):
    """Of two matrices, scaled by 2^k and by 2^(−share·k)."""
    matrices = [np.ldexp(MATRIX.T @ MATRIX, k), np.ldexp(MATRIX.T, -share * k)]
    return pr.squared_gradients(matrices, 0, 5, np.random.default_rng(0))


# name → k → (what is computed, what it must be): weights, rates or capacities are 2^k times as large
CASES = {
    "propagate": lambda k: (lambda: np.ldexp(passed([STEP] * 3, np.ldexp(START, k)), -k), passed([STEP] * 3, START)),
    "propagate, without conservation": lambda k: (
        lambda: passed([STEP.scaled(number(k))] * 3, START, conserve=False),
        grown(passed([STEP] * 3, START), 3 * k),
    ),
    "propagate, of weights": lambda k: (
        lambda: passed([pr.ConvolutionTransport.of_weights(np.ldexp(KERNEL, k)).normalised()] * 3, np.ones((9, 2))),
        passed([pr.ConvolutionTransport.of_weights(KERNEL).normalised()] * 3, np.ones((9, 2))),
    ),
    "propagate, of matrices": lambda k: (
        lambda: passed([pr.MatrixTransport.of_weights(np.ldexp(MATRIX, k)).normalised()], np.ones(4)),
        passed([pr.MatrixTransport.of_weights(MATRIX).normalised()], np.ones(4)),
    ),
    "propagate_equal": lambda k: (
        lambda: np.ldexp(pr.propagate_equal(np.ldexp(START, k), STEP, 50), -k),
        pr.propagate_equal(START, STEP, 50),
    ),
    "evolve": lambda k: (
        lambda: np.ldexp(evolved(pr.evolve, RATES, np.ldexp(START, k), leak=0.3), -k),
        evolved(pr.evolve, RATES, START, leak=0.3),
    ),
    "evolve, in another unit of time": lambda k: (
        lambda: evolved(pr.evolve, RATES.scaled(number(k)), START, number(-k), number(k, 0.3)),
        evolved(pr.evolve, RATES, START, leak=0.3),
    ),
    "signed_operator": lambda k: (
        lambda: np.ldexp(pr.signed_operator(np.ldexp(KERNEL, k), (5, 2)).toarray(), -k),
        pr.signed_operator(KERNEL, (5, 2)).toarray(),
    ),
    "squared_gradients": lambda k: (lambda: gradients(k, 1), gradients(0, 1)),
    "squared_gradients, growing": lambda k: (lambda: gradients(k, 0), grown(gradients(0, 0), 2 * k)),
    "mean_chi_square": lambda k: (lambda: chi_square(k), chi_square(0)),
    "residual": lambda k: (
        lambda: np.ldexp(pr.residual(RATES.scaled(number(min(k, 0))), 4).weights[:, [0, 2]], -min(k, 0)),
        pr.residual(RATES, 4).weights[:, [0, 2]],
    ),
    "lumped": lambda k: (lambda: np.ldexp(pr.lumped(RATES.scaled(number(k))).weights, -k), RATES.weights),
    "displacement": lambda k: (
        lambda: pr.displacement([STEP.scaled(number(k)).normalised()] * 3).covariance,
        pr.displacement([STEP] * 3).covariance,
    ),
    "heat_kernel": lambda k: (
        lambda: pr.heat_kernel([0.0, 1.0], number(-k), HEAT.scaled(number(k))),
        pr.heat_kernel([0.0, 1.0], 1.0, HEAT),
    ),
    "heat_kernel, in other units of length": lambda k: (
        lambda: np.ldexp(pr.heat_kernel([0.0, number(k)], 1.0, pr.LimitCoefficients(number(2 * k), 0.0)), k),
        pr.heat_kernel([0.0, 1.0], 1.0, pr.LimitCoefficients(1.0, 0.0)),
    ),
    "source_kernel": lambda k: (
        lambda: np.ldexp(pr.source_kernel([0.0, 1.0], number(-k), number(k)), k),
        pr.source_kernel([0.0, 1.0], 1.0, 1.0),
    ),
    "forgetting": lambda k: (
        lambda: np.ldexp(pr.forgetting(number(min(k, 0)), 4), -min(k, 0))[:1],
        pr.forgetting(1.0, 4)[:1],
    ),
}
EXEMPT = {"scaling_relations": "takes whole numbers"}


def test_every_public_function_is_here_or_exempt():
    names = {name.split(",")[0] for name in CASES}
    assert names.isdisjoint(EXEMPT)
    assert names | set(EXEMPT) == functions(pr)


@pytest.mark.parametrize("name", CASES)
@at_all_scales
def test_it_is_right_at_every_scale_or_refused(name, k):
    if "length" in name:
        k = k // 2  # squares of lengths
    compute, expected = CASES[name](k)
    right_or_refused(compute, equals(expected), abs(k) <= ORDINARY)


@at_all_scales
def test_many_jumps_leave_an_even_spread_or_are_refused(k):
    """A symmetric kernel and a mixing one, from few jumps to 1e300: from many on every position has as much."""
    even = pr.ConvolutionTransport.of_offsets({-1: 1.0, 1: 1.0})
    several = pr.ConvolutionTransport(KERNEL**2)
    jumps = number(max(k, 11))
    for rates, start in ((even, START[:, None]), (several, np.repeat(START[:, None], 2, axis=1))):
        expected = np.full(start.shape, start.mean())
        right_or_refused(
            lambda rates=rates, start=start: pr.evolve(start, [pr.Segment(1.0, rates.scaled(jumps))]).final.sum(
                axis=-1
            ),
            equals(expected.sum(axis=-1), 1e-8),
            ordinary=jumps < 1e4,
        )


@at_all_scales
def test_no_drift_goes_round_so_often_that_its_place_is_rounding(k):
    drift = pr.LimitCoefficients(0.0, 9 * number(k))  # nine positions, so once round
    right_or_refused(
        lambda: pr.evolve(START, [pr.Segment(1.0, drift)]).final[:, 0] if k >= 0 else START,
        equals(START, 1e-8),
        k <= 19,
    )


def test_a_column_of_any_scale_is_normalised_and_zeros_are_not():
    top = np.finfo(float).max
    assert pr.ConvolutionTransport([[[top], [top], [top]]]).normalised().weights.ravel().tolist() == [1 / 3] * 3
    assert (
        pr.MatrixTransport([[5e-324, top], [5e-324, top]]).normalised().weights.toarray().tolist() == [[0.5, 0.5]] * 2
    )
    with pytest.raises(ValueError, match="column 1 is zero"):
        pr.MatrixTransport([[1.0, 0.0]]).normalised()


def test_a_difference_in_a_direction_without_scatter_is_seen_at_any_scale():
    samples = np.column_stack([SAMPLES[:, 0], np.full(40, 0.5)])
    for scale in (1e-300, 1e-50, 1.0, 1e50, 1e300):
        with pytest.raises(ValueError, match="do not vary in a direction"):
            pr.mean_chi_square(scale * samples, scale * np.array([samples[:, 0].mean(), 0.4]))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_squares_that_are_no_numbers_are_refused(scale):
    for square in (pr.ConvolutionTransport.of_weights, pr.MatrixTransport.of_weights):
        with pytest.raises(ValueError, match="their squares would leave double precision"):
            square(scale * (KERNEL if square == pr.ConvolutionTransport.of_weights else MATRIX))
