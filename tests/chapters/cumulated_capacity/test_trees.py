"""Hierarchical models as trees, and other coordinates of hidden channels: the same function, what each promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore import Hierarchical, PowerLaw, allocate
from capcore.capacity.constraints import join
from chapters.cumulated_capacity.trees import TreeNetwork, isometric, residual_tree, rotated, whitened
from tests.strategies import all_of, hierarchical_models, seeds


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


def test_all_spaces_in_the_input_are_the_allocation():
    arch, process = Hierarchical(3, 4), PowerLaw()
    params = arch.init(np.random.default_rng(0))
    alloc = allocate(arch, params, process)
    tree = TreeNetwork.of(arch, params)
    spaces = tree.spaces(1, process.covariance(16))
    np.testing.assert_allclose(join(spaces).per_input(), alloc.per_input, atol=1e-9)
    for space, layer in zip(spaces[::-1], alloc.layers.values(), strict=True):
        np.testing.assert_allclose(space.per_input(), layer.independent, atol=1e-9)


def test_covariances_are_those_of_the_hidden_units():
    """Ranks and sizes aside, by sampling nothing: Bᵀ Σ B with the products of matrices."""
    rng = np.random.default_rng(1)
    tree = TreeNetwork.of(Hierarchical(2, 3), rng.normal(size=Hierarchical(2, 3).n_params)).with_signs(rng)
    sigma = PowerLaw().covariance(8)
    b = tree.matrices[0] @ tree.matrices[1]
    np.testing.assert_allclose(tree.covariances(sigma)[2], b.T @ sigma @ b, rtol=1e-10, atol=1e-12)
    assert float(tree.above[2] @ tree.covariances(sigma)[2] @ tree.above[2]) == pytest.approx(
        float(tree.coefficients @ sigma @ tree.coefficients)
    )


@pytest.mark.parametrize(
    ("parts", "call"),
    [
        (["kernels", "3 channels out of layer 1"], lambda: TreeNetwork([np.ones((1, 2, 3)), np.ones((2, 2, 1))])),
        (["kernels", "one output channel"], lambda: TreeNetwork([np.ones((1, 2, 3))])),
        (["signs: found 2", "none or 1"], lambda: TreeNetwork([np.ones((1, 2, 1))] * 2, [np.ones(2)] * 2)),
        (
            ["overlapping dilations", "disjoint"],
            lambda: TreeNetwork.of(Hierarchical(2, 3, dilations=[1, 1, 1]), np.ones(16)),
        ),
    ],
)
def test_bad_input_is_refused(parts, call):
    with pytest.raises(ValueError, match=all_of(parts)):
        call()


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
