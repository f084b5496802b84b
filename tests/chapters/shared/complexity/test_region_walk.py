"""Regions counted along a segment: against the count layer by layer, a grid, and cases known by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.shared.complexity import Network, curve_regions, random_network, segments
from tests.chapters.shared.complexity.region_walk import walk_regions
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


@pytest.mark.parametrize(("silent", "bias"), [(0.0, 0.5), (-1.0, -0.5)])
def test_a_unit_that_is_not_heard_begins_no_linear_region(silent, bias):
    """Its only way up has weight zero to a unit that is on, or leads to a unit that is off."""
    network = Network([[[1.0]], [[silent]], [[1.0]]], [[0.0], [bias], [0.0]])
    assert _walked(network, -1.0, 1.0) == ([2], [1])


def test_a_unit_without_weight_to_an_output_is_not_heard():
    assert _walked(Network([[[1.0]], [[0.0]]], [[0.0], [0.0]]), -1.0, 1.0) == ([2], [1])


def test_units_that_cancel_begin_a_linear_region_here_and_none_where_maps_are_compared():
    """relu(x) − relu(−x) is x."""
    network = Network([[[1.0, -1.0]], [[1.0], [-1.0]]], [[0.0, 0.0], [0.0]])
    assert _walked(network, -1.0, 1.0) == ([2], [2])
    by_layers = curve_regions(network, segments([[-1.0]], [[1.0]]))
    assert (by_layers.patterns.tolist(), by_layers.linear.tolist()) == ([2], [1])


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (0.0, 1.0, 1),  # from a kink on
        (1.0, 0.0, 1),
        (-1e-16, 1.0, 1),  # from a kink on, but for rounding
        (1e-16, -1.0, 1),
        (1.0, -1e-14, 1),
        (-1.0, 1e-14, 1),
        (-1e-12, 1.0, 2),  # a kink that is far enough from an end
        (-1.0, 1e-12, 2),
    ],
)
def test_a_breakpoint_at_an_end_is_none(start, stop, expected):
    network = Network([[[1.0]], [[1.0]]], [[0.0], [0.0]])
    assert _walked(network, start, stop) == ([expected], [expected])
    by_layers = curve_regions(network, segments([[start]], [[stop]]))
    assert (by_layers.patterns.tolist(), by_layers.linear.tolist()) == ([expected], [expected])


def test_a_segment_of_length_zero_has_one_region():
    network = Network([[[1.0]], [[1.0]]], [[0.0], [0.0]])
    assert [_walked(network, at, at) for at in (0.5, 0.0)] == 2 * [([1], [1])]


@pytest.mark.parametrize(
    ("kinks", "expected"),
    [
        ((0.5, 0.5 + 1e-9), 3),
        ((0.5, 0.5 + 1e-14), 2),
        ((1 - 1.5e-13, 1 - 0.9e-13), 2),  # the last is at the end, the one before it is not
    ],
)
def test_kinks_side_by_side(kinks, expected):
    network = Network([[[1.0, 1.0]], [[1.0], [1.0]]], [[-kink for kink in kinks], [0.0]])
    assert _walked(network, 0.0, 1.0) == ([expected], [expected])
    assert curve_regions(network, segments([[0.0]], [[1.0]])).patterns.tolist() == [expected]


@given(seeds, st.booleans())
def test_ends_on_the_boundary_of_a_unit(seed, backward):
    """A point where a unit is zero up to rounding: the unit does not switch there, whatever the sign that is left."""
    rng = np.random.default_rng(seed)
    network, (start, stop) = random_network([3, 5, 4, 2], rng, bias_scale=0.3), rng.normal(size=(2, 3))
    w = network.weights[0][:, 0]
    start = start - w * (start @ w + network.biases[0][0]) / (w @ w)
    ends = (stop[None], start[None]) if backward else (start[None], stop[None])
    expected = curve_regions(network, segments(*ends))
    found = walk_regions(network, *ends)
    assert [count.tolist() for count in found] == [expected.patterns.tolist(), expected.linear.tolist()]


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


def _walked(network, start, stop):
    """Patterns and linear regions on one segment of the line."""
    patterns, linear = walk_regions(network, [[start]], [[stop]])
    return patterns.tolist(), linear.tolist()
