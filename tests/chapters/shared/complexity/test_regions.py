"""Regions along curves against fine grids, laws of breakpoints, and curves that are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.shared.complexity import (
    Network,
    circle_through,
    curve_regions,
    ellipse,
    polyline,
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
        network = random_network([3, 7, 6, 5, 2], rng, 1.8, 0.4, name, 0.2)
        vectors = 2 * rng.normal(size=(3, 3))
        curves = segments(*vectors[:2]) if shape == "segment" else ellipse(*vectors)
        t, flips = switches_on_grid(network, curves)
        found = curve_regions(network, curves)
        assert len(found.t) == len(flips) > 1
        assert np.all((t[flips] <= found.t) & (found.t <= t[flips + 1]))


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


@settings(max_examples=15)
@given(seeds)
def test_a_polyline_along_a_segment_counts_what_the_segment_does(seed):
    rng = np.random.default_rng(seed)
    network, (a, b) = random_network([2, 6, 5, 1], rng, bias_scale=0.3), rng.normal(size=(2, 2))
    whole = curve_regions(network, segments(a, b))
    pieces = curve_regions(network, polyline([a + s * (b - a) for s in (0, 0.3, 0.35, 1)]))
    assert (pieces.patterns, pieces.linear) == (whole.patterns, whole.linear)


def test_a_corner_on_a_boundary_is_a_breakpoint():
    network = Network([[[1.0], [0.0]], [[1.0]]], [[0.0], [0.0]])
    found = curve_regions(network, polyline([[-1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]))
    assert (found.patterns.tolist(), found.linear.tolist(), found.layer.tolist()) == ([2], [2], [0])
    touching = curve_regions(network, polyline([[-1.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]))
    assert touching.patterns.tolist() == [1]  # touched and not crossed


def test_patterns_that_no_unit_above_sees_are_one_linear_region():
    """|x| − 2 stays negative on [−1, 1]: the units below switch, and the output never moves."""
    network = Network([[[1.0, -1.0]], [[1.0], [1.0]], [[1.0]]], [[0.0, 0.5], [-2.0], [0.0]])
    found = curve_regions(network, segments([-1.0], [1.0]))
    assert (found.patterns.tolist(), found.linear.tolist(), found.bends.tolist()) == ([3], [1], [False, False])
    assert curve_regions(network, segments([-4.0], [4.0])).linear.tolist() == [3]  # seen from 2 on


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize(("bend", "seen"), [(1e-3, True), (1e-6, True), (1e-9, True), (1e-13, False)])
def test_a_small_bend_is_one_and_rounding_is_none(size, bend, seen):
    """x + bend·relu(x): rounding of the two slopes is 1e-16 of them, and they are one map up to 1e-11."""
    network = Network([[[1.0, 1.0]], [[size], [size * bend]]], [[9.0, 0.0], [0.0]])
    found = curve_regions(network, segments([-1.0], [1.0]))
    assert (found.patterns.tolist(), found.linear.tolist()) == ([2], [2 if seen else 1])


def test_around_a_circle_there_are_as_many_regions_as_breakpoints():
    network = Network([np.eye(2), [[1.0], [2.0]]], [[0.0, 0.0], [0.0]])
    circle = ellipse([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])
    found = curve_regions(network, circle)
    np.testing.assert_allclose(found.t, [np.pi / 2, np.pi, 3 * np.pi / 2], atol=1e-12)
    assert found.patterns.tolist() == [3]  # and one breakpoint lies where the circle begins, where it is not seen
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
    linear = random_network([3, 5, 2], np.random.default_rng(0), activation="identity")
    assert curve_regions(linear, segments(np.zeros(3), np.ones(3))).patterns.tolist() == [1]


@pytest.mark.parametrize(
    ("message", "make"),
    [
        (r"segments: found zero length \(segment 1 ends", lambda: segments([[0.0], [1.0]], [[1.0], [1.0]])),
        (r"ends: found shape \(1, 2\), expected \(1, 1\)", lambda: segments([0.0], [0.0, 1.0])),
        (r"segments: found zero length", lambda: polyline([[0.0], [0.0]])),
        (r"points: found 1, expected at least 2", lambda: polyline([[0.0]])),
        (r"ellipse: found axes that are parallel", lambda: ellipse([0.0, 0.0], [1.0, 1.0], [2.0, 2.0])),
        (r"ellipse: found vectors of lengths \[1, 2, 2\]", lambda: ellipse([0.0], [1.0, 1.0], [2.0, 2.0])),
        (r"circle: found three points on a line", lambda: circle_through([0.0, 0.0], [1.0, 1.0], [2.0, 2.0])),
        (r"circle: found points of 1, 2 and 2", lambda: circle_through([0.0], [1.0, 1.0], [2.0, 2.0])),
        (r"starts: found 1 value\(s\) that are NaN", lambda: segments([np.nan], [0.0])),
    ],
)
def test_bad_curves_are_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()


def test_smooth_networks_and_other_spaces_are_refused():
    smooth = random_network([2, 3, 1], np.random.default_rng(0), activation="tanh")
    with pytest.raises(ValueError, match="found 'tanh', expected a piecewise linear one"):
        curve_regions(smooth, segments([0.0, 0.0], [1.0, 1.0]))
    with pytest.raises(ValueError, match=r"inputs: found shape \(1, 3\), expected \(n, 2\)"):
        curve_regions(random_network([2, 3, 1], np.random.default_rng(0)), segments([0.0] * 3, [1.0] * 3))
