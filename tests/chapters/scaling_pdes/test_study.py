"""Layers, the lattice law and the heat equation: orders, published values, and the law of large N by brute force."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ive
from scipy.stats import binom, poisson

from capcore.propagation import LimitCoefficients
from chapters.scaling_pdes import study


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
    found = study.law_of_layers(rates, 65, study.one_output(x))
    np.testing.assert_allclose(found, binom.pmf(x, 64, 3 / 64), atol=1e-14)
    np.testing.assert_allclose(study.lattice_law(rates, study.one_output(x)), poisson.pmf(x, 3), atol=1e-14)


@settings(max_examples=10, deadline=None)
@given(
    st.dictionaries(st.integers(-3, 3).filter(bool), st.floats(0.05, 1.0), min_size=1, max_size=4),
    st.integers(8, 200),
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


def test_a_shallow_network_is_the_first_that_can_carry_the_rates():
    shown = study.comparison(4.0, [4, 8, 16, 32], 1000)
    (x, found), (_, many) = shown.points["16 layers"], shown.points["many layers"]
    assert many[x == 0] == pytest.approx(0.1434317819, abs=1e-10)
    assert shown.gap == pytest.approx(1 / 64, rel=0.1)  # 1/(16 D)
    heat, kept = 1 / np.sqrt(16 * np.pi), 1 - 8 / 15  # of a layer; 15 layers jump k times to the left and to the right
    ways = sum(comb(15, k) * comb(15 - k, k) * (4 / 15) ** (2 * k) * kept ** (15 - 2 * k) for k in range(8))
    assert found[x == 0] == pytest.approx(ways, rel=1e-9)
    assert shown.from_jumps == pytest.approx(abs((1 + shown.gap) * heat / 0.1434317819 - 1), abs=1e-8)


def test_more_layers_come_to_the_law_of_jumps_and_not_to_the_heat_kernel():
    few, many = (study.comparison(1.0, [8], depth) for depth in (1_001, 10_001))
    assert few.from_jumps / many.from_jumps == pytest.approx(10, rel=0.01)  # of first order in 1/N
    assert many.gap == pytest.approx(0.0936, abs=1e-3)  # 0.3085083226 over 0.2820947918


def test_the_variance_is_that_of_the_kernel_at_every_depth():
    assert [study.variance_gap(depth) < 1e-12 for depth in (3, 10, 300)] == [True] * 3


def test_displacement_of_a_binomial():
    assert study.relative_displacement(65, 8.0) == pytest.approx(8 / np.sqrt(8 * (1 - 8 / 64)))


def test_the_table_has_the_printed_and_the_derived_exponents():
    rows = {(row["equation"][:6], row["squared scale"]): row for row in study.scaling_rows()}
    first, channels, image = (rows[name, "residual capacity ε"] for name in ("Eq. 5 ", "Eq. 27", "Eq. 29"))
    assert (first["printed"], first["finite jumps or leak"], first["finite D in positions²"]) == (
        "1/L",
        "1/(L r)",
        "1/(L r³)",
    )
    assert (channels["printed"], channels["finite jumps or leak"]) == ("1/(C L)", "1/(C L r)")
    assert image["printed"] == image["finite jumps or leak"] == "1/(L r²)"
    assert study.as_fraction({}) == "1"


def test_kernels_from_text_are_those_from_numbers():
    found, expected = (study.rates_of_kernel(k) for k in ({"-1": 1, "2": 0.5}, {-1: 1.0, 2: 0.5}))
    np.testing.assert_array_equal(found.weights, expected.weights)
    assert LimitCoefficients.of_rates(found).drift[0] == 0


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("kernel: found {}", lambda: study.rates_of_kernel({})),
        ("kernel: found 3, expected rates by offset", lambda: study.rates_of_kernel(3)),
        ("expected whole numbers", lambda: study.rates_of_kernel({"left": 1.0})),
        (r"kernel\[1\]: found -1, expected a rate", lambda: study.rates_of_kernel({1: -1.0})),
        ("a positive rate at an offset other than 0", lambda: study.rates_of_kernel({0: 1.0})),
        ("diffusion: found 0", lambda: study.neighbours(0)),
        ("depths: found 7, expected a list", lambda: study.usable_depths(7, study.neighbours(1.0))),
        ("depths: found 1, expected a whole number", lambda: study.usable_depths([1], study.neighbours(1.0))),
        ("found 1 of .*total rate of jumps, 8", lambda: study.usable_depths([8, 9], study.neighbours(4.0))),
        ("spreads: found 4, expected a list", lambda: study.checked_spreads(4)),
        ("two different numbers above 0", lambda: study.checked_spreads([0, 1])),
    ],
)
def test_unusable_settings_are_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("alpha", "limit"), [(0.0, np.exp(2.0)), (1.5, np.exp(0.5) + 1.5 * (np.exp(0.5) - 1) / 0.5)])
def test_without_unit_columns_capacity_grows(alpha, limit):
    """Growth at rate 2 − α: the closed form of what is left and what leaked."""
    assert study.without_unit_columns(study.neighbours(1.0), 20001, alpha) == pytest.approx(limit, rel=1e-3)
