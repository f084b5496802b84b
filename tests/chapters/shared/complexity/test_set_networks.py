"""Deep Sets: what they compute, and that they cannot see the order."""

import numpy as np
import pytest
from hypothesis import given

from chapters.shared.complexity import SetNetwork, parameter_jacobian, random_network
from chapters.shared.complexity.network import Network
from tests.strategies import seeds


def network(seed, activation="tanh", n_outputs=1):
    rng = np.random.default_rng(seed)
    below = random_network([2, 4, 3], rng, 1.0, 0.5, activation)
    return SetNetwork(below, random_network([3, 5, n_outputs], rng, 1.0, 0.5, activation))


@given(seeds)
def test_the_order_of_the_items_changes_nothing_to_the_last_digit(seed):
    rng = np.random.default_rng(seed)
    net, items = network(seed), rng.normal(size=(7, 5, 2))
    both = net(np.concatenate([items, items[:, rng.permutation(5)]]))
    np.testing.assert_array_equal(both[:7], both[7:])


def test_it_is_the_sum_over_the_items():
    net, items = network(0), np.random.default_rng(1).normal(size=(3, 4, 2))
    expected = [net.rest(np.tanh(net.items(each)).sum(axis=0)[None])[0] for each in items]
    np.testing.assert_allclose(net(items), expected, rtol=1e-12)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_parameter_jacobian_is_the_slope(activation):
    """Central differences; 1e-6 is the square of the step times third derivatives of order one."""
    net, items = network(3, activation, 2), np.random.default_rng(4).normal(size=(6, 3, 2))
    parts = (*net.items.weights, *net.items.biases, *net.rest.weights, *net.rest.biases)
    found = parameter_jacobian(net, items)
    assert found.shape == (12, net.n_params) == (12, sum(part.size for part in parts))
    columns = []
    for side in ("items", "rest"):
        old = getattr(net, side)
        for layer in range(len(old.weights)):
            for kind in ("weights", "biases"):
                for i in range(getattr(old, kind)[layer].size):
                    columns.append(
                        (
                            shifted(net, side, kind, layer, i, 1e-4)(items)
                            - shifted(net, side, kind, layer, i, -1e-4)(items)
                        ).ravel()
                        / 2e-4
                    )
    np.testing.assert_allclose(found, np.array(columns).T, atol=1e-6)


def shifted(net, side, kind, layer, index, step):
    old = getattr(net, side)
    arrays = {name: [a.copy() for a in getattr(old, name)] for name in ("weights", "biases")}
    arrays[kind][layer].flat[index] += step
    new = Network(tuple(arrays["weights"]), tuple(arrays["biases"]), old.activation)
    return SetNetwork(new if side == "items" else net.items, new if side == "rest" else net.rest)


def test_bad_input():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="rest: found a network of 4 inputs, expected 3"):
        SetNetwork(random_network([2, 3], rng), random_network([4, 1], rng))
    with pytest.raises(ValueError, match=r"inputs: found shape \(5, 4, 3\), expected \(n, items, 2\)"):
        network(0)(np.ones((5, 4, 3)))
