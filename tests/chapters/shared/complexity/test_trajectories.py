"""Lengths and breakpoints layer by layer."""

import numpy as np
import pytest

from chapters.shared.complexity import (
    ellipse,
    layer_lengths,
    layer_transitions,
    random_network,
    segments,
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
