"""Layers, the lattice law and the heat equation; paths against propagation, integrals against Fourier."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ive
from scipy.stats import binom, poisson

from capcore.propagation import LimitCoefficients, heat_kernel, propagate, residual
from chapters.scaling_pdes import paths as routes
from chapters.scaling_pdes import study
from chapters.scaling_pdes.study import neighbours, one_output, total_variation


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(routes.KINDS), st.integers(1, 6), st.integers(2, 5), st.sampled_from([0.0, 0.2, 0.5]), st.data())
def test_two_routes_find_the_same_edges_and_all_of_the_capacity(kind, n, depth, rate, data):
    network = routes.example(kind, n, depth, rate)
    node = (data.draw(st.integers(0, depth - 1)), data.draw(st.integers(0, n - 1)))
    paths = list(routes.listed_paths(network, node))
    assert routes.paths_by_operator(network, node) == routes.edges_of([path for path, _ in paths])
    assert sum(weight for _, weight in paths) == pytest.approx(network.capacity(node), abs=1e-14)
    assert all(path[0] == (depth, 0) and path[-1] == node for path, _ in paths)


def test_paths_by_hand():
    """Two layers under the output, three positions: the cone of the middle one, and of an end."""
    plain, skips = routes.example("plain", 3, 3), routes.example("skips", 3, 3)
    assert len(routes.paths_by_operator(plain, (2, 1))) == 1
    assert len(routes.paths_by_operator(plain, (1, 1))) == 6
    assert len(routes.paths_by_operator(plain, (1, 0))) == 4
    assert len(routes.paths_by_operator(skips, (1, 1))) == 7  # one of them straight from the output
    assert ((3, 0), (1, 1)) in routes.paths_by_operator(skips, (1, 1))


def test_the_printed_form_of_equation_4():
    """The same without the change of variables, at one position."""
    x, spread = 5.0, 2 * np.sqrt(7.0)
    printed = quad(
        lambda y: np.exp(-((x - y) ** 2) / 28) / np.sqrt(28 * np.pi) * float(routes.two_regions(np.array(y))),
        -80,
        90,
        limit=400,
        points=[-24, 5, 24],
    )[0]
    assert routes.gaussian_average(routes.two_regions, np.array([x]), spread)[0] == pytest.approx(printed, rel=1e-9)


@pytest.mark.parametrize("strengths", [[1.0], [1.0, 0.0], [0.0, 1.0], [0.3, 0.0, 1.0]], ids=str)
def test_sources_by_quadrature_and_by_fourier(strengths):
    integral, solved = routes.two_routes(np.arange(-90.0, 91.0), 4.0, strengths)
    np.testing.assert_allclose(integral, solved, atol=1e-9)


def test_the_leaked_density_adds_up_and_is_the_sum_over_short_times():
    x = np.arange(-50.0, 50.0, 0.25)
    result = routes.leaked_density(x, 16.0, 3.0)
    assert result.sum() / 4 == pytest.approx(-np.expm1(-1.5), abs=1e-6)
    times = (np.arange(2000) + 0.5) / 2000
    flat = LimitCoefficients(np.array([[16.0]]), np.zeros(1))
    summed = np.mean([3 * t * np.exp(-1.5 * t**2) * heat_kernel(x, t, flat) for t in times], axis=0)
    np.testing.assert_allclose(result, summed, atol=1e-5)


@pytest.mark.parametrize("boundary", routes.EDGES)
def test_images_are_what_layers_do_at_an_edge(boundary):
    d, distance = 16.0, 6
    x = np.arange(120)
    layers = [residual(neighbours(d), 1000)] * 1000
    result = propagate(one_output(x - distance), layers, boundary=boundary)
    assert total_variation(result.per_position, routes.edge_law(x, distance, d, boundary)) < 0.004
    assert (result.masses["boundary"] > 0.1) == (boundary == "absorbing")


@pytest.mark.parametrize(("d", "value"), [(1.0, 0.3085083226), (4.0, 0.1434317819)])
def test_published_values_of_the_lattice_law(d, value):
    x = study.axis(study.neighbours(d))
    law = study.lattice_law(study.neighbours(d), study.one_output(x))
    np.testing.assert_allclose(law, ive(x, 2 * d), atol=1e-15)
    assert law[x == 0] == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize(("d", "value"), [(1.0, 0.2820947918), (4.0, 0.1410473959)])
def test_published_values_of_the_heat_kernel(d, value):
    assert study.heat_law(study.neighbours(d), np.zeros(1)) == pytest.approx(value, abs=1e-10)


def test_one_sided_layers_are_binomial_and_tend_to_poisson():
    rates = study.neighbours(1.5, causal=True)
    x = study.axis(rates)
    result = study.law_of_layers(rates, 65, study.one_output(x))
    np.testing.assert_allclose(result, binom.pmf(x, 64, 3 / 64), atol=1e-14)
    np.testing.assert_allclose(study.lattice_law(rates, study.one_output(x)), poisson.pmf(x, 3), atol=1e-14)


@settings(max_examples=10, deadline=None)
@given(
    st.dictionaries(st.integers(-3, 3).filter(bool), st.floats(0.05, 1.0), min_size=1, max_size=4), st.integers(8, 200)
)
def test_layers_one_by_one_and_by_symbol_agree_and_conserve(kernel, depth):
    rates = study.rates_of_kernel(kernel)
    output = study.one_output(study.axis(rates))
    once, power = study.law_of_layers(rates, depth, output), study.law_of_many_layers(rates, depth, output)
    np.testing.assert_allclose(once, power, atol=1e-14)
    assert once.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("kernel", [{-1: 1.0, 1: 1.0}, {0: 5.0, 1: 2.0}, {-2: 0.5, 3: 0.25}], ids=str)
def test_first_order_in_the_number_of_layers(kernel):
    depths = [257, 513]
    rates = study.rates_of_kernel(kernel)
    output = study.one_output(study.axis(rates))
    limit = study.lattice_law(rates, output)
    gaps = [study.total_variation(study.law_of_layers(rates, depth, output), limit) for depth in depths]
    assert study.order([d - 1 for d in depths], gaps) == pytest.approx(1, abs=0.02)


def test_orders_in_the_spread():
    """Excess kurtosis 1/(2D) leaves E|He₄|/(96 D), skewness (2D)^(-1/2) E|He₃|/12, from Edgeworth's expansion."""
    z = np.linspace(-9, 9, 20001)
    normal = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    fourth, third = (np.abs(h) @ normal for h in (z**4 - 6 * z**2 + 3, z**3 - 3 * z))
    spreads = [32.0, 64.0]
    even, skewed = study.spread_gaps(spreads), study.spread_gaps(spreads, causal=True)
    assert even[-1] == pytest.approx(fourth / 96 / 64, rel=0.02)
    assert skewed[-1] == pytest.approx(third / 12 / np.sqrt(128), rel=0.02)
    assert study.order(spreads, even) == pytest.approx(1, abs=0.02)
    assert study.order(spreads, skewed) == pytest.approx(0.5, abs=0.02)
    assert study.spread_gaps(spreads, causal=True, drift=False)[-1] > 0.99


