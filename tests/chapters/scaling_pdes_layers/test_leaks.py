"""Leaks: conservation at every depth, products by hand, closed forms of the limit, and what a constant can hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.propagation import NotStochasticError, Segment, evolve
from chapters.scaling_pdes.study import axis, lattice_law, neighbours, one_output, order
from chapters.scaling_pdes_layers import leaks


@settings(max_examples=15, deadline=None)
@given(st.integers(4, 60), st.floats(0.01, 1.0), st.floats(0.0, 1.5), st.booleans())
def test_nothing_is_lost_at_any_depth(depth, d, alpha, bias):
    output = one_output(axis(neighbours(d)))
    run = leaks.leaking(neighbours(d), depth, lambda t: alpha * t, output, bias)
    assert leaks.imbalance([run]) < 1e-13
    steps = (depth - 1 - np.arange(1, depth)) / (depth - 1)
    assert run.masses["input"] == pytest.approx(np.prod(1 - alpha * steps / (depth - 1)))
    assert run.masses["bias" if bias else "side"] == pytest.approx(1 - run.masses["input"])


def test_the_input_keeps_the_exponential_of_the_integral():
    depths = [513, 1025]
    runs = [leaks.leaking(neighbours(0.25), depth, lambda t: 1.5, np.ones(1)) for depth in depths]
    gaps = [abs(run.masses["input"] - np.exp(-1.5)) for run in runs]
    assert order([512, 1024], gaps) == pytest.approx(1, abs=0.01)
    assert gaps[-1] == pytest.approx(np.exp(-1.5) * 1.5**2 / 2 / 1024, rel=0.01)


def test_the_limit_of_the_side_inputs_by_short_segments():
    rates, slope = neighbours(2.0), 3.0
    output = one_output(axis(rates))
    found = leaks.side_lattice_law(rates, slope, output)
    segments = [Segment(1 / 400, rates, leak=slope * (k + 0.5) / 400) for k in range(400)]
    np.testing.assert_allclose(found, evolve(output, segments).leaked[:, 0], atol=3e-6)
    assert found.sum() == pytest.approx(-np.expm1(-1.5), abs=1e-10)


def test_profiles_of_the_side_inputs_come_to_their_limit_with_order_one():
    rates = neighbours(1.0)
    runs = leaks.growing(rates, [129, 257], 3.0)
    gaps = leaks.side_gaps(runs, leaks.side_lattice_law(rates, 3.0, one_output(axis(rates))))
    assert order([128, 256], gaps) == pytest.approx(1, abs=0.03)


def test_a_leak_that_is_the_same_everywhere_leaves_the_shape():
    rates = neighbours(1.0)
    output = one_output(axis(rates))
    run = leaks.leaking(rates, 4001, lambda t: 0.7, output)
    np.testing.assert_allclose(run.per_position, np.exp(-0.7) * lattice_law(rates, output), atol=2e-4)


def test_such_layers_are_refused_unless_asked_for():
    from capcore.propagation import ConvolutionTransport, Layer, propagate

    layer = Layer(ConvolutionTransport.of_offsets({-1: 0.1, 0: 1.0, 1: 0.1}))
    with pytest.raises(NotStochasticError):
        propagate(np.ones(3), [layer])


def test_the_equation_is_close_to_the_lattice_where_capacity_spreads():
    gaps = [leaks.equation_gap(d, 3.0) for d in (16.0, 64.0)]
    assert gaps[1] < 1e-3 and gaps[0] / gaps[1] == pytest.approx(4, rel=0.1)


def test_what_goes_to_a_constant_is_in_proportion_to_the_output():
    found = leaks.to_a_constant(1.5, 1001, [1, 4])
    assert found[1] == pytest.approx(4 * found[0])
    assert found[1] == pytest.approx(leaks.most_that_leaks(1.5, 4.0), rel=1e-3)
    assert found[1] > 1  # more than one dimension


@pytest.mark.parametrize("leak", [0, -1, 3.6, np.nan, "much"])
def test_unusable_leaks_are_refused(leak):
    with pytest.raises(ValueError, match="leak: found"):
        leaks.checked_slope(leak, 8)
