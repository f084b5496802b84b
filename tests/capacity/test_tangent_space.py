"""The tangent space in factored form: the Jacobian's column space at any parameters, and orthonormal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from capcore.capacity.tangent_space import TangentSpace
from tests.strategies import hierarchical_models

STACKS = hierarchical_models(max_layers=5, max_channels=5, disjoint=True)


def of(arch: cc.Hierarchical, params: np.ndarray) -> TangentSpace:
    return TangentSpace.of_kernels(arch.kernels(params))


@given(STACKS, st.integers(0, 99), st.sampled_from(["full", "rank one", "zero layer"]))
def test_it_is_the_column_space_of_the_jacobian(arch: cc.Hierarchical, seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    kernels = arch.kernels(arch.init(rng))
    l = int(rng.integers(arch.n_layers))
    if kind == "rank one":
        kernels[l] = np.multiply.outer(rng.normal(size=kernels[l].shape[:2]), rng.normal(size=kernels[l].shape[2]))
    elif kind == "zero layer":
        kernels[l] = 0 * kernels[l]
    params = np.concatenate([kernel.ravel() for kernel in kernels])
    space, jacobian = of(arch, params), arch.jacobian(params)
    basis = space.basis()
    assert np.abs(basis.T @ basis - np.eye(space.dimension)).max(initial=0) < 1e-13
    assert np.abs(jacobian - basis @ (basis.T @ jacobian)).max() < 1e-12 * max(1.0, np.abs(jacobian).max())
    expected = arch.generic_capacity() if kind == "full" else np.linalg.matrix_rank(jacobian, tol=1e-10)
    assert space.dimension == expected


@given(STACKS, st.integers(0, 99))
def test_products_agree_with_the_listed_basis(arch: cc.Hierarchical, seed: int) -> None:
    rng = np.random.default_rng(seed)
    space = of(arch, arch.init(rng))
    basis = space.basis()
    x, v = rng.normal(size=(space.dimension, 3)), rng.normal(size=(len(basis), 2))
    assert np.abs(space.expand(x) - basis @ x).max() < 1e-13 * 10
    assert np.abs(space.project(v) - basis.T @ v).max() < 1e-13 * 10
    assert np.array_equal(space.expand(x[:, 0]).shape, (len(basis),))


def test_blocks_are_mutually_orthogonal_layers_and_tile_the_columns() -> None:
    arch = cc.Hierarchical(channels=3, n_layers=5)
    params = arch.init(np.random.default_rng(0))
    space = of(arch, params)
    basis = space.basis()
    assert [b.start for b in space.blocks[1:]] == [b.stop for b in space.blocks[:-1]]
    np.testing.assert_allclose(basis.T @ basis, np.eye(space.dimension), atol=1e-13)
    for columns, block in zip(arch.tangents(params).values(), space.blocks, strict=True):
        inside = cc.ConstraintSpace.from_columns(columns).basis.T @ basis[:, block]
        np.testing.assert_allclose(np.square(inside).sum(axis=0), 1, atol=1e-12)


@pytest.mark.parametrize("exponent", [150, -150])
def test_scales_of_layers_do_not_matter(exponent: int) -> None:
    arch = cc.Hierarchical(channels=4, n_layers=6)
    params = arch.init(np.random.default_rng(1))
    scaled = params.copy()
    scaled[arch.layers["layer 2"]] *= 10.0**exponent
    scaled[arch.layers["layer 5"]] *= 10.0**-exponent
    first, second = of(arch, params).basis(), of(arch, scaled).basis()
    np.testing.assert_allclose(second @ (second.T @ first), first, atol=1e-12)


@pytest.mark.parametrize(
    "kernels",
    [[], [np.ones((1, 2, 2))], [np.ones((1, 2, 2)), np.ones((3, 2, 1))]],
    ids=["none", "two outputs", "broken chain"],
)
def test_kernels_that_do_not_fit_are_refused(kernels: list[np.ndarray]) -> None:
    with pytest.raises(ValueError, match="kernels: found"):
        TangentSpace.of_kernels(kernels)


def test_nan_is_refused_with_its_layer() -> None:
    with pytest.raises(ValueError, match="layer 2"):
        TangentSpace.of_kernels([np.ones((1, 2, 2)), np.full((2, 2, 1), np.nan)])
