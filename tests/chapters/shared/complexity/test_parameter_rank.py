"""Rank of the parameter Jacobian: bounds, symmetries, and its relation to κ."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.shared.complexity import SetNetwork, parameter_jacobian, parameter_rank, random_network, rank_bound
from tests.strategies import seeds

WIDTHS = st.lists(st.integers(1, 5), min_size=2, max_size=4)


def exchanged(items):
    """The given sets, then each with its first two items exchanged."""
    return np.concatenate([items, items[:, [1, 0, *range(2, items.shape[1])]]])


@settings(max_examples=30)
@given(seeds, WIDTHS, st.sampled_from(["relu", "leaky_relu", "tanh", "identity"]), st.integers(1, 60))
def test_the_bound_holds(seed, widths, activation, n):
    rng = np.random.default_rng(seed)
    net = random_network(widths, rng, 1.5, 0.5, activation)
    found = parameter_rank(net, rng.normal(size=(n, widths[0])))
    assert found.rank <= found.bound <= net.n_params
    assert found.per_example.sum() == pytest.approx(found.rank, abs=1e-8)
    assert found.per_example.max() <= widths[-1] + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_tanh_has_all_parameters_and_leaky_relu_one_less_per_unit(seed):
    rng = np.random.default_rng(seed)
    x = 2 * rng.normal(size=(400, 3))
    tanh, leaky = (random_network([3, 5, 4, 1], rng, 1.4, 0.5, name, 0.3) for name in ("tanh", "leaky_relu"))
    assert parameter_rank(tanh, x).rank == tanh.n_params == 49
    assert parameter_rank(leaky, x).rank == leaky.n_params - 9 == 40


def test_rescaling_a_relu_unit_is_in_the_null_space():
    rng = np.random.default_rng(0)
    net, x = random_network([2, 3, 1], rng, bias_scale=0.5), rng.normal(size=(50, 2))
    w, b, v = net.weights[0], net.biases[0], net.weights[1]
    direction = np.zeros(net.n_params)
    direction[[0, 3]], direction[6], direction[9] = w[:, 0], b[0], -v[0, 0]  # unit 0: incoming, bias, outgoing
    np.testing.assert_allclose(parameter_jacobian(net, x) @ direction, 0, atol=1e-12)


def test_a_linear_model_has_the_rank_of_its_data():
    """f = w·x + b: D is the data with a column of ones."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 6))
    assert parameter_rank(random_network([6, 1], rng), x).rank == 4


def test_a_deep_linear_network_is_no_larger_than_a_shallow_one():
    rng = np.random.default_rng(0)
    found = parameter_rank(random_network([3, 8, 1], rng, activation="identity"), rng.normal(size=(60, 3)))
    assert (found.n_params, found.bound, found.rank) == (41, 4, 4)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_an_invariant_model_saturates_at_the_orbits_and_does_not_see_the_exchange(activation):
    rng = np.random.default_rng(0)
    net = SetNetwork(*(random_network(w, rng, 1.5, 0.5, activation) for w in ([2, 6, 5], [5, 6, 1])))
    items = exchanged(rng.normal(size=(20, 3, 2)))
    found = parameter_rank(net, items)
    assert found.rank <= found.bound == 20
    assert found.rank == 20 or activation == "relu"
    assert found.odd_share() < 1e-20
    many = rng.normal(size=(500, 3, 2))
    assert parameter_rank(net, many).rank <= rank_bound(net, many) == net.n_params - (17 if activation == "relu" else 0)


def test_an_aware_model_sees_the_exchange():
    rng = np.random.default_rng(0)
    net = random_network([6, 10, 1], rng, 1.0, 0.5, "tanh")
    items = exchanged(rng.normal(size=(200, 3, 2)))
    found = parameter_rank(net, items.reshape(400, 6))
    odd = np.concatenate([np.eye(200), -np.eye(200)])  # second route: a basis of the odd functions
    assert found.odd_share() == pytest.approx(found.share(odd), abs=1e-10) and found.odd_share() > 0.2


def test_bad_input():
    rng = np.random.default_rng(0)
    found = parameter_rank(random_network([2, 1], rng), rng.normal(size=(3, 2)))
    with pytest.raises(ValueError, match="inputs: found 3 outputs of rank 3, expected two halves"):
        found.odd_share()
    dead = parameter_rank(random_network([1, 1], rng), [[0.0], [0.0]])
    assert dead.rank == 1  # the bias
    with pytest.raises(ValueError, match="network: found str"):
        parameter_rank("network", [[1.0]])
