"""Circles in random networks: the same circles for every scale, and what scale does to them."""

import numpy as np
import pytest

from capcore.complexity import ellipse, random_network
from chapters.trajectories import trajectory_growth as study


def test_scale_stretches_images_and_moves_no_transition():
    small, large = (study.circle_growth(scale, 8, 3, 4, 0) for scale in (1.0, 2.5))
    np.testing.assert_allclose(small.start, large.start)
    np.testing.assert_allclose(large.lengths, small.lengths * 2.5 ** np.arange(1, 4), rtol=1e-9)
    np.testing.assert_array_equal(large.transitions, small.transitions)


def test_circles_have_the_radius_that_is_said():
    found = study.circle_growth(1.0, 9, 2, 3, 1)
    np.testing.assert_allclose(found.start, 2 * np.pi * 3, rtol=1e-12)


def test_the_law_holds_with_biases_and_a_wrong_one_is_noticed():
    found = study.circle_growth(2.0, 8, 3, 300, 2, bias_scale=0.7)
    assert study.largest_error([found], [study.expected_gains(2.0, 8, 3)]) < 4
    assert study.largest_error([found], [study.expected_gains(2.2, 8, 3)]) > 4


def test_readings_of_the_bound():
    bounds = study.bounds(3.0, 32, 4)
    np.testing.assert_allclose(bounds["both roots"], (3 * np.sqrt(32 / 33)) ** np.arange(1, 5))
    np.testing.assert_allclose(bounds["root over m"], (3 * np.sqrt(32) / 33) ** np.arange(1, 5))
    assert study.expected_gains(3.0, 32, 4)[-1] == pytest.approx((3 / 2**0.5 * (1 - 5 / 256)) ** 4, rel=2e-3)


def test_saturating_units_switch_more_on_longer_images():
    found = study.circle_growth(3.0, 16, 4, 4, 3, activation="hard_tanh")
    assert found.transitions[:, -1].mean() > 2 * found.transitions[:, 0].mean()


def test_a_polyline_comes_close_to_the_exact_length_and_a_coarse_one_does_not():
    network = random_network([3, 8, 8, 2], np.random.default_rng(0), bias_scale=0.5)
    circle = ellipse(np.zeros(3), [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    assert (
        study.polyline_difference(network, circle, 20_000) < 1e-4 < 0.01 < study.polyline_difference(network, circle, 8)
    )
