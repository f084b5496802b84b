"""Where the rank misses its ceiling: crowded functions of upper units, ranks by where units are on, what is stored."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.complexity import parameter_rank, random_network
from capcore.complexity.unit_ceiling import unit_ceiling
from chapters.along_training import along_routes, stored_crowded, stored_new_starts
from chapters.along_training.along_prose import crowd_prose
from chapters.along_training.crowded_units import crowded_functions, image_functions
from chapters.along_training.exact_rank import exact_rank, pattern_rank
from chapters.along_training.rank_ceiling import rank_ceiling
from tests.complexity.test_unit_ceiling import pair
from tests.strategies import seeds

RESULTS = Path(__file__).resolve().parents[3] / "notebooks" / "results"


@pytest.mark.parametrize("seed", range(8))
def test_the_crowd_is_found(seed):
    """Two examples that share an input; the plain count is above the rank in all, what is found closes the gap."""
    net, x = pair(seed)
    aside = crowded_functions(net, x, np.random.default_rng(1))
    assert parameter_rank(net, x, 1e-10).rank == unit_ceiling(net, x, aside).total < unit_ceiling(net, x).total


@settings(max_examples=15)
@given(seeds, st.integers(1, 4), st.sampled_from(["relu", "tanh"]))
def test_what_is_found_lies_in_the_space(seed, n_outputs, activation):
    """Set aside, it leaves a ceiling; and a unit's own inputs are among it, for all draws of weights."""
    rng = np.random.default_rng(seed)
    net, x = random_network([3, 6, 4, n_outputs], rng, 1.5, 0.5, activation), rng.normal(size=(40, 3))
    aside = crowded_functions(net, x, rng, 2)
    assert parameter_rank(net, x, 1e-10).rank <= unit_ceiling(net, x, aside).total
    for functions in aside.values():
        assert np.allclose(functions.T @ functions, np.eye(functions.shape[1]), atol=1e-9)
    below, z = (np.column_stack([net.phi.value(net.pre_activations(x)[0]), np.ones(40)]), net.pre_activations(x)[1])
    for (_, unit), functions in aside.items():
        on = net.phi.derivative(z)[:, unit] != 0
        own = below * on[:, None]
        assert np.allclose(functions @ (functions.T @ own), own, atol=1e-5 * np.abs(own).max())


def test_one_hidden_layer_has_no_unit_above_and_few_examples_no_room():
    rng = np.random.default_rng(0)
    assert crowded_functions(random_network([2, 3, 1], rng), np.eye(2), rng) == {}
    net = random_network([2, 3, 3, 1], rng, bias_scale=1.0)
    found = crowded_functions(net, np.eye(2), rng)
    assert parameter_rank(net, np.eye(2)).rank <= unit_ceiling(net, np.eye(2), found).total


def test_what_is_taken():
    """A network in any form; at least one draw."""
    rng = np.random.default_rng(0)
    net = random_network([2, 3, 2, 1], rng, 1.5, 0.5)
    x = rng.normal(size=(20, 2))
    parts = list(zip(net.weights, net.biases, strict=True))
    found, other = (crowded_functions(each, x.tolist(), np.random.default_rng(1)) for each in (net, parts))
    assert found.keys() == other.keys() and all(np.array_equal(found[unit], other[unit]) for unit in found)
    with pytest.raises(ValueError, match="n_draws: found 0"):
        crowded_functions(net, x, rng, 0)


def test_images_stand_at_the_units_that_are_on_for_them():
    """One image, there twice, with an input of its own: more units below than outputs. Without it none is crowded."""
    rng = np.random.default_rng(3)
    net, x = random_network([3, 8, 3, 1], rng, 1.5, 0.5), rng.normal(size=(40, 3))
    x[:, 2] = 0.0
    assert not (rank_ceiling(net, x).aside == x[7]).all(axis=1).any()
    x[7, 2] = 1.5
    found = image_functions(net, np.vstack([x, x[7]]))
    on = net.pre_activations(x)[1][7] > 0
    assert on.any() and not on.all() and {layer for layer, _ in found} == {1}
    assert [unit for _, unit in found if found[1, unit][7].any()] == np.flatnonzero(on).tolist()
    assert all(np.array_equal(functions[7], functions[40]) for functions in found.values())


@settings(max_examples=30)
@given(seeds, st.integers(1, 4))
def test_random_weights_are_a_ceiling_that_almost_all_weights_meet(seed, n_outputs):
    rng = np.random.default_rng(seed)
    net, x = random_network([3, 4, 3, n_outputs], rng, 1.5, 0.5), rng.normal(size=(25, 3))
    assert exact_rank(net, x) == pattern_rank(net, x, rng)
    lazy = type(net)(
        (net.weights[0], 0 * net.weights[1], net.weights[2]), (net.biases[0], 0 * net.biases[1] + 1, net.biases[2])
    )
    assert exact_rank(lazy, x) <= pattern_rank(lazy, x, rng)


