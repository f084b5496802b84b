"""Hierarchical models as trees: the same coefficients and Jacobian as the package's own architecture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore import Hierarchical, PowerLaw, allocate
from capcore.constraints import join
from chapters.cumulated_capacity.tree_network import TreeNetwork
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
