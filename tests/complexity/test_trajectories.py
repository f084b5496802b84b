"""Lengths and breakpoints layer by layer, and the exact laws of their means over random weights."""

import numpy as np
import pytest

from capcore.complexity import (
    ellipse,
    expected_length_gain,
    layer_lengths,
    layer_transitions,
    polyline,
    random_network,
    segments,
    spherical_lengths,
    trace_curves,
)


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


@pytest.mark.parametrize(("width", "scale"), [(1, 1.0), (4, 2**0.5), (16, 2.5)])
def test_the_expected_gain_of_length(width, scale):
    """First layer from 3 inputs, second from ``width``: products of gains, in 1,000 networks."""
    rng = np.random.default_rng(width)
    a, b = rng.normal(size=(2, 3))
    found = np.array([
        layer_lengths(trace_curves(random_network([3, width, width, 1], rng, scale, 0.3), segments(a, b)))[:3, 0]
        for _ in range(1_000)
    ])  # fmt: skip
    gains = found[:, 1:] / found[:, [0]]
    first, next_ = expected_length_gain(width, scale, 3), expected_length_gain(width, scale)
    errors = gains.std(axis=0) / 1_000**0.5
    assert np.all(np.abs(gains.mean(axis=0) - [first, first * next_]) < 4 * errors)
    assert np.all(errors < 0.08 * gains.mean(axis=0))
    assert first == pytest.approx(next_ * (width / 3) ** 0.5)


def test_the_gain_is_bounded_by_the_root_mean_square_and_tends_to_it():
    widths = np.array([1, 2, 4, 8, 16, 64, 256, 1024])
    gains = np.array([expected_length_gain(int(m), 1.0) for m in widths])
    assert np.all(np.diff(gains) > 0) and np.all(gains < 0.5**0.5)
    assert gains[0] == pytest.approx(0.5 * (2 / np.pi) ** 0.5)  # active half of the time, |normal| on average
    np.testing.assert_allclose(
        (1 - gains[-3:] * 2**0.5) * widths[-3:], 5 / 8, rtol=0.01
    )  # from the variance 5m/4 of the square, mean m/2


@pytest.mark.parametrize("bias_scale", [0.0, 0.8])
def test_breakpoints_are_the_angle_that_layers_turn_through(bias_scale):
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 4))
    gaps = []
    for _ in range(600):
        course = trace_curves(random_network([4, 8, 8, 1], rng, 2**0.5, bias_scale), segments(a, b))
        angles = spherical_lengths(course, 2**0.5, bias_scale)[:, 0]
        gaps.append(layer_transitions(course)[:, 0] - 8 * angles / np.pi)
    gaps = np.array(gaps)
    assert np.all(np.abs(gaps.mean(axis=0)) < 4 * gaps.std(axis=0) / 600**0.5)
    augmented = [np.r_[2**0.5 / 2 * x, bias_scale] for x in (a, b)]
    cosine = augmented[0] @ augmented[1] / np.linalg.norm(augmented[0]) / np.linalg.norm(augmented[1])
    assert angles[0] == pytest.approx(np.arccos(cosine))  # the first layer sees one straight line


def test_angles_of_a_polyline_add_up_and_ellipses_are_refused():
    rng = np.random.default_rng(0)
    network, (a, b) = random_network([3, 6, 6, 1], rng, bias_scale=0.2), rng.normal(size=(2, 3))
    whole = spherical_lengths(trace_curves(network, segments(a, b)), 2**0.5, 0.2)[:, 0]
    parts = spherical_lengths(trace_curves(network, polyline([a, 0.4 * a + 0.6 * b, b])), 2**0.5, 0.2)
    np.testing.assert_allclose(parts.sum(axis=1), whole, atol=1e-12)
    with pytest.raises(ValueError, match="curves: found an ellipse"):
        spherical_lengths(trace_curves(network, ellipse(a, b, a - b)), 2**0.5, 0.2)


def test_bad_widths_are_refused():
    with pytest.raises(ValueError, match="width: found 0"):
        expected_length_gain(0)
    with pytest.raises(ValueError, match="weight_scale: found -1"):
        expected_length_gain(3, -1.0)
