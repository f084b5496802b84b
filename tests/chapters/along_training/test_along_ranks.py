"""The quick rank counts what the whole decomposition counts, and never rounding; its ceiling is never passed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.architectures.finite_field import PRIME, rank_modulo_prime, residues
from chapters.along_training.experiment import places
from chapters.along_training.ranks import (
    example_leverage,
    participation_ratio,
    quick_rank,
    rank_bound_on_data,
    rank_ceiling,
)
from chapters.shared.complexity import Network, parameter_jacobian, parameter_rank, random_network
from tests.chapters.along_training.test_data_rank_bound import ACTIVATIONS, WIDTHS, awkward, with_odd_units
from tests.strategies import seeds

LINEAR_PIECES = ("relu", "leaky_relu", "hard_tanh", "identity")


def with_lone_inputs(x, n_lone):
    """Inputs that are zero but for one example each, beside x."""
    lone = np.zeros((len(x), n_lone))
    lone[np.arange(n_lone), np.arange(n_lone)] = 1.0
    return np.column_stack([x, lone])


def rank_by_elimination(net, x):
    """The rank of a ReLU network's Jacobian without a tolerance: units are on where they are, the rest modulo a prime.

    Given where units are on, the logits are a polynomial in the weights, whose stored values are fractions.
    """

    def product(a, b):  # term by term: a sum of products would overflow
        return sum(a[:, k, None] * b[None, k] % PRIME for k in range(len(b))) % PRIME

    gates = [(z > 0).astype(np.int64) for z in net.pre_activations(x)[:-1]]
    weights = [residues(w, PRIME).reshape(w.shape) for w in net.weights]
    reads = [residues(x, PRIME).reshape(x.shape)]
    for w, b, gate in zip(weights[:-1], net.biases[:-1], gates, strict=True):
        reads.append((product(reads[-1], w) + residues(b, PRIME)) % PRIME * gate)
    n, n_outputs = len(x), net.widths[-1]
    delta = np.broadcast_to(np.eye(n_outputs, dtype=np.int64), (n, n_outputs, n_outputs))
    columns = []
    for layer in range(len(weights) - 1, -1, -1):
        below = np.column_stack([reads[layer], np.ones(n, np.int64)])
        columns.append((below[:, None, :, None] * delta[:, :, None, :] % PRIME).reshape(n * n_outputs, -1))
        if layer:
            back = product(delta.reshape(n * n_outputs, -1), weights[layer].T)
            delta = back.reshape(n, n_outputs, -1) * gates[layer - 1][:, None, :]
    return rank_modulo_prime(np.hstack(columns), PRIME)


@given(seeds, st.integers(1, 4))
def test_elimination_finds_the_same_rank(seed, n_outputs):
    rng = np.random.default_rng(seed)
    net, x = random_network([3, 4, 3, n_outputs], rng, 1.5, 0.5), rng.normal(size=(25, 3))
    assert rank_by_elimination(net, x) == parameter_rank(net, x, 1e-10).rank


def test_of_digits_too():
    pytest.importorskip("sklearn")
    net, x = random_network([64, 6, 6, 10], np.random.default_rng(5), bias_scale=0.3), places().data.x[:80]
    found = quick_rank(net, x)
    assert found.rank == parameter_rank(net, x).rank == rank_by_elimination(net, x) and found.gap > 1e3


@pytest.mark.parametrize("seed", [2, 4, 14])
def test_rounding_is_not_counted(seed):
    """Units whose weights in can do nothing that those above cannot: nothing is left of their columns but rounding."""
    pytest.importorskip("sklearn")
    net, x = random_network([64, 8, 5, 3], np.random.default_rng(seed)), places().data.x[:60]
    assert quick_rank(net, x).rank == parameter_rank(net, x).rank == rank_by_elimination(net, x)


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


@settings(max_examples=15)
@given(seeds, st.sampled_from(["relu", "tanh"]))
def test_participation_from_singular_values(seed, activation):
    rng = np.random.default_rng(seed)
    net, x = random_network([3, 5, 2], rng, 1.5, 0.5, activation), rng.normal(size=(20, 3))
    values = np.linalg.svd(parameter_jacobian(net, x), compute_uv=False)
    assert participation_ratio(net, x) == pytest.approx((values**2).sum() ** 2 / (values**4).sum(), rel=1e-10)


@settings(max_examples=80)
@given(seeds, WIDTHS, ACTIVATIONS, st.integers(4, 60), st.booleans(), st.integers(0, 3))
def test_the_ceiling_is_never_passed(seed, widths, activation, n, odd, n_lone):
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


@pytest.mark.slow
def test_what_the_chapter_counts_on_the_digits():
    """Six constant pixels, three images with a direction of their own, and one pixel of two images: exercise 1."""
    pytest.importorskip("sklearn")
    x = places().data.x
    rare = [set(np.flatnonzero(~np.isclose(column, column.min()))) for column in x.T]
    alone = set.union(*(images for images in rare if len(images) == 1))
    assert sum(not images for images in rare) == 6 and len(alone) == 2
    assert sorted(len(images & alone) for images in rare if len(images) == 2) == [0, 1]
    net = random_network([64, 22, 22, 10], np.random.default_rng(1), activation="tanh")
    ceiling = rank_ceiling(net, x)
    assert net.n_params == 2_166 and len(ceiling.aside) == 3
    assert ceiling.plain.total == 2_166 - 6 * 22 and ceiling.total == ceiling.plain.total - 3 * (22 - 10)
    assert quick_rank(net, x).rank == ceiling.total - 2 == 1_996