def test_weights_at_zero_are_not_almost_all():
    rng = np.random.default_rng(0)
    net, x = random_network([3, 4, 2], rng, 1.5, 0.5), rng.normal(size=(30, 3))
    mute = type(net)((net.weights[0], 0 * net.weights[1]), net.biases)
    assert exact_rank(mute, x) < pattern_rank(mute, x, rng) == exact_rank(net, x)
    assert along_routes.pattern_ranks([mute, net], x) == [exact_rank(net, x)] * 2


def test_what_the_chapter_says_of_it():
    """Three states of four below their ceiling, one of them still so with more set aside."""
    missed = {"rank": [5, 6, 7], "pattern": [5, 6, 8], "nothing": [5, 9, 9], "images": [6, 6, 9], "sharper": [5, 6, 8]}
    tables = {kind: {"rank": np.array([[4.0], [5.0]]), "limit": np.array([[4.0], [9.0]])} for kind in ("a", "b")}
    new = {"rank": np.array([3, 4, 5]), "limit": np.array([4, 6, 5]), "sharper": np.array([3, 6, 5])}
    found = crowd_prose({name: np.array(values) for name, values in missed.items()}, {"relu": tables}, new)
    counted = ("missed", "pattern", "images", "met", "all")
    assert [found[f"along_crowd_{name}"] for name in counted] == ["3", "2", "2", "2", "2"]
    assert [found[f"along_new_{name}"] for name in ("states", "missed", "met")] == ["3", "2", "1"]
    assert found["along_new_left"] == "2"


def test_what_is_stored():
    """States with a gap, each start once; the rank is one of where units are on; the ceiling is met in all."""
    pytest.importorskip("sklearn")
    stored = stored_crowded.Stored(RESULTS / "crowded_units.json")
    assert stored.values["state"].tolist() == stored_crowded.missed_states(RESULTS / "along_training.json")
    rank, limit, sharper = (stored.values[name] for name in ("rank", "limit", "sharper"))
    assert np.array_equal(rank, stored.values["pattern"]) and np.array_equal(rank, sharper)
    assert np.all(rank < limit) and all(np.all(rank <= stored.values[name]) for name in ("nothing", "images"))
    assert stored.settings["n_draws"] == 4  # the chapter's text has the word


def test_what_is_stored_of_new_starts():
    """All states of other seeds, each start once: what is stored is what can be."""
    new = stored_new_starts.Stored(RESULTS / "crowded_new_starts.json")
    tuned = stored_crowded.Stored(RESULTS / "crowded_units.json")
    n_states = len(new.settings["seeds"]) * (2 * len(new.settings["snapshots"]) - 1)
    assert not set(new.settings["seeds"]) & set(tuned.settings["seeds"]) and len(new.values["state"]) == n_states
    rank, limit, sharper = (new.values[name] for name in ("rank", "limit", "sharper"))
    assert np.all((rank <= sharper) & (sharper <= limit))


@pytest.mark.slow
def test_a_new_start_made_again():
    """The first state with a gap whose network takes no long training, and one pass that is not looked at."""
    pytest.importorskip("sklearn")
    new = stored_new_starts.Stored(RESULTS / "crowded_new_starts.json")
    at = int(np.flatnonzero(new.values["rank"] < new.values["limit"])[0])
    state, settings = int(new.values["state"][at]), new.settings
    assert state < 4 * len(settings["seeds"])  # a start, or after one pass
    net = stored_crowded.states(settings["snapshots"][:2], settings["seeds"])[state]
    x = stored_crowded.places(settings["n_images"]).data.x
    assert exact_rank(net, x) == new.values["rank"][at] and rank_ceiling(net, x).total == new.values["limit"][at]
    found = stored_new_starts.measures(net, x, 2, 5)
    assert found["rank"] == new.values["rank"][at] <= found["sharper"] <= found["limit"]


def test_what_counts_is_far_from_what_does_not():
    """What the docstring of CLEAR says of the book's networks."""
    tuned = stored_crowded.Stored(RESULTS / "crowded_units.json").values
    new = stored_new_starts.Stored(RESULTS / "crowded_new_starts.json").values
    for values in (tuned, new):
        assert values["counted"].min() > 1e-3 and values["dropped"].max() < 5e-9


@pytest.mark.slow
def test_a_stored_state_made_again():
    """The first one with a gap, a start, and one pass that is not looked at."""
    pytest.importorskip("sklearn")
    stored = stored_crowded.Stored(RESULTS / "crowded_units.json")
    state = int(stored.values["state"][0])
    net = stored_crowded.states([0, 1], stored.settings["seeds"])[state]
    x = stored_crowded.places(stored.settings["n_images"]).data.x
    assert exact_rank(net, x) == stored.values["rank"][0] < stored.values["limit"][0] == rank_ceiling(net, x).total
    aside = crowded_functions(net, x, np.random.default_rng(5), 2)
    assert unit_ceiling(net, x, aside).total == stored.values["sharper"][0]
