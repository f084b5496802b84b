"""Models of sets: symmetries of their targets, training in both packages, and capacity by two routes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

from chapters.capacity_vs_expressivity import experiment, study
from chapters.capacity_vs_expressivity import ranks as fresh
from chapters.capacity_vs_expressivity.sets import (
    MODELS,
    TARGETS,
    accuracies,
    closed_under_exchange,
    draw_target,
    train_models,
    with_places,
)
from chapters.capacity_vs_expressivity.study import MemorisationCurve
from chapters.kit.stored import stored
from chapters.shared.complexity import SetNetwork, parameter_jacobian, random_network
from chapters.shared.complexity.sets import canonical_order
from tests.strategies import seeds


@given(seeds)
def test_every_invariant_network_is_at_one_half_on_a_closed_set(seed):
    rng = np.random.default_rng(seed)
    items, labels = closed_under_exchange(rng.normal(size=(50, 4, 2)), rng.choice([-1.0, 1.0], 50))
    net = SetNetwork(random_network([2, 5, 3], rng), random_network([3, 1], rng))
    assert np.mean(np.where(net(items)[:, 0] > 0, 1, -1) == labels) == 0.5


def test_places_make_reorderings_different():
    pair = np.array([[[1.0], [2.0]], [[2.0], [1.0]]])
    assert np.array_equal(*canonical_order(pair)) and not np.array_equal(*canonical_order(with_places(pair)))


@pytest.mark.parametrize("name", TARGETS)
def test_labels_are_fair_and_follow_the_stated_symmetry(name):
    items, labels = draw_target(name, 4_000, np.random.default_rng(0))
    assert set(labels) == {-1, 1}
    assert abs(labels.mean()) < 4 / np.sqrt(4_000)  # four standard errors
    reordered = [TARGETS[name](items[:, order]) for order in ([1, 0, 2, 3], [2, 3, 0, 1], [0, 2, 1, 3])]
    assert any(np.any(again != labels) for again in reordered) == (name != "invariant")
    sets = canonical_order(items).reshape(4_000, -1)
    assert len(np.unique(sets, axis=0)) == (2_000 if name == "orbit-closed" else 4_000)


@pytest.mark.parametrize("name", ["order", "simple order"])
def test_exchange_changes_every_label(name):
    items, labels = draw_target(name, 500, np.random.default_rng(1))
    np.testing.assert_array_equal(TARGETS[name](items[:, [1, 0, 2, 3]]), -labels)


def test_the_twofold_order_is_uncorrelated_with_every_input():
    items, labels = draw_target("order", 40_000, np.random.default_rng(2))
    assert np.abs(labels @ items.reshape(len(items), -1) / len(items)).max() < 4.5 / 200


@pytest.mark.parametrize("channels", [1, 3])
def test_both_routes_agree(channels):
    pair = fresh.Comparison(channels, 200, np.random.default_rng(0))
    assert pair.rank == pair.kappa == {1: 7, 3: 33}[channels]  # Property 2's closed form for six layers
    assert pair.per_input_gap < 1e-8


@pytest.fixture(scope="module")
def content():
    return stored("capacity_vs_expressivity")


@pytest.fixture(scope="module")
def ranks():
    return stored("expressivity_ranks")


def test_the_two_experiments_trained_the_same_networks(content, ranks):
    assert content["settings"] == experiment.SETTINGS and ranks["settings"] == fresh.SETTINGS
    for name, row in ranks["values"]["random labels"].items():
        assert row["train"] == content["values"]["random labels"][name]["256"]["train"]
    for name, row in ranks["values"]["order"].items():
        assert row["train"] == content["values"]["targets"][name]["order"]["train"]


def test_kappa_ranks_the_models_as_parameters_do(content, ranks):
    """κ is P in all models but that with places, which it leaves among those of some 940."""
    after = study.model_axes(content, ranks, "random labels")
    assert [name for name, model in after.items() if (model.ranks != model.n_params).any()] == ["invariant + places"]
    by_kappa = study.capacity_correlation(after)
    assert 0.9 < by_kappa < 1
    assert by_kappa == pytest.approx(study.capacity_correlation(after, of_parameters=True))
    without = {name: model for name, model in after.items() if name != "order-aware"}
    assert study.capacity_correlation(without) != by_kappa


def test_capacity_stops_at_the_first_size_that_fails():
    curve = MemorisationCurve(np.array([2, 4, 8]), np.array([[1.0], [0.9], [1.0]]))
    assert curve.memorised() == 2
    assert MemorisationCurve(np.array([2]), np.array([[0.5]])).memorised() == 0


OPTIONS = {"learning_rate": 0.05, "n_steps": 400, "batch_size": 16}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["invariant + places", "narrow"])
def test_both_packages_compute_the_same_network(name):
    """Logits in single precision by JAX, in double by NumPy; and derivatives by all parameters by both."""
    model, items = MODELS[name], np.random.default_rng(0).normal(size=(6, 4, 3))
    params = model.initial(jax.random.key(0))
    params = jax.tree.map(lambda leaf: leaf + 0.1, params)  # biases too
    stacked = jax.tree.map(lambda leaf: leaf[None], params)
    ours, x = model.trained(stacked, 0), model.prepared(items)
    np.testing.assert_allclose(ours(x)[:, 0], model.logits(params, x), atol=2e-5)
    by_jax = jax.jacrev(lambda p: model.logits(p, jnp.asarray(x)))(params)
    parts = [*(by_jax["items"] if model.item_widths else []), *by_jax["rest"]]
    flat = np.concatenate([np.asarray(leaf).reshape(6, -1) for pair in parts for leaf in pair], axis=1)
    np.testing.assert_allclose(parameter_jacobian(ours, x), flat, atol=1e-4)


@pytest.mark.slow
def test_a_small_model_learns_a_linear_target():
    items, labels = experiment.target_data("simple order", 400, [0], 0)
    models = train_models("linear", items, labels, seeds=[0], **OPTIONS)
    assert accuracies("linear", models, items, labels)[0] > 0.95
