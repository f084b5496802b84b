"""Equation 12 of paper 2 against paper 1's allocation: where they are the same, and where they are not."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore import Hierarchical, PowerLaw, allocate, fit
from capcore.propagation import mean_chi_square
from chapters.cumulated_capacity import study
from chapters.cumulated_capacity.trees import TreeNetwork, isometric, residual_tree, rotated
from tests.strategies import hierarchical_models, seeds


def random_tree(widths, seed, taps=2):
    rng = np.random.default_rng(seed)
    return TreeNetwork([rng.normal(size=(a, taps, b)) for a, b in pairwise(widths)])


@pytest.fixture(scope="module")
def trained():
    """The model of the chapters at its optimum, c = 4."""
    arch = Hierarchical(4, 6)
    return arch, fit(arch, PowerLaw()).params


@given(st.integers(2, 4), st.integers(2, 3), seeds)
def test_one_channel_and_white_inputs_are_exact(n_layers, taps, seed):
    """One path between any two units: nothing interferes. Leverages carry errors near 1e-13."""
    tree = random_tree([1] * (n_layers + 1), seed, taps)
    found = study.bridge(tree, np.eye(taps**n_layers))
    np.testing.assert_allclose(found.cumulated, found.exact, atol=1e-9)


def test_correlated_inputs_are_not():
    found = study.bridge(random_tree([1] * 4, 0), PowerLaw().covariance(8))
    assert np.abs(found.cumulated - found.exact).max() > 0.05


def gaps_over_all_signs(widths, seed):
    """(draws, n) for every sign of every hidden unit; the first one may stay, as all of a layer may be turned."""
    tree = isometric(random_tree(widths, seed))
    n = len(tree.coefficients)
    sizes = [w.shape[1] for w in tree.matrices[:-1]]
    gaps = []
    for signs in product([-1.0, 1.0], repeat=sum(sizes) - 1):
        draw = TreeNetwork(tree.kernels, np.split(np.array([1.0, *signs]), np.cumsum(sizes)[:-1]))
        found = study.bridge(draw, np.eye(n))
        gaps.append(found.cumulated - found.exact)
    return np.array(gaps)


@settings(max_examples=20)
@given(st.sampled_from([[1, 2, 1], [2, 2, 1], [2, 3, 1]]), seeds)
def test_the_mean_over_all_signs_is_exact(widths, seed):
    """Several channels, white inputs, isometric layers."""
    assert np.abs(gaps_over_all_signs(widths, seed).mean(axis=0)).max() < 1e-9


def test_single_draws_are_not():
    """512 of them: the mean does the work."""
    gaps = gaps_over_all_signs([1, 2, 1, 1], 0)
    assert np.abs(gaps.mean(axis=0)).max() < 1e-9 < 1e-3 < np.abs(gaps).max()


def test_without_isometric_layers_the_mean_is_not_exact():
    tree, rng = random_tree([1, 2, 1, 1], 1), np.random.default_rng(0)
    found = [study.bridge(tree.with_signs(rng), np.eye(8)) for _ in range(400)]
    gaps = np.array([each.cumulated - each.exact for each in found])
    assert mean_chi_square(gaps, np.zeros(8)).p_value < 1e-6


def test_the_two_ways_over_signs_agree():
    tree = isometric(random_tree([1, 2, 3, 2, 1], 4))
    exact, down = study.over_signs(tree, 5, np.random.default_rng(7))
    rng = np.random.default_rng(7)
    for i in range(5):
        found = study.bridge(tree.with_signs(rng), np.eye(16))
        np.testing.assert_allclose(exact[i], found.exact, atol=1e-9)
        np.testing.assert_allclose(down[i], found.cumulated, atol=1e-9)


def test_over_signs_the_means_agree_and_a_wrong_law_is_seen():
    tree = isometric(random_tree([1, 2, 3, 2, 1], 5))
    exact, down = study.over_signs(tree, 2_000, np.random.default_rng(1))
    assert mean_chi_square(down - exact, np.zeros(16)).p_value > 1e-3
    shifted = down + 0.02 * np.array([1.0, -1.0] * 8)
    assert mean_chi_square(shifted - exact, np.zeros(16)).p_value < 1e-6


@given(st.integers(1, 3), st.integers(2, 4), st.floats(0.05, 0.95), seeds)
def test_residual_layers_are_exact_per_position(channels, n_layers, jump, seed):
    rng = np.random.default_rng(seed)
    tree = residual_tree(channels, n_layers, jump, rng)
    for each in (tree, tree.with_signs(rng)):
        found = study.bridge(each, np.eye(len(tree.coefficients)))
        gap = found.per_position("cumulated") - found.per_position("exact")
        assert np.abs(gap).max() < 1e-8


def test_totals_are_those_of_the_chains(trained):
    """The exact ranks at c = 4: independent, and of the chain from the output."""
    arch, params = trained
    found = study.bridge(TreeNetwork.of(arch, params), PowerLaw().covariance(64))
    assert [round(part.sum()) for part in found.alone] == [8, 16, 32, 32, 16, 8]
    assert [round(part.sum()) for part in found.given_above] == [0, 0, 16, 16, 8, 8]
    assert found.total == 48 and found.excess == pytest.approx(112 / 48 - 1)
    np.testing.assert_allclose(found.exact, allocate(arch, params, PowerLaw()).per_input, atol=1e-9)


@given(hierarchical_models(disjoint=True, max_layers=3, max_channels=2, max_kernel=2), seeds)
def test_totals_agree_and_mass_is_kept(arch, seed):
    tree = TreeNetwork.of(arch, arch.init(np.random.default_rng(seed)))
    found = study.bridge(tree, np.eye(arch.n_inputs * arch.input_dim))
    assert found.cumulated.sum() == pytest.approx(found.total, abs=1e-8)
    assert found.cumulated_alone.sum() == pytest.approx(sum(part.sum() for part in found.alone), abs=1e-8)
    assert found.excess > -1e-9


def test_the_recursion_is_a_sum_over_layers():
    """Each source times the squared weights below it, written out."""
    tree = random_tree([1, 2, 2, 1], 3)
    found = study.bridge(tree, PowerLaw().covariance(8))
    squares = [w**2 / (w**2).sum(axis=0) for w in tree.matrices]
    expected = found.given_above[0] + squares[0] @ found.given_above[1] + squares[0] @ squares[1] @ found.given_above[2]
    np.testing.assert_allclose(found.cumulated, expected, atol=1e-12)


def test_the_same_function_has_other_profiles(trained):
    arch, params = trained
    tree, sigma = TreeNetwork.of(arch, params), PowerLaw().covariance(64)
    here, there = (study.bridge(t, sigma) for t in (tree, rotated(tree, np.random.default_rng(0))))
    np.testing.assert_allclose(there.exact, here.exact, atol=1e-7)
    assert np.abs(there.cumulated - here.cumulated).sum() / 2 / 48 > 0.02


def test_readings_end_at_zero_for_one_channel():
    found = study.readings(random_tree([1] * 5, 1), PowerLaw().covariance(16))
    *_, isometric_one, white = found.values()
    assert white < 1e-9 < isometric_one == pytest.approx(found["conditional"], abs=1e-9)  # coordinates play no part


def test_chains_sum_to_the_allocation_in_any_order(trained):
    alloc = allocate(*trained, PowerLaw())
    assert study.chain_gap(alloc, 6, np.random.default_rng(0)) < 1e-10


def test_what_is_not_isometric_is_refused():
    with pytest.raises(ValueError, match="layer 1 that are off orthonormal"):
        study.over_signs(random_tree([1, 2, 1], 0), 2, np.random.default_rng(0))
