"""Other coordinates of hidden channels: the same function, and what each promises."""

import numpy as np
import pytest
from hypothesis import given

from capcore import PowerLaw
from chapters.cumulated_capacity.tree_coordinates import isometric, residual_tree, rotated, whitened
from chapters.cumulated_capacity.tree_network import TreeNetwork
from tests.strategies import hierarchical_models, seeds


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


def test_residual_layers_are_isometric_and_send_their_share_away():
    tree = residual_tree(3, 4, 0.2, np.random.default_rng(0))
    for w in tree.matrices[:-1]:
        np.testing.assert_allclose(w.T @ w, np.eye(w.shape[1]), atol=1e-12)
    for kernel in tree.kernels[:-1]:
        np.testing.assert_allclose(np.square(kernel).sum(axis=0), [[0.8] * 3, [0.2] * 3], atol=1e-12)


@pytest.mark.parametrize("jump", [0, 1, -0.1])
def test_a_share_is_between_zero_and_one(jump):
    with pytest.raises(ValueError, match="jump: found"):
        residual_tree(2, 3, jump, np.random.default_rng(0))
