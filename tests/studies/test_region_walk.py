"""Regions counted along a segment: against the count layer by layer, a grid, and cases known by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.complexity import Network, curve_regions, random_network, segments
from capcore.studies.region_walk import walk_regions
from tests.strategies import seeds


@given(seeds, st.lists(st.integers(1, 6), max_size=4), st.sampled_from([0.0, 0.3]))
def test_it_finds_what_is_found_layer_by_layer(seed, hidden, bias_scale):
    """Also without biases, where a layer that goes dead takes others with it at the same place."""
    rng = np.random.default_rng(seed)
    network = random_network([3, *hidden, 2], rng, bias_scale=bias_scale)
    starts, stops = rng.normal(size=(2, 4, 3))
    expected = curve_regions(network, segments(starts, stops))
    patterns, linear = walk_regions(network, starts, stops)
    assert patterns.tolist() == expected.patterns.tolist() and linear.tolist() == expected.linear.tolist()


def test_a_grid_sees_the_same_changes_of_the_pattern():
    rng = np.random.default_rng(3)
    network, (start, stop) = random_network([4, 16, 16, 2], rng, bias_scale=0.5), rng.normal(size=(2, 4))
    t = np.linspace(0, 1, 100_001)[:, None]
    on = np.concatenate([z > 0 for z in network.pre_activations(start + t * (stop - start))[:-1]], axis=1)
    changes = int((on[1:] != on[:-1]).any(axis=1).sum())
    assert walk_regions(network, start[None], stop[None])[0].tolist() == [1 + changes] and changes > 3


def test_a_sawtooth_has_as_many_regions_as_its_formula_says():
    """Each layer folds [0, 1] in two: 2x − 4 relu(x − ½)."""
    fold, first = [[2.0, 2.0], [-4.0, -4.0]], [[1.0, 1.0]]
    network = Network([first, fold, fold, [[2.0], [-4.0]]], [[0.0, -0.5], [0.0, -0.5], [0.0, -0.5], [0.0]])
    patterns, linear = walk_regions(network, [[0.01]], [[0.99]])
    assert patterns.tolist() == linear.tolist() == [8]


@pytest.mark.parametrize("silent", [0.0, -1.0])
def test_a_unit_that_is_not_heard_begins_no_linear_region(silent):
    """Its only way up has weight zero, or leads to a unit that is off."""
    network = Network([[[1.0]], [[silent]], [[1.0]]], [[0.0], [-0.5], [0.0]])
    patterns, linear = walk_regions(network, [[-1.0]], [[1.0]])
    assert (patterns.tolist(), linear.tolist()) == ([2], [1])


def test_both_ways_along_a_segment_count_the_same():
    rng = np.random.default_rng(5)
    network, ends = random_network([6, 12, 12, 3], rng), rng.normal(size=(2, 10, 6))
    there, back = walk_regions(network, *ends), walk_regions(network, *ends[::-1])
    assert np.array_equal(there, back) and there[0].min() > 1


def test_a_linear_network_has_one_region():
    found = walk_regions(Network([[[1.0]]], [[0.0]]), [[-1.0]], [[1.0]])
    assert [count.tolist() for count in found] == [[1], [1]]


@pytest.mark.parametrize(
    ("message", "kind", "stops"),
    [
        ("activation: found 'tanh', expected 'relu'", "tanh", [[1.0, 1.0]]),
        ("stops: found shape \\(1, 1\\), expected \\(1, 2\\)", "relu", [[1.0]]),
        ("stops: ", "relu", [[np.nan, 1.0]]),
    ],
)
def test_what_it_cannot_walk_is_refused(message, kind, stops):
    network = random_network([2, 3, 1], np.random.default_rng(0), activation=kind)
    with pytest.raises(ValueError, match=message):
        walk_regions(network, [[0.0, 0.0]], stops)
