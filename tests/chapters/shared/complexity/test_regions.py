"""Linear regions, their boundaries, lengths and polygons: exact counts against grids, formulas and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.path import Path

from chapters.shared.complexity import (
    Network,
    boundary_density,
    circle_through,
    crofton_factor,
    curve_regions,
    ellipse,
    layer_lengths,
    layer_transitions,
    partition_slice,
    random_network,
    segments,
    trace_curves,
)
from tests.strategies import seeds

NAMES = ("relu", "leaky_relu", "hard_tanh")


def switches_on_grid(network, curves, n=200_001):
    """The grid's parameters and the intervals in which any unit changes its piece: slow and obvious."""
    t = np.linspace(0, curves.period, n)
    hidden = network.pre_activations(curves.points(np.zeros(n, int), t))[:-1]
    pieces = np.concatenate([network.phi.piece(z) for z in hidden], axis=1)
    return t, np.flatnonzero(np.any(pieces[1:] != pieces[:-1], axis=1))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", ["segment", "ellipse"])
def test_every_breakpoint_lies_in_the_grid_interval_that_shows_it(name, shape):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        network = random_network([3, 7, 6, 5, 2], rng, 1.8, 0.4, name)
        vectors = 2 * rng.normal(size=(3, 3))
        curves = segments(*vectors[:2]) if shape == "segment" else ellipse(*vectors)
        t, flips = switches_on_grid(network, curves)
        regions = curve_regions(network, curves)
        assert len(regions.t) == len(flips) > 1
        assert np.all((t[flips] <= regions.t) & (regions.t <= t[flips + 1]))


@given(seeds, st.sampled_from(NAMES))
def test_the_formulas_are_the_network(seed, name):
    rng = np.random.default_rng(seed)
    network = random_network([2, 5, 4, 3], rng, bias_scale=0.5, activation=name)
    for curves in (segments(rng.normal(size=(3, 2)), rng.normal(size=(3, 2))), ellipse(*rng.normal(size=(3, 2)))):
        top = trace_curves(network, curves).stages[-1]
        t = top.start + rng.random(len(top.start)) * (top.end - top.start)
        expected = network(curves.points(top.curve, t))
        np.testing.assert_allclose(np.einsum("kb,kbo->ko", curves.basis(t), top.coefficients), expected, atol=1e-9)


@given(seeds)
def test_a_batch_is_its_segments_one_by_one(seed):
    rng = np.random.default_rng(seed)
    network, ends = random_network([3, 6, 6, 1], rng, bias_scale=0.3), rng.normal(size=(2, 4, 3))
    together = curve_regions(network, segments(*ends))
    alone = [curve_regions(network, segments(*pair)) for pair in zip(*ends, strict=True)]
    assert together.patterns.tolist() == [int(one.patterns[0]) for one in alone]
    assert together.linear.tolist() == [int(one.linear[0]) for one in alone]
    assert np.all(together.linear <= together.patterns)


def test_patterns_that_no_unit_above_sees_are_one_linear_region():
    """|x| − 2 stays negative on [−1, 1]: the units below switch, and the output never moves."""
    network = Network([[[1.0, -1.0]], [[1.0], [1.0]], [[1.0]]], [[0.0, 0.5], [-2.0], [0.0]])
    regions = curve_regions(network, segments([-1.0], [1.0]))
    assert (regions.patterns.tolist(), regions.linear.tolist(), regions.bends.tolist()) == ([3], [1], [False, False])
    assert curve_regions(network, segments([-4.0], [4.0])).linear.tolist() == [3]  # seen from 2 on


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize(("bend", "seen"), [(1e-3, True), (1e-6, True), (1e-9, True), (1e-13, False)])
def test_a_small_bend_is_one_and_rounding_is_none(size, bend, seen):
    """x + bend·relu(x): rounding of the two slopes is 1e-16 of them, and they are one map up to 1e-11."""
    network = Network([[[1.0, 1.0]], [[size], [size * bend]]], [[9.0, 0.0], [0.0]])
    regions = curve_regions(network, segments([-1.0], [1.0]))
    assert (regions.patterns.tolist(), regions.linear.tolist()) == ([2], [2 if seen else 1])


