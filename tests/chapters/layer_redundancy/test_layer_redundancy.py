"""Redundant sets against brute force, discriminants against roots and refits, and the stored runs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore import DampedCosine, Hierarchical, PowerLaw, Recurrent
from capcore.architectures.finite_field import rank_modulo_prime
from chapters.kit.stored import stored
from chapters.layer_redundancy import experiment, study
from chapters.layer_redundancy.redundancy import (
    exact_jacobian,
    is_redundant,
    maximal_redundant_set,
    minimal_layer_sets,
    parameter_set,
    redundant_layer_sets,
)
from chapters.layer_redundancy.study import compare_designs, compare_subsets, losses, unharmed
from tests.strategies import hierarchical_models, seeds


def test_the_recurrent_discriminant_is_that_of_the_quadratic(rng):
    """(A₀ − w)(A₂ − w s²) = (A₁ − w s)², as a polynomial in s."""
    for _ in range(50):
        (a0, a1, a2), w = rng.normal(size=3), rng.normal()
        v = a0 - w
        roots = np.roots([w * w + v * w, -2 * a1 * w, a1 * a1 - v * a2])
        real = bool(np.abs(roots.imag).max() < 1e-7)
        assert (experiment.recurrent_discriminant([a0, a1, a2], w) >= 0) == real


def test_the_recurrent_weights_are_redundant_and_refits_agree_with_the_sign():
    process = PowerLaw()
    assert is_redundant(Recurrent(3, 2), [1, 5])
    weights = np.array([-0.5, 0.2, 0.4, 1.0])
    losses = experiment.recurrent_losses(process, weights)
    negative = experiment.recurrent_discriminant(process.predictor(3)[0], weights) < 0
    assert negative.tolist() == [True, False, False, True]
    assert (losses > 1e-4).tolist() == negative.tolist() and losses[~negative].max() < 1e-20


def test_two_frozen_weights_of_a_channel_are_drawn_and_not_their_product(rng):
    """The exact share against 100,000 pairs; the product itself drawn from the normal law would give 0.78."""
    for process in PowerLaw(), DampedCosine():
        pairs = rng.standard_normal((100_000, 2)).prod(axis=1)
        sampled = np.mean(experiment.recurrent_discriminant(process.predictor(3)[0], pairs) < 0)
        assert experiment.unsolvable_shares(process, 1)["recurrent"] == pytest.approx(sampled, abs=0.0065), "four se"


def test_the_diagonal_weights_are_redundant_and_the_discriminant_is_that_of_the_equations(rng):
    arch = Hierarchical(2, 2)
    assert is_redundant(arch, [0, 3, 4, 7])
    seen = set()
    for _ in range(100):
        target, (a, d, e, h) = rng.normal(size=4), rng.normal(size=4)
        a00, a10, a01, a11 = target
        alpha, beta = a00 - a * e, a11 - d * h
        roots = np.roots([-h * a10, a01 * a10 + d * h * alpha - a * e * beta, -d * alpha * a01])
        solvable = experiment.diagonal_discriminant(target, [a, d, e, h]) >= 0
        assert solvable == bool(np.abs(roots.imag).max() < 1e-7)
        seen.add(bool(solvable))
        if solvable:  # substitute the root back
            p = roots.real[0]
            params = np.array([a, p, (a10 - d * alpha / p) / e, d, e, (a01 - h * p) / a, alpha / p, h])
            assert arch.coefficients(params) == pytest.approx(target, rel=1e-6, abs=1e-6)
    assert seen == {True, False}


def test_both_routes_to_redundancy_agree_and_both_outcomes_occur():
    mismatches, rarer = compare_subsets(PowerLaw(), 60, seed=5)
    assert mismatches == 0 and rarer >= 6


def test_outer_layers_can_be_frozen_without_loss():
    for n_starts in (0, 3):
        result = experiment.freeze_layers(Hierarchical(2, 4), PowerLaw(), 2, n_starts=n_starts)
        assert list(result) == [("layer 1", "layer 4")]
        assert study.worst(result) < 1e-6 and result[("layer 1", "layer 4")].settled.all()


def test_the_stored_weights_are_shown_for_their_own_model_only():
    content = stored("layer_redundancy")
    assert study.single_weights(content, Hierarchical(4, 6), PowerLaw(), 1).excess.size == 50
    assert study.single_weights(content, Hierarchical(2, 3), PowerLaw(), 5).excess.size == 3
    assert next(iter(study.layer_groups(content))).startswith("c = 3: layers ")


@settings(deadline=None, max_examples=30)
@given(arch=hierarchical_models(max_layers=3, max_channels=2, max_kernel=2), data=st.data())
def test_redundant_is_what_lowers_no_numerical_rank(arch, data):
    chosen = data.draw(st.lists(st.integers(0, arch.n_params - 1), unique=True, max_size=arch.n_params))
    jacobian = arch.jacobian(arch.init(np.random.default_rng(1)))
    rest = np.delete(jacobian, chosen, axis=1)
    drop = np.linalg.matrix_rank(jacobian) - (np.linalg.matrix_rank(rest) if rest.shape[1] else 0)
    assert is_redundant(arch, chosen) == (drop == 0)


@settings(deadline=None, max_examples=30)
@given(arch=hierarchical_models(max_layers=3, max_channels=3), seed=seeds)
def test_a_maximal_redundant_set_is_redundant_leaves_a_basis_and_is_the_greedy_one(arch, seed):
    order = np.random.default_rng(seed).permutation(arch.n_params)
    sets = maximal_redundant_set(arch, order)
    assert is_redundant(arch, sets)
    assert arch.n_params - sets.size == arch.generic_capacity()
    greedy = []
    for index in order[:12]:
        if is_redundant(arch, [*greedy, index]):
            greedy.append(index)
    assert set(greedy) == set(sets) & set(order[:12])


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_minimal_layer_sets_are_all_the_minimal_ones(channels):
    arch = Hierarchical(channels, 5)
    whole, names = arch.generic_capacity(), list(arch.layers)
    jacobian = exact_jacobian(arch)
    carrying = [
        set(chosen)
        for size in range(1, 6)
        for chosen in combinations(names, size)
        if rank_modulo_prime(jacobian[:, parameter_set(arch, chosen)]) == whole
    ]
    minimal = [chosen for chosen in carrying if not any(other < chosen for other in carrying)]
    sets = minimal_layer_sets(arch)
    assert sorted(map(sorted, sets)) == sorted(map(sorted, minimal))
    for redundant, left in zip(sets, redundant_layer_sets(arch), strict=True):
        assert set(redundant) | set(left) == set(names) and not set(redundant) & set(left)


def test_published_values():
    """Layer totals of the paper's model, and layers 1 and 2 at three channels: redundant, but not together."""
    assert redundant_layer_sets(Hierarchical(4, 6)) == [("layer 1", "layer 2", "layer 5", "layer 6")]
    three = Hierarchical(3, 6)
    assert is_redundant(three, "layer 1") and is_redundant(three, "layer 2")
    assert not is_redundant(three, ["layer 1", "layer 2"])


COUNTS = {
    "exact_jacobian": lambda arch, w: rank_modulo_prime(exact_jacobian(arch, w)),
    "is_redundant": lambda arch, w: is_redundant(arch, "layer 2", w),
}


@pytest.mark.parametrize("exponent", [-996, -332, -20, 20, 332, 996])
@pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS)
def test_counts_do_not_depend_on_the_scale_of_layers(count, exponent):
    for arch in (Hierarchical(2, 3), Hierarchical(2, dilations=[1, 2, 1, 2])):
        params = arch.init(np.random.default_rng(0))
        in_turn = params.copy()
        for i, layer in enumerate(arch.layers.values()):
            in_turn[layer] *= 2.0 ** (exponent * (-1) ** i)
        assert count(arch, params * 2.0**exponent) == count(arch, in_turn) == count(arch, params)


def test_a_wider_design_is_never_worse():
    pairs = compare_designs(Hierarchical(1, 3), Hierarchical(2, 3))
    assert unharmed(pairs) == 5
    narrow, wide = losses(pairs).values()
    assert list(narrow) == list(wide) and wide["PowerLaw"] < narrow["PowerLaw"]
