"""Subspaces of targets: what the ways to treat overlap promise, and capacity by inputs drawn anew."""

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
        "chain": networks.inputs(images, how="chain"),
        "span": networks.inputs(images, how="span"),
        "patches": networks.patches(images, 2),
        "frequencies": networks.frequencies(images),
        "one": x[:, :3],
        "noise": np.random.default_rng(4).normal(size=(50, 2)),
    }
    return cc.allocate_network(lambda w, a: a.reshape(-1, 16) @ w[:16] + w[16], theta, images, y, subspaces=subspaces)


@pytest.mark.parametrize(
    ("name", "shape"), [("pixels", (4, 4)), ("patches", (2, 2)), ("frequencies", (4, 4)), ("chain", (4, 4))]
)
def test_a_linear_model_responds_to_all_linear_functions(found, name, shape):
    """A projector gives each orthonormal function within it 1, so groups have their sizes, and they add up to 16."""
    given = found.per_subspace[name]
    assert given.shape == shape and given == pytest.approx(np.full(shape, 16 / np.prod(shape)))


def test_spans_overlap_and_columns_are_one_subspace(found):
    assert found.per_subspace["span"] == pytest.approx(np.ones((4, 4)))
    assert found.per_subspace["one"] == pytest.approx(3) and 0 < found.per_subspace["noise"] < 2


def test_positions_are_one_hot_without_their_mean(rng):
    """Three tokens leave two functions a position; the model reads the second position alone."""
    tokens = rng.integers(0, 3, (90, 2))
    hot, y = np.eye(3), rng.normal(size=90)
    theta = hot[tokens[:, 1]].T @ y / np.bincount(tokens[:, 1])
    found = cc.allocate_network(
        lambda w, t: w[t[:, 1]], theta, tokens, y, subspaces={"tokens": networks.positions(tokens, how="span")}
    )
    assert found.total == pytest.approx(3)
    assert found.per_subspace["tokens"][1] == pytest.approx(2) and found.per_subspace["tokens"][0] < 0.5


def test_interactions_of_a_regression_with_a_product():
    """x₀, x₁x₂ and nothing else: one unit each, and the product's is shared."""
    x = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3, np.arange(4.0))).reshape(4, -1).T[:, :3]  # balanced: N = 32
    apply = lambda w, a: w[0] * a[:, 0] + w[1] * a[:, 1] * a[:, 2]  # noqa: E731
    allocation = cc.allocate_network(apply, np.ones(2), x, x[:, 0] + x[:, 1] * x[:, 2], subspaces={})
    found = networks.interactions(allocation, sets=[(1, 2), (0, 1)], samples=2000)
    for name, expected in {
        "alone": [1, 0, 0],
        "involved": [1, 1, 1],
        "shapley": [1, 0.5, 0.5],
        "closed": [1, 1],
    }.items():
        errors = found.errors[name]
        assert np.all(np.abs(getattr(found, name) - expected) < 2.3 * errors + 1e-9), name
        assert errors.max() < 0.2
    assert found.shapley.sum() == pytest.approx(found.varying)
    assert found.constant == pytest.approx(0, abs=0.2) and found.varying == pytest.approx(2, abs=0.2)
    for arguments, words in (
        ({"sets": [(0, 3)]}, "expected groups from 0 to 2"),
        ({"groups": [0, 1, -1]}, "expected whole numbers from 0"),
        ({"groups": [0.0, 1.0, 2.0]}, "expected whole numbers from 0"),
    ):
        with pytest.raises(ValueError, match=words):
            networks.interactions(allocation, samples=2, **arguments)


def test_inputs_that_depend_on_each_other_have_no_metric_of_paper_1(rng):
    x = rng.normal(size=(12, 2))
    found = cc.allocate_network(lambda w, a: a @ w, np.ones(2), x, x.sum(axis=1), subspaces={})
    with pytest.raises(ValueError, match="values: found 3 columns of rank 2"):
        networks.paper_metric(found, x @ [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])


def test_labels_below_zero_are_refused(rng):
    with pytest.raises(ValueError, match="labels: found -1"):
        networks.Functions(rng.normal(size=(9, 2)), np.array([0, -1]), (2,))
