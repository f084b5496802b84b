"""Subspaces of targets: what whitening promises where they overlap, and that those given apart are not whitened."""

import numpy as np
import pytest

import capcore as cc
from capcore import networks

jnp = pytest.importorskip("jax").numpy


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(2)
    return rng.normal(size=(50, 4, 4)).cumsum(axis=1) + rng.normal(size=(50, 1, 1))


@pytest.fixture(scope="module")
def found(images):
    """A linear regression on the pixels: S is the projector on their functions, and on the constant."""
    x = images.reshape(50, 16)
    y = np.random.default_rng(3).normal(size=50)
    theta = np.linalg.lstsq(np.column_stack([x, np.ones(50)]), y)[0]
    subspaces = {
        "pixels": networks.inputs(images),
        "first": networks.inputs(images[:, :1, :1]),
        "patches": networks.patches(images, 2),
        "frequencies": networks.frequencies(images),
        "one": x[:, :3],
        "noise": np.random.default_rng(4).normal(size=(50, 2)),
    }
    return cc.allocate_network(lambda w, a: a.reshape(-1, 16) @ w[:16] + w[16], theta, images, y, subspaces=subspaces)


@pytest.mark.parametrize(("name", "shape"), [("pixels", (4, 4)), ("patches", (2, 2)), ("frequencies", (4, 4))])
def test_a_linear_model_responds_to_all_linear_functions(found, name, shape):
    """A projector gives each orthonormal function within it 1, so groups have their sizes, and they add up to 16."""
    given = found.per_subspace[name]
    assert given.shape == shape and given == pytest.approx(np.full(shape, 16 / np.prod(shape)))


def test_subspaces_overlap_and_columns_are_one_subspace(found):
    assert found.per_subspace["first"] == pytest.approx(np.ones((1, 1)))
    assert found.per_subspace["one"] == pytest.approx(3) and 0 < found.per_subspace["noise"] < 2


def test_positions_are_one_hot_without_their_mean(rng):
    """Three tokens leave two functions a position; the model reads the second position alone."""
    tokens = rng.integers(0, 3, (90, 2))
    hot, y = np.eye(3), rng.normal(size=90)
    theta = hot[tokens[:, 1]].T @ y / np.bincount(tokens[:, 1])
    subspaces = {str(i): networks.positions(tokens[:, [i]]) for i in range(2)}
    found = cc.allocate_network(lambda w, t: w[t[:, 1]], theta, tokens, y, subspaces=subspaces)
    assert found.total == pytest.approx(3)
    assert found.per_subspace["1"] == pytest.approx([2]) and found.per_subspace["0"] < 0.5


def test_labels_below_zero_are_refused(rng):
    with pytest.raises(ValueError, match="labels: found 2 for 2 functions"):
        networks.Functions(rng.normal(size=(9, 2)), np.array([0, -1]), (2,))
