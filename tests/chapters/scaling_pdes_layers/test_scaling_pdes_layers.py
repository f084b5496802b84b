"""Sources and leaks in every layer: brute force, closed forms, published values and orders."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad_vec
from scipy.stats import skellam

from capcore.propagation import Segment, evolve, residual
from chapters.scaling_pdes.study import axis, neighbours, one_output, order
from chapters.scaling_pdes_layers import leaks, study
from chapters.scaling_pdes_layers.study import source_kernel


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
    result = leaks.side_lattice_law(rates, slope, output)
    segments = [Segment(1 / 400, rates, leak=slope * (k + 0.5) / 400) for k in range(400)]
    np.testing.assert_allclose(result, evolve(output, segments).leaked[:, 0], atol=3e-6)
    assert result.sum() == pytest.approx(-np.expm1(-1.5), abs=1e-10)


def test_what_goes_to_a_constant_is_in_proportion_to_the_output():
    result = leaks.to_a_constant(1.5, 1001, [1, 4])
    assert result[1] == pytest.approx(4 * result[0])
    assert result[1] == pytest.approx(leaks.most_that_leaks(1.5, 4.0), rel=1e-3)
    assert result[1] > 1  # more than one dimension


def dense_powers(rates, depth, n):
    """Powers 0 … N of the layers' matrix, on a periodic range."""
    matrix = residual(rates, depth - 1).operator((n, 1))[0].toarray()
    return [np.linalg.matrix_power(matrix, k) for k in range(depth)]


@settings(max_examples=10, deadline=None)
@given(st.integers(3, 12), st.floats(0.1, 0.9))
def test_sums_over_layers_by_brute_force(depth, d):
    rates = neighbours(d)
    source = np.zeros(9)
    source[4] = 1
    powers = dense_powers(rates, depth, 9)
    every_level = study.connected(rates, depth, source)
    np.testing.assert_allclose(every_level[0], sum(p @ source for p in powers[1:]), atol=1e-13)
    np.testing.assert_allclose(every_level[-1], source)
    everything = sum(p @ source for p in powers)
    np.testing.assert_allclose(study.cumulated(rates, depth, source), everything, atol=1e-13)
    np.testing.assert_allclose(study.cumulated_one_by_one(rates, depth, source), everything, atol=1e-13)


def by_quadrature(diffusion, x):
    """(n,) the law at whole positions x (n,) as an integral of the closed form of the lattice law."""

    def integrand(s):
        return skellam.pmf(x, diffusion * s, diffusion * s) if s else (x == 0).astype(float)

    return quad_vec(integrand, 0, 1, epsabs=1e-12)[0]


def test_published_value_by_three_routes():
    x = axis(neighbours(4.0))
    law = study.steady_lattice_law(neighbours(4.0), one_output(x))
    assert law[x == 0] == pytest.approx(0.2775742752, abs=1e-10)
    assert study.at_the_source(4.0) == pytest.approx(0.2775742752, abs=1e-10)
    np.testing.assert_allclose(by_quadrature(4.0, x), law, atol=1e-12)
    assert abs(study.published_gap(4.0)) < 1e-10 and abs(study.published_gap(2.5)) < 1e-12
    assert source_kernel(0.0, 1.0, 4.0) == pytest.approx(0.2820947918, abs=1e-10)


def test_any_depth_by_a_geometric_series_is_the_sum_over_layers():
    x = axis(neighbours(4.0))
    listed = study.connected(neighbours(4.0), 65, one_output(x))[0][x == 0][0] / 64
    assert study.gap_of_depth(4.0, 65) == pytest.approx(listed / source_kernel(0.0, 1.0, 4.0) - 1, abs=1e-13)
    assert study.gap_of_depth(4.0, 2**20) == pytest.approx(-1 / 64, rel=0.03)  # −1/(16 D)


@pytest.mark.parametrize("kind", ["connected", "cumulated"])
def test_first_order_in_the_number_of_layers(kind):
    depths = [257, 513]
    assert order([d - 1 for d in depths], study.layer_gaps(neighbours(2.0), depths, kind)) == pytest.approx(1, abs=0.02)


def test_first_order_in_the_spread_with_its_factor():
    gaps = study.spread_gaps([32.0, 64.0])
    assert order([32, 64], gaps) == pytest.approx(1, abs=0.02)
    assert gaps[-1] == pytest.approx(1 / (16 * 64), rel=0.02)


def test_totals_of_equation_8_are_one_source_off_at_either_end():
    totals, printed = study.total_slip(100)
    assert totals[-1] - printed[-1] == 1
    assert totals[0] - printed[0] == -1
    assert np.abs(totals - printed).max() == pytest.approx(1)