def test_around_a_circle_there_are_as_many_regions_as_breakpoints():
    network = Network([np.eye(2), [[1.0], [2.0]]], [[0.0, 0.0], [0.0]])
    circle = ellipse([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])
    regions = curve_regions(network, circle)
    np.testing.assert_allclose(regions.t, [np.pi / 2, np.pi, 3 * np.pi / 2], atol=1e-12)
    assert regions.patterns.tolist() == [3]  # and one breakpoint lies where the circle begins, where it is not seen
    shifted = curve_regions(network, ellipse([0.0, 0.0], [0.6, 0.8], [-0.8, 0.6]))
    assert shifted.patterns.tolist() == [4]
    far = curve_regions(network, ellipse([5.0, 5.0], [1.0, 0.0], [0.0, 1.0]))
    assert far.patterns.tolist() == [1]


@given(seeds)
def test_the_circle_goes_through_its_three_points(seed):
    points = np.random.default_rng(seed).normal(size=(3, 5))
    circle = circle_through(*points)
    centre, cosine, sine = circle.coefficients[0]
    assert cosine @ sine == pytest.approx(0, abs=1e-9 * (cosine @ cosine))
    assert cosine @ cosine == pytest.approx(sine @ sine)
    for point in points:
        t = np.arctan2((point - centre) @ sine, (point - centre) @ cosine)
        np.testing.assert_allclose(circle.points(np.zeros(1, int), np.array([t]))[0], point, atol=1e-7)


def test_dead_networks_and_networks_without_hidden_layers_have_one_region():
    affine = random_network([3, 2], np.random.default_rng(0))
    assert curve_regions(affine, segments(np.zeros(3), np.ones(3))).patterns.tolist() == [1]
    dead = Network([np.zeros((3, 4)), np.zeros((4, 1))], [np.zeros(4), np.zeros(1)])
    assert curve_regions(dead, segments(np.zeros(3), np.ones(3))).patterns.tolist() == [1]


def test_factors():
    rows = [crofton_factor(d) for d in (1, 2, 3)]
    np.testing.assert_allclose(rows, [1, np.pi / 2, 2], rtol=1e-13)
    directions = np.random.default_rng(0).normal(size=(200_000, 7))
    cosine = np.abs(directions[:, 0]) / np.linalg.norm(directions, axis=1)
    assert crofton_factor(7) == pytest.approx(1 / cosine.mean(), rel=4 * cosine.std() / cosine.mean() / 200_000**0.5)


@pytest.mark.parametrize("seed", range(3))
def test_lines_find_the_length_of_the_polygons_sides(seed):
    rng = np.random.default_rng(seed)
    network = random_network([2, 10, 8, 1], rng, bias_scale=0.5)
    turn = np.linspace(0, 2 * np.pi, 400, endpoint=False)  # the ring outside the 400-gon is 4e-5 of the disc
    disc = 1.5 * np.column_stack([np.cos(turn), np.sin(turn)])
    partition = partition_slice(network, [0.2, 0.1], [1.0, 0.0], [0.0, 1.0], disc)
    counted = boundary_density(network, [0.2, 0.1], 1.5, 4_000, rng)
    assert counted.value == pytest.approx(
        partition.boundary_length / partition.areas.sum(), abs=4 * counted.standard_error
    )


@pytest.mark.parametrize("dim", [1, 2, 3, 9])
def test_a_plane_through_a_ball(dim):
    """The disc's volume over the ball's, whatever the dimension: Γ(d/2 + 1)/(√π Γ((d+1)/2))."""
    from scipy.special import gamma

    weights = np.zeros((dim, 1))
    weights[0] = 3.0
    density = boundary_density(
        Network([weights, [[1.0]]], [[0.0], [0.0]]), np.zeros(dim), 2.0, 4_000, np.random.default_rng(0)
    )
    exact = gamma(dim / 2 + 1) / (np.pi**0.5 * gamma((dim + 1) / 2)) / 2
    assert density.value == pytest.approx(exact, abs=4 * density.standard_error + 1e-12)  # in one dimension no scatter


