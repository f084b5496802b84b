"""The sharper ceiling: never passed, never above the plain one, and reached where single examples are crowded."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.complexity import Network, parameter_rank, random_network
from capcore.complexity.data_rank_bound import rank_bound_on_data
from chapters.along_training.rank_ceiling import rank_ceiling
from tests.complexity.test_data_rank_bound import ACTIVATIONS, WIDTHS, awkward, with_odd_units
from tests.strategies import seeds


def with_lone_inputs(x, n_lone):
    """Inputs that are zero but for one example each, beside x."""
    lone = np.zeros((len(x), n_lone))
    lone[np.arange(n_lone), np.arange(n_lone)] = 1.0
    return np.column_stack([x, lone])


@settings(max_examples=80)
@given(seeds, WIDTHS, ACTIVATIONS, st.integers(4, 60), st.booleans(), st.integers(0, 3))
def test_it_is_never_passed(seed, widths, activation, n, odd, n_lone):
    rng = np.random.default_rng(seed)
    net = random_network([widths[0] + n_lone, *widths[1:]], rng, 1.5, 0.5, activation)
    net = with_odd_units(net) if odd and activation in ("relu", "identity") else net
    x = with_lone_inputs(awkward(rng, n, widths[0]), n_lone)
    found = rank_ceiling(net, x)
    assert parameter_rank(net, x).rank <= found.total <= rank_bound_on_data(net, x).total


@pytest.mark.parametrize("seed", range(4))
def test_lone_inputs_count_as_outputs(seed):
    """Tanh, seven units and two outputs: each of three lone inputs has two directions, where seven weights read it."""
    rng = np.random.default_rng(seed)
    net = random_network([6, 7, 5, 2], rng, 1.5, 0.5, "tanh")
    x = with_lone_inputs(rng.normal(size=(200, 3)), 3)
    found = rank_ceiling(net, x)
    assert len(found.aside) == 3
    assert parameter_rank(net, x).rank == found.total == net.n_params - 3 * (7 - 2)


def test_the_span_of_what_is_on_is_enough():
    """ReLU: the lone examples have no more directions than units that are on there."""
    rng = np.random.default_rng(0)
    net = random_network([6, 9, 4, 8], rng, 1.5, 0.5)
    x = with_lone_inputs(rng.normal(size=(300, 3)), 3)
    found = rank_ceiling(net, x)
    assert parameter_rank(net, x, 1e-10).rank == found.total < rank_bound_on_data(net, x).total


def test_units_that_are_nearly_linear():
    """Tanh at weights of 1e-5: what tells it from a line is ten decades down, and the rank counts it all the same."""
    rng = np.random.default_rng(3)
    net = Network(
        [1e-5 * rng.normal(size=(3, 4)), rng.normal(size=(4, 2))], [1e-5 * rng.normal(size=4), [0, 0]], "tanh"
    )
    x = np.random.default_rng(0).normal(size=(60, 3))
    assert parameter_rank(net, x).rank <= rank_ceiling(net, x).total


def test_weights_out_of_any_scale():
    """Twins that are told apart by outgoing weights of 1 and 1e-16 are two units all the same."""
    rng = np.random.default_rng(0)
    twins = np.repeat(rng.normal(size=(3, 1)), 2, axis=1)
    net, x = Network([twins, np.diag([1.0, 1e-16])], [[0.1, 0.1], [0.0, 0.0]]), rng.normal(size=(60, 3))
    assert parameter_rank(net, x).rank == rank_ceiling(net, x).total == rank_bound_on_data(net, x).total == 10


def test_without_hidden_layers_nothing_is_set_aside():
    net = random_network([3, 2], np.random.default_rng(0))
    found = rank_ceiling(net, np.eye(3))
    assert found.total == 6 and not len(found.aside)
