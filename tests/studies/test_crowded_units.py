"""Why the rank misses its ceiling: crowded functions of upper units, ranks by where units are on, what is stored."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.complexity import parameter_rank, random_network
from capcore.complexity.rank_ceiling import rank_ceiling
from capcore.complexity.unit_ceiling import unit_ceiling
from capcore.studies import along_routes, stored_crowded
from capcore.studies.along_prose import crowd_prose
from capcore.studies.crowded_units import crowded_functions, drawn_functions
from capcore.studies.exact_rank import exact_rank, pattern_rank
from tests.complexity.test_unit_ceiling import pair
from tests.strategies import seeds

RESULTS = Path(__file__).resolve().parents[2] / "notebooks" / "results"


@pytest.mark.parametrize("seed", range(8))
def test_the_crowd_is_found(seed):
    """Two examples that share an input; the plain count is above the rank in all, what is found closes the gap."""
    net, x = pair(seed)
    aside = crowded_functions(net, x, np.random.default_rng(1))
    assert parameter_rank(net, x, 1e-10).rank == unit_ceiling(net, x, aside).total < unit_ceiling(net, x).total


@settings(max_examples=15)
@given(seeds, st.integers(1, 4), st.sampled_from(["relu", "tanh"]))
def test_what_is_found_lies_in_the_space(seed, n_outputs, activation):
    """Set aside, it leaves a ceiling; and a unit's own inputs are among it, whatever the weights."""
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


def test_drawn_functions_stand_where_the_others_do():
    one = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    found = drawn_functions({(1, 0): one}, np.random.default_rng(0))[1, 0]
    assert found.shape == (3, 2) and not found[1].any() and found[0].all()


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
    missed = {"rank": [5, 6, 7], "pattern": [5, 6, 8], "sharper": [5, 6, 8], "drawn": [9, 9, 9]}
    tables = {kind: {"rank": np.array([[4.0], [5.0]]), "limit": np.array([[4.0], [9.0]])} for kind in ("a", "b")}
    found = crowd_prose({name: np.array(values) for name, values in missed.items()}, {"relu": tables})
    assert [found[f"along_crowd_{name}"] for name in ("missed", "pattern", "met", "all")] == ["3", "2", "2", "2"]
    assert found["along_crowd_drawn"] == "2 to 4"


def test_what_is_stored():
    """States with a gap, each start once; the cause is in where units are on; the ceiling is met in all."""
    pytest.importorskip("sklearn")
    stored = stored_crowded.Stored(RESULTS / "crowded_units.json")
    assert stored.values["state"].tolist() == stored_crowded.missed_states(RESULTS / "along_training.json")
    rank, limit, sharper = (stored.values[name] for name in ("rank", "limit", "sharper"))
    assert np.all(rank == stored.values["pattern"])
    assert np.all((rank <= sharper) & (sharper <= limit) & (rank < limit)) and np.all(stored.values["drawn"] > limit)


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