def test_a_shallow_network_is_the_second_that_can_carry_the_rates():
    shown = study.comparison(4.0, [4, 8, 12, 16, 32], 1000)
    (x, result), (_, many) = shown.points["16 layers"], shown.points["many layers"]
    assert many[x == 0] == pytest.approx(0.1434317819, abs=1e-10)
    assert shown.gap == pytest.approx(1 / 64, rel=0.1)  # 1/(16 D)
    heat, expected = (
        1 / np.sqrt(16 * np.pi),
        1 - 8 / 15,
    )  # of a layer; 15 layers jump k times to the left and to the right
    ways = sum(comb(15, k) * comb(15 - k, k) * (4 / 15) ** (2 * k) * expected ** (15 - 2 * k) for k in range(8))
    assert result[x == 0] == pytest.approx(ways, rel=1e-9)
    assert shown.from_jumps == pytest.approx(abs((1 + shown.gap) * heat / 0.1434317819 - 1), abs=1e-8)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("a positive rate at an offset other than 0", lambda: study.rates_of_kernel({0: 1.0})),
        ("found 1 of .*total rate of jumps, 8", lambda: study.usable_depths([8, 9], study.neighbours(4.0))),
        ("two different numbers", lambda: study.checked_spreads([4, 4])),
        ("target: found layer 6", lambda: routes.node_of(routes.example("plain"), [6, 1])),
    ],
)
def test_unusable_settings_are_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("alpha", "limit"), [(0.0, np.exp(2.0)), (1.5, np.exp(0.5) + 1.5 * (np.exp(0.5) - 1) / 0.5)])
def test_without_unit_columns_capacity_grows(alpha, limit):
    """Growth at rate 2 − α: the closed form of what is left and what leaked."""
    assert study.without_unit_columns(study.neighbours(1.0), 20001, alpha) == pytest.approx(limit, rel=1e-3)
