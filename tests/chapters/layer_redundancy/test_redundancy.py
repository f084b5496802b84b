"""Redundant sets of parameters against brute force, against the numerical rank, and refused descriptions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scales import laws

from capcore import Hierarchical, Recurrent
from capcore.architectures.finite_field import rank_modulo_prime
from capcore.architectures.generic import exact_rank
from chapters.layer_redundancy.redundancy import (
    exact_jacobian,
    is_redundant,
    layer_set_ranks,
    marginal_rank,
    maximal_redundant_set,
    minimal_layer_sets,
    parameter_set,
    redundant_layer_sets,
)
from tests.strategies import hierarchical_models, seeds

SMALL = Hierarchical(2, 2)


@settings(deadline=None, max_examples=30)
@given(arch=hierarchical_models(max_layers=3, max_channels=3), seed=seeds)
def test_the_exact_jacobian_has_the_generic_rank(arch, seed):
    assert np.linalg.matrix_rank(arch.jacobian(arch.init(np.random.default_rng(seed)))) <= arch.generic_capacity()
    jacobian = exact_jacobian(arch, seed=seed)
    assert rank_modulo_prime(jacobian) == arch.generic_capacity()


@settings(deadline=None, max_examples=30)
@given(arch=hierarchical_models(max_layers=3, max_channels=2, max_kernel=2), data=st.data())
def test_the_marginal_rank_is_the_drop_of_the_numerical_rank(arch, data):
    chosen = data.draw(st.lists(st.integers(0, arch.n_params - 1), unique=True, max_size=arch.n_params))
    jacobian = arch.jacobian(arch.init(np.random.default_rng(1)))
    rest = np.delete(jacobian, chosen, axis=1)
    drop = np.linalg.matrix_rank(jacobian) - (np.linalg.matrix_rank(rest) if rest.shape[1] else 0)
    assert marginal_rank(arch, chosen) == drop
    assert is_redundant(arch, chosen) == (drop == 0)


@settings(deadline=None, max_examples=30)
@given(arch=hierarchical_models(max_layers=3, max_channels=3), seed=seeds)
def test_a_maximal_redundant_set_is_redundant_leaves_a_basis_and_is_the_greedy_one(arch, seed):
    order = np.random.default_rng(seed).permutation(arch.n_params)
    found = maximal_redundant_set(arch, order)
    assert is_redundant(arch, found)
    assert arch.n_params - found.size == arch.generic_capacity()
    greedy = []
    for index in order[:12]:
        if is_redundant(arch, [*greedy, index]):
            greedy.append(index)
    assert set(greedy) == set(found) & set(order[:12])


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_minimal_layer_sets_are_all_the_minimal_ones(channels):
    arch = Hierarchical(channels, 5)
    whole, names = arch.generic_capacity(), list(arch.layers)
    jacobian = exact_jacobian(arch, seed=3)
    carrying = [
        set(chosen)
        for size in range(1, 6)
        for chosen in combinations(names, size)
        if rank_modulo_prime(jacobian[:, parameter_set(arch, chosen, arch.n_params)]) == whole
    ]
    minimal = [chosen for chosen in carrying if not any(other < chosen for other in carrying)]
    found = minimal_layer_sets(arch)
    assert sorted(map(sorted, found)) == sorted(map(sorted, minimal))
    for kept, left in zip(found, redundant_layer_sets(arch), strict=True):
        assert set(kept) | set(left) == set(names) and not set(kept) & set(left)


def test_published_values():
    """Layer totals of the paper's model, and layers 1 and 2 at three channels: redundant, but not together."""
    assert redundant_layer_sets(Hierarchical(4, 6)) == [("layer 1", "layer 2", "layer 5", "layer 6")]
    three = Hierarchical(3, 6)
    assert is_redundant(three, "layer 1") and is_redundant(three, "layer 2")
    assert not is_redundant(three, ["layer 1", "layer 2"])
    assert layer_set_ranks(SMALL)[("layer 1", "layer 2")] == exact_rank(SMALL)


def test_redundancy_is_judged_at_the_parameters_given():
    square = lambda w: [w[0] ** 2 + w[1]]  # noqa: E731
    assert is_redundant(square, [1], [3.0, 1.0])
    assert not is_redundant(square, [1], [0.0, 1.0]), "where w₁ = 0 only w₂ moves the coefficient"
    assert is_redundant(Recurrent(3, 2), [1, 5])


@pytest.mark.parametrize(
    ("subset", "expected"),
    [
        ("layer 2", [4, 5, 6, 7]),
        (["layer 1"], [0, 1, 2, 3]),
        (slice(2, 4), [2, 3]),
        ([3, 1], [1, 3]),
        (np.arange(8) < 1, [0]),
        ([], []),
        (5, [5]),
    ],
)
def test_descriptions_of_a_set(subset, expected):
    assert parameter_set(SMALL, subset, 8).tolist() == expected


@pytest.mark.parametrize("subset", ["layer 3", ["layer 1", "layer 9"], [8], [-1], [0.5], [[0, 1]], ["layer 1", 2]])
def test_refused_descriptions(subset):
    with pytest.raises(ValueError, match="subset: found"):
        parameter_set(SMALL, subset, 8)


def test_refused_models_and_arguments():
    with pytest.raises(TypeError, match="model: found int"):
        exact_jacobian(3, [1.0])
    with pytest.raises(TypeError, match="polynomial"):
        exact_jacobian(lambda w: [np.exp(w[0])], [1.0])
    with pytest.raises(ValueError, match="n_params: not given"):
        is_redundant(lambda w: [w[0]], [0])
    with pytest.raises(ValueError, match="params: found 3 values, expected 8"):
        is_redundant(SMALL, [0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="order: expected every index from 0 to 7 once"):
        maximal_redundant_set(SMALL, [0, 0, 1, 2, 3, 4, 5, 6])
    with pytest.raises(ValueError, match="found 13 layers, expected at most 12"):
        layer_set_ranks(Hierarchical(1, 13))


COUNTS = {
    "exact_jacobian": lambda arch, w: rank_modulo_prime(exact_jacobian(arch, w)),
    "marginal_rank": lambda arch, w: marginal_rank(arch, "layer 2", w),
    "is_redundant": lambda arch, w: is_redundant(arch, "layer 2", w),
    "layer_set_ranks": lambda arch, w: list(layer_set_ranks(arch, w).values()),
    "minimal_layer_sets": lambda arch, w: len(minimal_layer_sets(arch, w)),
    "redundant_layer_sets": lambda arch, w: len(redundant_layer_sets(arch, w)),
    "maximal_redundant_set": lambda arch, w: maximal_redundant_set(arch, params=w).tolist(),
}


@pytest.mark.parametrize("exponent", [-996, -332, -20, 20, 332, 996])
@pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS)
def test_counts_do_not_depend_on_the_scale_of_layers(count, exponent):
    for found, expected, _ in laws.exact(count)(2.0**exponent):
        assert found == expected
