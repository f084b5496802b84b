"""The stored experiment on digits: its curves, its controls, and that the present code still gives its numbers."""

import numpy as np
import pytest

from chapters.linear_regions import experiment
from chapters.shared.complexity import curve_regions

pytest.importorskip("jax")  # capcore.deep, which holds the digits, asks for the extra


def test_curves_join_images_of_different_classes():
    at = experiment.setting()
    assert len(at.lines) == 100 and len(at.circles) == 30
    where = {image.tobytes(): label for image, label in zip(at.x, at.y, strict=True)}
    starts = at.lines.coefficients[:, 0]
    assert all(start.tobytes() in where for start in starts)
    assert all(np.abs(at.x - end).sum(axis=1).min() < 1e-9 for end in at.lines.coefficients.sum(axis=1))


def test_shuffled_labels_are_the_same_labels_in_another_order():
    right, shuffled = (experiment.labels(kind, 0) for kind in experiment.LABELS)
    assert np.mean(right == shuffled) < 0.2
    np.testing.assert_array_equal(np.sort(right), np.sort(shuffled))
    assert np.any(experiment.labels("shuffled", 1) != shuffled)


def test_invisible_units_are_invisible_and_counted():
    network = experiment.start(0)
    padded = experiment.with_invisible_units(network, 96, 1e-4, np.random.default_rng(0))
    at = experiment.setting()
    t = np.linspace(0, 1, 21)
    inputs = np.concatenate([at.lines.points(np.full(21, i), t) for i in range(100)])
    assert np.abs(padded(inputs) - network(inputs)).max() <= 1.0001e-4 * np.ptp(network(inputs))
    assert padded.n_hidden == network.n_hidden + 97
    more, fewer = (curve_regions(net, at.lines).linear.mean() for net in (padded, network))
    assert more > 1.5 * fewer


def test_the_plane_holds_its_three_images():
    images = experiment.three_images()
    plane, places = experiment.plane_through(images)
    np.testing.assert_allclose(plane[0] + places @ plane[1:], images, atol=1e-12)
    np.testing.assert_allclose(plane[1:] @ plane[1:].T, np.eye(2), atol=1e-12)
    found = experiment.slice_of(experiment.start(0), plane, places)
    assert np.all(np.abs(places) < found.outline.max())
