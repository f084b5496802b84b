"""The quick rank counts what the whole decomposition counts, and never rounding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.complexity import Network, parameter_rank, random_network
from chapters.along_training.jacobian_rank import example_leverage, quick_rank
from tests.strategies import seeds

LINEAR_PIECES = ("relu", "leaky_relu", "hard_tanh", "identity")


def test_nothing_left_but_rounding():
    """Two linear layers of one unit: the lower one can do nothing that the upper cannot."""
    net, x = Network([[[1.0]], [[2.0]]], [[0.3], [0.1]], "identity"), np.array([[1.0], [2.0], [3.0]])
    assert quick_rank(net, x).rank == parameter_rank(net, x).rank == 2
    np.testing.assert_allclose(example_leverage(net, x).sum(), 2)


def test_a_last_layer_that_can_do_everything():
    net, x = Network([[[1.0]], [[1.0]]], [[0.0], [0.0]]), np.array([[1.0], [2.0]])
    assert quick_rank(net, x).rank == parameter_rank(net, x).rank == 2
    np.testing.assert_allclose(example_leverage(net, x), 1)


@settings(max_examples=150, deadline=None)
@given(seeds, st.lists(st.integers(1, 4), min_size=2, max_size=5), st.sampled_from(LINEAR_PIECES), st.integers(1, 30))
def test_it_is_the_rank_with_coarse_weights(seed, widths, activation, n):
    """Multiples of a quarter: exact dependencies between units and layers are common, and rounding is what is left."""
    rng = np.random.default_rng(seed)
    net = random_network(widths, rng, 2.0, 1.0, activation)
    coarse = [[np.round(4 * part) / 4 for part in parts] for parts in (net.weights, net.biases)]
    net, x = Network(*coarse, activation), np.round(4 * rng.normal(size=(n, widths[0]))) / 4
    whole = parameter_rank(net, x)
    assert quick_rank(net, x).rank == whole.rank
    np.testing.assert_allclose(example_leverage(net, x), whole.per_example, atol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_smooth_units(scale):
    net = random_network([6, 5, 4, 3], np.random.default_rng(2), scale, 0.5, "tanh")
    x = np.random.default_rng(3).normal(size=(200, 6))
    assert quick_rank(net, x).rank == parameter_rank(net, x).rank == net.n_params
