"""Targets: their symmetries are what they say."""

import numpy as np
import pytest

pytest.importorskip("jax")

from hypothesis import given

from chapters.capacity_vs_expressivity.sets import TARGETS, closed_under_exchange, target, with_places
from chapters.shared.complexity import SetNetwork, random_network
from chapters.shared.complexity.sets import orbit_indices
from tests.strategies import seeds


@given(seeds)
def test_every_invariant_network_is_at_one_half_on_a_closed_set(seed):
    rng = np.random.default_rng(seed)
    items, labels = closed_under_exchange(rng.normal(size=(50, 4, 2)), rng.choice([-1.0, 1.0], 50), (1, 3))
    net = SetNetwork(random_network([2, 5, 3], rng), random_network([3, 1], rng))
    assert np.mean(np.where(net(items)[:, 0] > 0, 1, -1) == labels) == 0.5


def test_places_make_reorderings_different():
    pair = [[[1.0], [2.0]], [[2.0], [1.0]]]
    assert orbit_indices(pair).tolist() == [0, 0]
    assert len(set(orbit_indices(with_places(pair)))) == 2


@pytest.mark.parametrize("name", TARGETS)
def test_labels_are_fair_and_follow_the_stated_symmetry(name):
    each, rng = target(name), np.random.default_rng(0)
    items, labels = each.draw(4_000, rng)
    assert set(labels) == {-1, 1}
    assert abs(labels.mean()) < 4 / np.sqrt(4_000)  # four standard errors
    reordered = [each.label(items[:, order]) for order in ([1, 0, 2, 3], [2, 3, 0, 1], [0, 2, 1, 3])]
    assert any(np.any(again != labels) for again in reordered) == each.sees_order
    assert len(set(orbit_indices(items))) == (2_000 if each.closed else 4_000)


@pytest.mark.parametrize("name", ["order", "simple order"])
def test_exchange_changes_every_label(name):
    each = target(name)
    items, labels = each.draw(500, np.random.default_rng(1))
    np.testing.assert_array_equal(each.label(items[:, [1, 0, 2, 3]]), -labels)


def test_the_twofold_order_is_a_product_of_two_orders():
    items, labels = target("order").draw(500, np.random.default_rng(3))
    single = target("simple order").label
    np.testing.assert_array_equal(single(items) * single(items[:, 2:]), labels)


def test_the_twofold_order_is_uncorrelated_with_every_input():
    items, labels = target("order").draw(40_000, np.random.default_rng(2))
    assert np.abs(labels @ items.reshape(len(items), -1) / len(items)).max() < 4.5 / 200


def test_bad_input():
    with pytest.raises(ValueError, match="labels: found 1, expected 2"):
        closed_under_exchange(np.ones((2, 2, 1)), [1.0])
    for places in ((0, 0), (0, 2)):
        with pytest.raises(ValueError, match=r"places: found .0, [02]."):
            closed_under_exchange(np.ones((1, 2, 1)), [1.0], places)
    with pytest.raises(ValueError, match=r"target: found 'orders'.*Did you mean 'order'"):
        target("orders")
    with pytest.raises(ValueError, match="n: found 3, expected an even number"):
        target("orbit-closed").draw(3, np.random.default_rng(0))
