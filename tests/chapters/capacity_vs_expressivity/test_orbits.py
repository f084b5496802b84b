"""The accuracy that no invariant model exceeds, on sets and their reorderings."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given

from capcore.complexity import SetNetwork, random_network
from capcore.complexity.sets import orbit_indices
from chapters.capacity_vs_expressivity.orbits import closed_under_exchange, orbit_ceiling, with_places
from tests.strategies import seeds


@given(seeds)
def test_the_ceiling_is_the_best_of_all_invariant_answers(seed):
    """Brute force: an answer for each orbit, all combinations."""
    rng = np.random.default_rng(seed)
    items = rng.integers(0, 2, (10, 2, 1)).astype(float)
    labels = rng.choice([-1.0, 1.0], 10)
    orbits = orbit_indices(items)
    best = max(np.mean(np.array(said)[orbits] == labels) for said in product([-1, 1], repeat=int(orbits.max()) + 1))
    assert orbit_ceiling(items, labels) == pytest.approx(best)


@given(seeds)
def test_every_invariant_network_is_at_one_half_on_a_closed_set(seed):
    rng = np.random.default_rng(seed)
    items, labels = closed_under_exchange(rng.normal(size=(50, 4, 2)), rng.choice([-1.0, 1.0], 50), (1, 3))
    assert orbit_ceiling(items, labels) == 0.5
    net = SetNetwork(random_network([2, 5, 3], rng), random_network([3, 1], rng))
    assert np.mean(np.where(net(items)[:, 0] > 0, 1, -1) == labels) == 0.5


def test_all_reorderings_and_three_labels():
    items = np.array([[[1.0], [2.0], [3.0]]])[:, list(permutations(range(3)))][0]
    assert orbit_ceiling(items, [0, 1, 2, 0, 1, 2]) == pytest.approx(1 / 3)
    assert orbit_ceiling(np.random.default_rng(0).normal(size=(9, 3, 1)), np.arange(9)) == 1


def test_places_make_reorderings_different():
    pair = [[[1.0], [2.0]], [[2.0], [1.0]]]
    assert orbit_indices(pair).tolist() == [0, 0]
    assert len(set(orbit_indices(with_places(pair)))) == 2


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("labels: found 1, expected 2", lambda: orbit_ceiling(np.ones((2, 2, 1)), [1.0])),
        ("places: found .0, 0.", lambda: closed_under_exchange(np.ones((1, 2, 1)), [1.0], (0, 0))),
        ("places: found .0, 2.", lambda: closed_under_exchange(np.ones((1, 2, 1)), [1.0], (0, 2))),
    ],
)
def test_bad_input(message, call):
    with pytest.raises(ValueError, match=message):
        call()
