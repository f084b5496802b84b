"""The ceiling of the rank on data: never passed, and reached where the data and the units are in general position."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.along_training.ranks import rank_bound_on_data, without_common_shift
from chapters.shared.complexity import Network, parameter_rank, random_network, rank_bound
from tests.strategies import seeds

WIDTHS = st.lists(st.integers(1, 5), min_size=2, max_size=4)
ACTIVATIONS = st.sampled_from(["relu", "leaky_relu", "hard_tanh", "tanh", "identity"])


def awkward(rng, n, d):
    """Inputs with a constant, a doubled and a summed column, and a few examples twice."""
    x = rng.normal(size=(n, d))
    x[:, 0] = 0.7
    if d > 2:
        x[:, 1] = x[:, 2]
    if d > 4:
        x[:, 3] = x[:, 2] + x[:, 4]
    x[: n // 4] = x[n // 2 : n // 2 + n // 4]
    return x


def with_odd_units(net, copies=True):
    """One unit of each hidden layer dead, one never off, one twice another, where there are as many."""
    weights, biases = [w.copy() for w in net.weights], [b.copy() for b in net.biases]
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        b[0] = -1e4
        if len(b) > 1:
            b[1] = 100
        if copies and len(b) > 3:
            w[:, 2], b[2] = 2 * w[:, 3], 2 * b[3]
    return Network(tuple(weights), tuple(biases), net.activation, net.slope)


@settings(max_examples=80)
@given(seeds, WIDTHS, ACTIVATIONS, st.integers(1, 60), st.booleans())
def test_it_is_never_passed(seed, widths, activation, n, odd):
    rng = np.random.default_rng(seed)
    net = random_network(widths, rng, 1.5, 0.5, activation)
    net = with_odd_units(net) if odd and activation in ("relu", "identity") else net
    x = awkward(rng, n, widths[0])
    found = rank_bound_on_data(net, x)
    assert parameter_rank(net, x).rank <= found.total <= min(found.free, rank_bound(net, x))


@settings(max_examples=40)
@given(seeds, st.integers(2, 6), st.integers(2, 6), st.integers(1, 3), st.sampled_from(["relu", "leaky_relu", "tanh"]))
def test_one_hidden_layer_reaches_it(seed, d, m, n_outputs, activation):
    """Many examples, a constant and a doubled input: the count is exact, and the plain bound is not."""
    rng = np.random.default_rng(seed)
    net = random_network([d, m, n_outputs], rng, 2.0, 0.5, activation, 0.3)
    x = 2 * awkward(rng, 500, d)
    assert parameter_rank(net, x, 1e-10).rank == rank_bound_on_data(net, x).total < rank_bound(net, x)


@pytest.mark.parametrize("seed", range(6))
def test_two_hidden_layers_with_odd_units_reach_it(seed):
    rng = np.random.default_rng(seed)
    net = with_odd_units(random_network([8, 7, 7, 3], rng, 1.6, 0.5), copies=False)
    x = 2 * awkward(rng, 500, 8)
    found = rank_bound_on_data(net, x)
    assert found.per_unit[0][0] == found.per_unit[1][0] == 0
    assert parameter_rank(net, x, 1e-10).rank == found.total < rank_bound(net, x)


def test_known_counts():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4))
    relu, tanh = (random_network([4, 6, 2], rng, 1.5, 0.5, name) for name in ("relu", "tanh"))
    assert rank_bound_on_data(relu, x).total == relu.n_params - 6 == rank_bound(relu, x)  # rescaling alone
    assert rank_bound_on_data(tanh, x).total == tanh.n_params
    constant = np.column_stack([x[:, :3], np.ones(400)])
    assert rank_bound_on_data(tanh, constant).total == tanh.n_params - 6  # one weight less into every unit
    linear = random_network([3, 8, 1], rng, activation="identity")
    assert rank_bound_on_data(linear, x[:, :3]).free == 4 and rank_bound_on_data(linear, x[:, :3]).total == 4


def test_units_that_are_never_off_mix():
    """g of them among m: the weights above know their sums, so that each loses g and a bias: g(g + 1) − g more."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(500, 6))
    net = random_network([6, 5, 3], rng, 1.5, 0.3)
    net.biases[0][:2] = 50
    found = rank_bound_on_data(net, x)
    assert found.per_unit[0].tolist() == [4, 4, 6, 6, 6]  # 7 less two and the bias; 7 less itself
    assert parameter_rank(net, x, 1e-10).rank == found.total


def test_a_unit_that_only_dead_units_read_is_idle():
    net = random_network([3, 4, 2, 2], np.random.default_rng(2), 1.5, 0.5)
    net.biases[1][:] = -100
    found = rank_bound_on_data(net, np.random.default_rng(3).normal(size=(50, 3)))
    assert sum(map(np.sum, found.per_unit)) == 0 and found.total == found.output == 2  # the biases of the logits


def test_what_softmax_does_not_see():
    rng = np.random.default_rng(4)
    net, x = random_network([3, 6, 4], rng, 1.5, 0.5), rng.normal(size=(300, 3))
    seen = without_common_shift(net)
    logits = net(x)
    centred = logits - logits.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(np.linalg.norm(seen(x), axis=1), np.linalg.norm(centred, axis=1), rtol=1e-12)
    whole, part = (parameter_rank(each, x, 1e-10).rank for each in (net, seen))
    assert whole - part == 7  # one direction for each of six units and the bias
    assert part == rank_bound_on_data(seen, x).total
    with pytest.raises(ValueError, match="network: found one output, expected at least two"):
        without_common_shift(random_network([3, 2, 1], rng))


def test_bad_input():
    with pytest.raises(ValueError, match=r"inputs: found shape \(2, 3\), expected \(n, 4\)"):
        rank_bound_on_data(random_network([4, 2, 1], np.random.default_rng(0)), np.zeros((2, 3)))
