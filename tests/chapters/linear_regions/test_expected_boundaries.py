"""Boundaries and breakpoints that random biases and weights lead to one expect, against counts."""

import numpy as np
import pytest

from capcore.complexity import (
    boundary_density,
    ellipse,
    layer_transitions,
    polyline,
    random_network,
    segments,
    trace_curves,
)
from chapters.linear_regions.expected_boundaries import expected_boundary_density, spherical_lengths


@pytest.mark.parametrize(("name", "dim"), [("relu", 2), ("relu", 5), ("hard_tanh", 3)])
def test_the_expectation_over_biases_is_what_is_counted(name, dim):
    counted, expected = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        network = random_network([dim, 8, 8, 1], rng, bias_scale=0.7, activation=name)
        counted.append(boundary_density(network, np.zeros(dim), 1.0, 100, rng).value)
        inputs = rng.normal(size=(100, dim))
        inputs *= rng.random((100, 1)) ** (1 / dim) / np.linalg.norm(inputs, axis=1, keepdims=True)  # in the ball
        expected.append(expected_boundary_density(network, inputs, 0.7).sum(axis=1).mean())
    gap = np.array(counted) - expected
    assert abs(gap.mean()) < 4 * gap.std() / 150**0.5
    assert gap.std() / 150**0.5 < 0.04 * np.mean(counted)  # so that 15 % would be found


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


def test_bad_input_is_refused():
    network = random_network([2, 3, 1], np.random.default_rng(0))
    with pytest.raises(ValueError, match="bias_scale: found 0, expected more than 0"):
        expected_boundary_density(network, [[0.0, 0.0]], 0.0)
    smooth = random_network([2, 3, 1], np.random.default_rng(0), activation="tanh")
    with pytest.raises(ValueError, match="found 'tanh'"):
        expected_boundary_density(smooth, [[0.0, 0.0]], 1.0)