@pytest.mark.parametrize("shape", ["segment", "ellipse"])
def test_lengths_and_transitions_against_a_fine_grid(shape):
    rng = np.random.default_rng(3)
    network = random_network([3, 6, 5, 2], rng, 1.7, 0.4)
    vectors = rng.normal(size=(3, 3))
    curves = segments(*vectors[:2]) if shape == "segment" else ellipse(*vectors)
    course = trace_curves(network, curves)
    t = np.linspace(0, curves.period, 100_001)
    levels = network.pre_activations(curves.points(np.zeros(len(t), int), t))
    images = [curves.points(np.zeros(len(t), int), t), *(np.maximum(z, 0) for z in levels[:-1]), levels[-1]]
    chords = [np.linalg.norm(np.diff(x, axis=0), axis=1).sum() for x in images]
    np.testing.assert_allclose(layer_lengths(course)[:, 0], chords, rtol=1e-5)  # the grid cuts corners
    flips = [np.sum((z[1:] > 0) != (z[:-1] > 0)) for z in levels[:-1]]
    assert layer_transitions(course)[:, 0].tolist() == flips


SQUARE = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
PLANE = ([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])


@pytest.mark.parametrize("n", [1, 2, 5, 12, 20])
def test_one_layer_in_the_plane_has_the_regions_of_an_arrangement_of_lines(n):
    """Zaslavsky: 1 + n + n(n−1)/2 for n lines in general position, here in a square that holds all crossings."""
    network = random_network([2, n, 1], np.random.default_rng(n), bias_scale=0.1)
    partition = partition_slice(network, *PLANE, 1e5 * np.array(SQUARE))
    assert partition.n_patterns == 1 + n + n * (n - 1) // 2


@settings(max_examples=20)
@given(seeds, st.sampled_from(NAMES))
def test_areas_and_maps(seed, name):
    rng = np.random.default_rng(seed)
    network = random_network([3, 6, 5, 2], rng, bias_scale=0.3, activation=name)
    origin, first, second = rng.normal(size=(3, 3))
    partition = partition_slice(network, origin, first, second, SQUARE)
    assert partition.areas.sum() == pytest.approx(4, rel=1e-9) and np.all(partition.areas > 0)
    for polygon, coefficients in zip(partition.polygons, partition.maps, strict=True):
        uv = rng.dirichlet(np.ones(len(polygon)), 3) @ polygon
        inputs = origin + uv @ np.array([first, second])
        np.testing.assert_allclose(coefficients[0] + uv @ coefficients[1:], network(inputs), atol=1e-9)


@settings(max_examples=15)
@given(seeds)
def test_a_line_meets_as_many_polygons_as_it_has_pieces(seed):
    """Two routes: the sides that a chord crosses, and its breakpoints."""
    rng = np.random.default_rng(seed)
    network = random_network([2, 6, 5, 1], rng, bias_scale=0.3)
    partition = partition_slice(network, *PLANE, SQUARE)
    a, b = rng.uniform(-1, 1, (2, 2))
    points = a + np.linspace(0, 1, 20_001)[:, None] * (b - a)
    met = sum(Path(polygon).contains_points(points).any() for polygon in partition.polygons)
    exact = int(curve_regions(network, segments(a, b)).patterns[0])
    assert exact - 1 <= met <= exact  # a piece shorter than the grid's step may be missed


def test_the_length_of_boundaries_in_the_plane():
    partition = partition_slice(Network([np.eye(2), [[1.0], [1.0]]], [[0.0, 0.5], [0.0]]), *PLANE, SQUARE)
    assert partition.boundary_length == pytest.approx(4)  # two lines across a square of side 2
