"""Laws of the shares of X against limits and sums, and capacities of linear networks: routes, conservation, bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.propagation import ConvolutionTransport, Layer, propagate
from chapters.scaling_conjecture_side_inputs import study
from chapters.scaling_conjecture_side_inputs.study import same_space_limit

DEPTHS = st.integers(1, 300)
SCALES = st.floats(0, 3)


@given(DEPTHS, SCALES)
def test_shares_are_shares_and_one_without_side_inputs(depth, gamma):
    for form in study.LAWS:
        assert 0 <= study.side_share(form, depth, gamma) <= 1
        assert study.side_share(form, depth, 0.0) == pytest.approx(1)


@given(DEPTHS, SCALES)
def test_undivided_layers_never_leave_less_than_divided_ones(depth, gamma):
    assert study.side_share("undivided", depth, gamma) >= study.side_share("divided", depth, gamma) * (1 - 1e-12)


@given(st.integers(2, 300), st.floats(0.01, 3))
def test_one_side_input_everywhere_leaves_less_than_different_ones(depth, gamma):
    assert study.side_share("same", depth, gamma) < study.side_share("undivided", depth, gamma)


@pytest.mark.parametrize("depth", [1, 2, 7, 40])
def test_undivided_sums_by_brute_force(depth):
    r, gamma = 1 + 1 / depth, 0.3
    powers = r ** np.arange(depth)
    for form, leaked in (("undivided", powers.sum()), ("same", np.minimum.outer(powers, powers).sum())):
        expected = r**depth / (r**depth + gamma**2 * leaked)
        assert study.side_share(form, depth, gamma) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("alpha", "depth"), [(0.5, 64), (1.0, 256), (3.0, 64)])
def test_divided_layers_are_a_propagation_with_leaks(alpha, depth):
    """Squared columns of a divided layer: 1 + 1/L on the layer below and γ² on the side input, over their sum."""
    gamma = np.sqrt(alpha / depth)
    below = 1 + 1 / depth
    layer = Layer.leaky(ConvolutionTransport.of_offsets({0: 1.0}), side=gamma**2 / (below + gamma**2))
    found = propagate([1.0], [layer] * depth)
    assert found.masses["input"] == pytest.approx(study.side_share("divided", depth, gamma), rel=1e-12)
    assert found.masses["input"] == pytest.approx(np.exp(-alpha), rel=(alpha + 1) * alpha / depth)


def test_limits_of_many_layers():
    depth = 2**20
    gamma = depth**-0.5
    assert study.side_share("divided", depth, gamma) == pytest.approx(np.exp(-1), rel=1e-5)
    assert study.side_share("undivided", depth, gamma) == pytest.approx(1 / (2 - np.exp(-1)), rel=1e-5)
    assert study.side_share("same", depth, 1 / depth) == pytest.approx(1 / (1 + 2 * (1 - 2 / np.e)), rel=1e-5)


def test_capacity_of_one_space_falls_like_the_root_of_the_law():
    assert study.same_space_limit(0.0) == pytest.approx(1) and study.same_space_limit(1e-6) == pytest.approx(
        1, abs=2e-6
    )
    for alpha in (20.0, 30.0):
        assert study.same_space_limit(alpha) == pytest.approx(np.exp(-alpha / 2), rel=1e-3)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("form: found 'sames'", lambda: study.side_share("sames", 8, 0.5)),
        ("gamma: found -1", lambda: study.side_share("same", 8, -1.0)),
        ("alpha: found -1", lambda: study.same_space_limit(-1.0)),
        ("rows: found none", lambda: study.worst_ratio([])),
    ],
)
def test_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_worst_ratio_counts_both_directions():
    rows = [
        {"form": "divided", "depth": 8, "exponent": 0.5, "mean": factor * study.side_share("divided", 8, 8**-0.5)}
        for factor in (1.1, 0.5, 1.5)
    ]
    assert study.worst_ratio(rows) == pytest.approx(0.5)


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 6), st.integers(1, 6), st.floats(0.01, 0.9), st.sampled_from(study.KINDS), st.integers(0, 99))
def test_both_routes_agree_and_capacity_is_conserved(width, depth, square, kind, seed):
    net = study.side_network(width, depth, square, kind, np.random.default_rng(seed))
    kept = net.capacity_of_x()
    assert kept == pytest.approx(net.capacity_by_ratios(), abs=1e-8)
    assert 0 <= kept <= width
    if kind == "constant":
        assert width - kept <= 1 + 1e-9
    rows = np.concatenate([net.on_x, net.on_side], axis=1)
    if kind == "different":
        np.testing.assert_allclose(rows @ rows.T, np.eye(width), atol=1e-12)
        assert kept == pytest.approx(width * (1 - square) ** depth, abs=1e-9)


def test_a_network_runs_as_its_coefficients_say():
    net = study.side_network(3, 2, 0.3, "same", np.random.default_rng(1))
    again = study.side_network(3, 2, 0.3, "different", np.random.default_rng(1))
    np.testing.assert_allclose(net.on_x, again.on_x)
    np.testing.assert_allclose(net.on_side, again.on_side[:, :3] + again.on_side[:, 3:])
    np.testing.assert_allclose(again.on_side[:, :3], np.sqrt(0.3) * np.eye(3))  # the uppermost layer's comes first


def test_one_wide_space_has_the_capacity_of_its_limit():
    nets = [study.side_network(60, 60, 1 / 61, "same", np.random.default_rng(seed)) for seed in range(3)]
    kept = np.mean([net.capacity_of_x() for net in nets]) / 60
    alpha = -60 * np.log(1 - 1 / 61)
    assert kept == pytest.approx(same_space_limit(alpha), abs=0.02)  # corrections of order 1/width


def test_a_constant_takes_less_than_one_dimension_at_any_depth():
    net = study.side_network(32, 256, 0.5, "constant", np.random.default_rng(0))
    assert 31 / 32 - 1e-12 <= net.capacity_by_ratios() / 32 <= 31 / 32 + 1e-6


def test_gradients_on_a_constant_are_those_of_propagation_on_average():
    depth, square = 12, 1 / 12
    on_x, on_constant = study.constant_gradients(7, depth, square, 20_000, np.random.default_rng(0))
    local = ConvolutionTransport.of_offsets({-1: 0.5 / depth, 0: 1 - 1 / depth, 1: 0.5 / depth})
    output = np.zeros(7)
    output[3] = 1
    law = propagate(output, [Layer.leaky(local, bias=square)] * depth).masses
    for found, expected in ((on_x, law["input"]), (on_constant, law["bias"])):
        assert abs(found.mean() - expected) < 4 * found.std() / np.sqrt(found.size)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("kind: found 'sme'", lambda: study.side_network(4, 2, 0.1, "sme", np.random.default_rng(0))),
        ("square: found 1", lambda: study.side_network(4, 2, 1.0, "same", np.random.default_rng(0))),
        ("width: found 1", lambda: study.side_network(1, 2, 0.1, "same", np.random.default_rng(0))),
        ("n_positions: found 2", lambda: study.constant_gradients(2, 2, 0.1, 5, np.random.default_rng(0))),
        ("square: found -0.1", lambda: study.constant_gradients(5, 2, -0.1, 5, np.random.default_rng(0))),
    ],
)
def test_refused_side_capacity(message, call):
    with pytest.raises(ValueError, match=message):
        call()
