"""Laws that any allocation obeys, for random small networks at an optimum."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import capcore as cc
from capcore import networks
from tests.networks.kinds import capacity
from tests.strategies import seeds

jnp = pytest.importorskip("jax").numpy
pytestmark = pytest.mark.usefixtures("compiled_once")
losses = st.sampled_from(["squared", "cross-entropy"])
few = settings(max_examples=3)  # each trains a network
CLOSE = {"rel": 1e-6, "abs": 1e-6}
"""Optima end at gradients of 1e-9, and curvatures are at least about the weight decay of 0.3."""


def network(w, x):
    """Two inputs, three tanh units, two outputs."""
    return jnp.tanh(x @ w[:6].reshape(2, 3)) @ w[6:].reshape(3, 2)


def tree(v, x):
    """The same of two parts."""
    return network(jnp.concatenate([v["a"], v["b"]]), x)


def problem(seed, loss, n=12):
    """An optimum of the network and its data; ``networks.polish`` passes saddles."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = rng.integers(0, 2, n) if loss == "cross-entropy" else rng.normal(size=(n, 2))
    options = {"loss": loss, "weight_decay": 0.3}
    params = networks.polish(network, rng.normal(size=12), x, y, **options).params
    return params, x, y, {**options, "curvature": "full"}


def capacities(found):
    return [found.total, *found.per_output, *np.ravel(found.per_subspace["inputs"])]


@few
@given(seeds, losses)
def test_everything_sums_to_the_total(seed, loss):
    w, x, y, options = problem(seed, loss)
    found = cc.allocate_network(network, w, x, y, layers={"below": slice(0, 6), "top": slice(6, 12)}, **options)
    assert found.per_output.sum() == pytest.approx(found.total)
    assert found.per_example.sum() == pytest.approx(found.total)
    assert capacity(found, np.eye(24)) == pytest.approx(found.total)
    for way in ("forward", "backward"):
        views = [getattr(layer, way) for layer in found.layers.values()]
        assert sum(view.total for view in views) == pytest.approx(found.total)
        assert sum(view.per_subspace["inputs"] for view in views) == pytest.approx(found.per_subspace["inputs"])
    first, last = found.layers.values()
    assert first.independent.total == pytest.approx(first.forward.total)
    assert last.marginal.total == pytest.approx(last.forward.total)


@few
@given(seeds, losses)
def test_the_gauss_newton_form_lies_between_nothing_and_one(seed, loss):
    w, x, y, options = problem(seed, loss)
    found = cc.allocate_network(network, w, x, y, **{**options, "curvature": "gauss-newton"})
    assert 0 <= found.total <= min(12, 24 if loss == "squared" else 12)
    every = [capacity(found, direction) for direction in np.random.default_rng(seed).normal(size=(5, 24))]
    assert min(every) >= -1e-12 and max(every) <= 1 + 1e-12
    assert found.total == pytest.approx(found.gauss_newton_total)


@few
@given(seeds, losses)
def test_orthogonal_changes_of_parameters_change_nothing(seed, loss):
    """Weight decay is the same in turned parameters; the Hessian at an optimum is a tensor."""
    w, x, y, options = problem(seed, loss)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(12, 12)))[0]
    found = cc.allocate_network(network, w, x, y, **options)
    turned = cc.allocate_network(lambda v, x: network(turn @ v, x), turn.T @ w, x, y, **options)
    assert capacities(turned) == pytest.approx(capacities(found), **CLOSE)


@few
@given(seeds, losses)
def test_examples_given_twice_with_twice_the_decay_share_their_leverage(seed, loss):
    """L doubles, and so do H and JᵀJ: the total stays, the two copies have half of it each."""
    w, x, y, options = problem(seed, loss)
    found = cc.allocate_network(network, w, x, y, **options)
    options["weight_decay"] *= 2
    twice = cc.allocate_network(network, w, np.vstack([x, x]), np.concatenate([y, y]), **options)
    assert capacities(twice) == pytest.approx(capacities(found), **CLOSE)
    assert twice.per_example == pytest.approx(np.tile(found.per_example, 2) / 2, **CLOSE)


@few
@given(seeds, losses)
def test_weight_decay_can_be_a_number_an_array_or_a_tree(seed, loss):
    w, x, y, options = problem(seed, loss)
    expected = capacities(cc.allocate_network(network, w, x, y, **options))
    parts = {"a": w[:6], "b": w[6:]}
    decays = {"a": np.full(6, 0.3), "b": np.full(6, 0.3)}
    for apply, params, decay in ((network, w, np.full(12, 0.3)), (tree, parts, decays)):
        found = cc.allocate_network(apply, params, x, y, loss=loss, weight_decay=decay, curvature="full")
        assert capacities(found) == pytest.approx(expected, **CLOSE)


@few
@given(seeds)
def test_the_response_is_symmetric(seed):
    """⟨g, S h⟩ = ⟨S g, h⟩."""
    w, x, y, options = problem(seed, "squared")
    found = cc.allocate_network(network, w, x, y, **options)
    g, h = np.random.default_rng(seed).normal(size=(2, 12, 2))
    assert (g * found.response(h)).sum() == pytest.approx((h * found.response(g)).sum(), **CLOSE)


@cache
def weak(decay=0.03):
    """One output, at an optimum of weak decay where an example is followed by more than its target moves."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    apply = lambda w, x: jnp.tanh(x @ w[:6].reshape(2, 3)) @ w[6:]  # noqa: E731
    return apply, networks.polish(apply, rng.normal(size=9), x, y, weight_decay=decay).params, x, y


def test_leverages_above_one_are_told_and_the_gauss_newton_form_has_none(recwarn):
    """With the full Hessian S is no contraction: eigenvalues, leverages, and capacities of directions exceed 1."""
    apply, w, x, y = weak()
    options = {"weight_decay": 0.03, "subspaces": {}}
    for method in ("dense", "dual"):
        assert cc.allocate_network(apply, w, x, y, method=method, **options).largest_leverage <= 1 + CLOSE["abs"]
    assert not [each for each in recwarn if issubclass(each.category, cc.CapacityWarning)]
    with pytest.warns(cc.CapacityWarning, match=r"leverage: found 1\.\d+ of an example, .*leave curvature='full' away"):
        found = cc.allocate_network(apply, w, x, y, curvature="full", **options)
    assert found.is_optimum and found.largest_leverage > 1.1 and "largest_leverage=1." in repr(found)[:200]
    largest = int(found.per_example.argmax())
    assert found.largest_leverage == pytest.approx(found.per_example[largest])
    assert np.linalg.eigvalsh(found._response.factor @ found._response.signed.T)[-1] > 1.1
    assert capacity(found, np.eye(12)[:, [largest]]) > 1.1


def test_responses_of_layers_do_not_exceed_those_of_the_whole():
    """S of some parameters ≼ S of all, since the inverse of a block of H is ≼ the block of its inverse: one warning."""
    apply, w, x, y = weak()
    layers = {"below": slice(0, 6), "top": slice(6, 9)}
    found = cc.allocate_network(apply, w, x, y, curvature="full", weight_decay=0.03, layers=layers, subspaces={})
    for layer in found.layers.values():
        for view in vars(layer).values():
            assert np.all(view.per_example <= found.per_example + CLOSE["abs"])
