"""Polygons of a slice: Zaslavsky's formula, areas, maps, and the breakpoints of lines drawn across them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.shared.complexity import Network, curve_regions, partition_slice, random_network, segments
from tests.strategies import seeds

SQUARE = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
PLANE = ([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])


@pytest.mark.parametrize("n", [1, 2, 5, 12, 20])
def test_one_layer_in_the_plane_has_the_regions_of_an_arrangement_of_lines(n):
    """Zaslavsky: 1 + n + n(n−1)/2 for n lines in general position, here in a square that holds all crossings."""
    network = random_network([2, n, 1], np.random.default_rng(n), bias_scale=0.1)
    found = partition_slice(network, *PLANE, 1e5 * np.array(SQUARE))
    assert found.n_patterns == found.region.max() + 1 == 1 + n + n * (n - 1) // 2


@settings(max_examples=20)
@given(seeds, st.sampled_from(["relu", "leaky_relu", "hard_tanh"]))
def test_areas_and_maps(seed, name):
    rng = np.random.default_rng(seed)
    network = random_network([3, 6, 5, 2], rng, bias_scale=0.3, activation=name)
    origin, first, second = rng.normal(size=(3, 3))
    found = partition_slice(network, origin, first, second, SQUARE)
    assert found.areas.sum() == pytest.approx(4, rel=1e-9) and np.all(found.areas > 0)
    for polygon, coefficients in zip(found.polygons, found.maps, strict=True):
        uv = rng.dirichlet(np.ones(len(polygon)), 3) @ polygon
        inputs = origin + uv @ np.array([first, second])
        np.testing.assert_allclose(coefficients[0] + uv @ coefficients[1:], network(inputs), atol=1e-9)
    assert len(np.unique(found.region)) == found.region.max() + 1 <= found.n_patterns


@settings(max_examples=20)
@given(seeds)
def test_slopes_are_the_jacobian_along_the_slice(seed):
    rng = np.random.default_rng(seed)
    network = random_network([3, 6, 4, 2], rng, bias_scale=0.3)
    origin, first, second = rng.normal(size=(3, 3))
    found = partition_slice(network, origin, first, second, SQUARE)
    centres = np.array([p.mean(axis=0) for p in found.polygons])
    jacobian = network.jacobian(origin + centres @ np.array([first, second]))
    expected = np.einsum("rod,ad->rao", jacobian, np.array([first, second]))
    np.testing.assert_allclose(found.slopes, expected, atol=1e-9)


@settings(max_examples=15)
@given(seeds)
def test_a_line_meets_as_many_polygons_as_it_has_pieces(seed):
    """Two routes: the sides that a chord crosses, and its breakpoints."""
    rng = np.random.default_rng(seed)
    network = random_network([2, 6, 5, 1], rng, bias_scale=0.3)
    found = partition_slice(network, *PLANE, SQUARE)
    a, b = rng.uniform(-1, 1, (2, 2))
    t = np.linspace(0, 1, 20_001)[:, None]
    points = a + t * (b - a)
    inside = np.array([all_left(p, points) for p in found.polygons])
    met = int(np.sum(inside.any(axis=1)))
    exact = int(curve_regions(network, segments(a, b)).patterns[0])
    assert exact - 1 <= met <= exact  # a piece shorter than the grid's step may be missed


def all_left(polygon, points):
    """Whether points lie in a counterclockwise polygon."""
    sides = np.roll(polygon, -1, axis=0) - polygon
    relative = points[:, None] - polygon
    return np.all(sides[:, 0] * relative[..., 1] - sides[:, 1] * relative[..., 0] > 0, axis=1)


def test_polygons_that_continue_their_neighbours_map_are_one_linear_region():
    """A unit above that is silent everywhere hides all cuts; one that is silent on a part hides those there."""
    first, biases = np.eye(2), [np.zeros(2)]
    hidden = partition_slice(Network([first, [[1.0], [1.0]], [[1.0]]], [*biases, [-3.0], [0.0]]), *PLANE, SQUARE)
    assert (hidden.n_patterns, hidden.region.max() + 1) == (4, 1)
    partly = partition_slice(Network([first, [[1.0], [1.0]], [[1.0]]], [*biases, [-0.5], [0.0]]), *PLANE, SQUARE)
    assert (partly.n_patterns, partly.region.max() + 1) == (7, 4)  # three corners are flat, one with the third


def test_equal_maps_that_do_not_touch_are_two_regions():
    network = Network([[[1.0, -1.0], [0.0, 0.0]], [[1.0], [1.0]]], [[-0.5, -0.5], [0.0]])
    found = partition_slice(network, *PLANE, SQUARE)
    assert found.region.max() + 1 == 3
    clipped = Network([[[1.0, 1.0, 1.0], [0.0] * 3], [[1.0], [-2.0], [1.0]]], [[0.5, 0.0, -0.5], [0.0]])
    ridge = partition_slice(clipped, *PLANE, SQUARE)  # 0, up, down, 0: the outer two have the same map
    assert ridge.region.max() + 1 == ridge.n_patterns == 4


def test_the_length_of_boundaries_in_the_plane():
    found = partition_slice(Network([np.eye(2), [[1.0], [1.0]]], [[0.0, 0.5], [0.0]]), *PLANE, SQUARE)
    assert found.boundary_length == pytest.approx(4)  # two lines across a square of side 2


@pytest.mark.parametrize(
    ("message", "change"),
    [
        (r"first, second: found parallel", {"first": [0.0, 2.0]}),
        (r"origin: found 3 coordinates, expected 2", {"origin": [0.0, 0.0, 0.0]}),
        (r"outline: found shape \(2, 2\)", {"outline": [[0.0, 0.0], [1.0, 1.0]]}),
        (r"outline: found a polygon that is not convex", {"outline": [[0, 0], [1, 1], [1, 0], [0, 1]]}),
        (r"outline: found a polygon that is not convex", {"outline": [[0, 0], [2, 0], [0.5, 0.5], [0, 2]]}),
    ],
)
def test_bad_slices_are_refused(message, change):
    network = random_network([2, 3, 1], np.random.default_rng(0))
    settings = {"origin": [0.0, 0.0], "first": [1.0, 0.0], "second": [0.0, 1.0], "outline": SQUARE}
    with pytest.raises(ValueError, match=message):
        partition_slice(network, **{**settings, **change})


def test_smooth_networks_are_refused():
    smooth = random_network([2, 3, 1], np.random.default_rng(0), activation="logistic")
    with pytest.raises(ValueError, match="found 'logistic', expected a piecewise linear one"):
        partition_slice(smooth, *PLANE, SQUARE)
