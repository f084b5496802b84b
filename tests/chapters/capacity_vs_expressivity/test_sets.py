"""Targets: their symmetries are what they say."""

import numpy as np
import pytest

pytest.importorskip("jax")

from chapters.capacity_vs_expressivity.orbits import orbit_ceiling
from chapters.capacity_vs_expressivity.sets import TARGETS, target


@pytest.mark.parametrize("name", TARGETS)
def test_labels_are_fair_and_follow_the_stated_symmetry(name):
    each, rng = target(name), np.random.default_rng(0)
    items, labels = each.draw(4_000, rng)
    assert set(labels) == {-1, 1}
    assert abs(labels.mean()) < 4 / np.sqrt(4_000)  # four standard errors
    reordered = [each.label(items[:, order]) for order in ([1, 0, 2, 3], [2, 3, 0, 1], [0, 2, 1, 3])]
    assert any(np.any(again != labels) for again in reordered) == each.sees_order
    assert orbit_ceiling(items, labels) == (0.5 if each.closed else 1.0)


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
    with pytest.raises(ValueError, match=r"target: found 'orders'.*Did you mean 'order'"):
        target("orders")
    with pytest.raises(ValueError, match="n: found 3, expected an even number"):
        target("orbit-closed").draw(3, np.random.default_rng(0))
