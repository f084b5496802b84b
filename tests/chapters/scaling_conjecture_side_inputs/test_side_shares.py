"""Laws of the shares of X: limits, sums by brute force, and the propagation of capacity that they must agree with."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.propagation import ConvolutionTransport, Layer, propagate
from chapters.scaling_conjecture_side_inputs import side_shares as laws

DEPTHS = st.integers(1, 300)
SCALES = st.floats(0, 3)


@given(DEPTHS, SCALES)
def test_shares_are_shares_and_one_without_side_inputs(depth, gamma):
    for form in laws.LAWS:
        assert 0 <= laws.side_share(form, depth, gamma) <= 1
        assert laws.side_share(form, depth, 0.0) == pytest.approx(1)


@given(DEPTHS, SCALES)
def test_undivided_layers_never_leave_less_than_divided_ones(depth, gamma):
    assert laws.side_share("undivided", depth, gamma) >= laws.side_share("divided", depth, gamma) * (1 - 1e-12)


@given(st.integers(2, 300), st.floats(0.01, 3))
def test_one_side_input_everywhere_leaves_less_than_different_ones(depth, gamma):
    assert laws.side_share("same", depth, gamma) < laws.side_share("undivided", depth, gamma)


@pytest.mark.parametrize("depth", [1, 2, 7, 40])
def test_undivided_sums_by_brute_force(depth):
    r, gamma = 1 + 1 / depth, 0.3
    powers = r ** np.arange(depth)
    for form, leaked in (("undivided", powers.sum()), ("same", np.minimum.outer(powers, powers).sum())):
        expected = r**depth / (r**depth + gamma**2 * leaked)
        assert laws.side_share(form, depth, gamma) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("alpha", "depth"), [(0.5, 64), (1.0, 256), (3.0, 64)])
def test_divided_layers_are_a_propagation_with_leaks(alpha, depth):
    """Squared columns of a divided layer: 1 + 1/L on the layer below and γ² on the side input, over their sum."""
    gamma = np.sqrt(alpha / depth)
    below = 1 + 1 / depth
    layer = Layer.leaky(ConvolutionTransport.of_offsets({0: 1.0}), side=gamma**2 / (below + gamma**2))
    found = propagate([1.0], [layer] * depth)
    assert found.masses["input"] == pytest.approx(laws.side_share("divided", depth, gamma), rel=1e-12)
    assert found.masses["input"] == pytest.approx(np.exp(-alpha), rel=(alpha + 1) * alpha / depth)


def test_limits_of_many_layers():
    depth = 2**20
    gamma = depth**-0.5
    assert laws.side_share("divided", depth, gamma) == pytest.approx(np.exp(-1), rel=1e-5)
    assert laws.side_share("undivided", depth, gamma) == pytest.approx(1 / (2 - np.exp(-1)), rel=1e-5)
    assert laws.side_share("same", depth, 1 / depth) == pytest.approx(1 / (1 + 2 * (1 - 2 / np.e)), rel=1e-5)


def test_capacity_of_one_space_falls_like_the_root_of_the_law():
    assert laws.same_space_limit(0.0) == pytest.approx(1) and laws.same_space_limit(1e-6) == pytest.approx(1, abs=2e-6)
    for alpha in (20.0, 30.0):
        assert laws.same_space_limit(alpha) == pytest.approx(np.exp(-alpha / 2), rel=1e-3)


@given(st.floats(0, 300), st.integers(1, 500))
def test_a_constant_takes_between_nothing_and_one_dimension(alpha, n_units):
    kept = laws.constant_limit(alpha, n_units)
    assert 1 - 1 / n_units - 1e-12 <= kept <= 1
    assert laws.constant_limit(0.0, n_units) == 1


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("alpha: found -2", lambda: laws.constant_limit(-2.0, 4)),
        ("n_units: found 0", lambda: laws.constant_limit(1.0, 0)),
        ("form: found 'sames'", lambda: laws.side_share("sames", 8, 0.5)),
        ("gamma: found -1", lambda: laws.side_share("same", 8, -1.0)),
        ("alpha: found -1", lambda: laws.same_space_limit(-1.0)),
        ("rows: found none", lambda: laws.worst_ratio([])),
    ],
)
def test_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_worst_ratio_counts_both_directions():
    rows = [
        {"form": "divided", "depth": 8, "exponent": 0.5, "mean": factor * laws.side_share("divided", 8, 8**-0.5)}
        for factor in (1.1, 0.5, 1.5)
    ]
    assert laws.worst_ratio(rows) == pytest.approx(0.5)
