"""Equation 12 of paper 2 against paper 1's allocation, and the trees that both are taken of."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore import Hierarchical, PowerLaw, allocate, fit
from chapters.cumulated_capacity import study
from chapters.cumulated_capacity.trees import TreeNetwork, isometric, residual_tree, rotated, whitened
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
    bridged = study.bridge(tree, np.eye(taps**n_layers))
    np.testing.assert_allclose(bridged.cumulated, bridged.exact, atol=1e-9)


def gaps_over_all_signs(widths, seed):
    """(draws, n) for every sign of every hidden unit; the first one may stay, as all of a layer may be turned."""
    tree = isometric(random_tree(widths, seed))
    n = len(tree.coefficients)
    sizes = [w.shape[1] for w in tree.matrices[:-1]]
    gaps = []
    for signs in product([-1.0, 1.0], repeat=sum(sizes) - 1):
        draw = TreeNetwork(tree.kernels, np.split(np.array([1.0, *signs]), np.cumsum(sizes)[:-1]))
        bridged = study.bridge(draw, np.eye(n))
        gaps.append(bridged.cumulated - bridged.exact)
    return np.array(gaps)


@settings(max_examples=20)
@given(st.sampled_from([[1, 2, 1], [2, 2, 1], [2, 3, 1]]), seeds)
def test_the_mean_over_all_signs_is_exact(widths, seed):
    """Several channels, white inputs, isometric layers."""
    assert np.abs(gaps_over_all_signs(widths, seed).mean(axis=0)).max() < 1e-9


def test_the_two_ways_over_signs_agree():
    tree = isometric(random_tree([1, 2, 3, 2, 1], 4))
    exact, down = study.over_signs(tree, 5, np.random.default_rng(7))
    rng = np.random.default_rng(7)
    for i in range(5):
        bridged = study.bridge(tree.with_signs(rng), np.eye(16))
        np.testing.assert_allclose(exact[i], bridged.exact, atol=1e-9)
        np.testing.assert_allclose(down[i], bridged.cumulated, atol=1e-9)


@given(st.integers(1, 3), st.integers(2, 4), st.floats(0.05, 0.95), seeds)
def test_residual_layers_are_exact_per_position(channels, n_layers, jump, seed):
    rng = np.random.default_rng(seed)
    tree = residual_tree(channels, n_layers, jump, rng)
    for network in (tree, tree.with_signs(rng)):
        bridged = study.bridge(network, np.eye(len(tree.coefficients)))
        gap = bridged.per_position("cumulated") - bridged.per_position("exact")
        assert np.abs(gap).max() < 1e-8


def test_totals_are_those_of_the_chains(trained):
    """The exact ranks at c = 4: independent, and of the chain from the output."""
    arch, params = trained
    bridged = study.bridge(TreeNetwork.of(arch, params), PowerLaw().covariance(64))
    assert [round(part.sum()) for part in bridged.alone] == [8, 16, 32, 32, 16, 8]
    assert [round(part.sum()) for part in bridged.given_above] == [0, 0, 16, 16, 8, 8]
    assert bridged.total == 48 and bridged.excess == pytest.approx(112 / 48 - 1)
    np.testing.assert_allclose(bridged.exact, allocate(arch, params, PowerLaw()).per_input, atol=1e-9)


def test_the_recursion_is_a_sum_over_layers():
    """Each source times the squared weights below it, written out."""
    tree = random_tree([1, 2, 2, 1], 3)
    bridged = study.bridge(tree, PowerLaw().covariance(8))
    squares = [w**2 / (w**2).sum(axis=0) for w in tree.matrices]
    expected = (
        bridged.given_above[0] + squares[0] @ bridged.given_above[1] + squares[0] @ squares[1] @ bridged.given_above[2]
    )
    np.testing.assert_allclose(bridged.cumulated, expected, atol=1e-12)


def test_chains_sum_to_the_allocation_in_any_order(trained):
    alloc = allocate(*trained, PowerLaw())
    assert study.chain_gap(alloc, 6, np.random.default_rng(0)) < 1e-10


@given(hierarchical_models(disjoint=True), seeds)
def test_coefficients_and_jacobian_are_the_architectures(arch, seed):
    params = arch.init(np.random.default_rng(seed))
    tree = TreeNetwork.of(arch, params)
    np.testing.assert_allclose(tree.coefficients, arch.coefficients(params), atol=1e-12)
    below = np.eye(len(tree.coefficients))
    jacobian = arch.jacobian(params)
    for layer, (part, shape) in enumerate(zip(arch.layers.values(), arch.kernel_shapes, strict=True), 1):
        expected = jacobian[:, part].reshape(-1, *shape).transpose(0, 3, 2, 1).reshape(len(jacobian), -1)
        np.testing.assert_allclose(below @ tree.own_jacobian(layer), expected, atol=1e-12)
        below = below @ tree.matrices[layer - 1]


@given(seeds, st.integers(0, 1))
def test_with_signs_the_jacobian_is_a_finite_difference(seed, layer):
    rng = np.random.default_rng(seed)
    kernels = [rng.normal(size=(1, 2, 2)), rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2, 1))]
    tree = TreeNetwork(kernels).with_signs(rng)
    direction = rng.normal(size=kernels[layer].shape)
    moved = list(kernels)
    moved[layer] = kernels[layer] + direction  # the output is linear in each layer: no error of the difference
    change = TreeNetwork(moved, tree.signs).coefficients - tree.coefficients
    below = np.eye(8) if layer == 0 else tree.matrices[0]
    weights = direction.transpose(2, 1, 0).reshape(-1)
    np.testing.assert_allclose(below @ tree.own_jacobian(layer + 1) @ weights, change, atol=1e-10)


@given(hierarchical_models(disjoint=True, max_input_dim=1), seeds)
def test_they_do_not_change_the_function(arch, seed):
    rng = np.random.default_rng(seed)
    tree = TreeNetwork.of(arch, arch.init(rng))
    sigma = PowerLaw().covariance(arch.n_inputs)
    size = np.abs(tree.coefficients).max() + 1e-12
    for other in (rotated(tree, rng), isometric(tree), whitened(tree, sigma)):
        np.testing.assert_allclose(other.coefficients, tree.coefficients, atol=1e-7 * size)


def test_signs_of_channels_make_no_difference_to_a_turn():
    """An optimum has them from a singular value decomposition, that is from the processor."""
    rng = np.random.default_rng(5)
    first, second, top = rng.normal(size=(1, 2, 3)), rng.normal(size=(3, 2, 2)), rng.normal(size=(2, 2, 1))
    a, b = np.array([1.0, -1.0, -1.0]), np.array([-1.0, 1.0])
    other = TreeNetwork([first * a, a[:, None, None] * second * b, b[:, None, None] * top])
    here, there = (rotated(t, np.random.default_rng(6)) for t in (TreeNetwork([first, second, top]), other))
    for one, two in zip(here.kernels, there.kernels, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)


@given(hierarchical_models(disjoint=True), seeds)
def test_isometric_layers_are(arch, seed):
    tree = isometric(TreeNetwork.of(arch, arch.init(np.random.default_rng(seed))))
    for w in tree.matrices[:-1]:
        np.testing.assert_allclose(w.T @ w, np.eye(w.shape[1]), atol=1e-12)


def test_white_channels_are():
    rng = np.random.default_rng(0)
    tree = TreeNetwork([rng.normal(size=(1, 2, 2)), rng.normal(size=(2, 2, 3)), rng.normal(size=(3, 2, 1))])
    sigma = PowerLaw().covariance(8)
    white = whitened(tree, sigma)
    for layer, above in enumerate(white.covariances(sigma)[1:], 1):
        m = white.positions[layer]
        blocks = above.reshape(m, above.shape[0] // m, m, -1)
        np.testing.assert_allclose(np.einsum("iaib->ab", blocks) / m, np.eye(blocks.shape[1]), atol=1e-9)
