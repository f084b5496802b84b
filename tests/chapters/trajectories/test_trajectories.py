"""Lengths of curves through random networks: the exact law, bounds, and scales."""

import numpy as np
import pytest

from chapters.shared.complexity import layer_lengths, random_network, segments, trace_curves
from chapters.trajectories import study
from chapters.trajectories.study import expected_length_gain


def test_scale_stretches_images_and_moves_no_transition():
    small, large = (study.Growth(scale, 8, 3, 4, 0) for scale in (1.0, 2.5))
    np.testing.assert_allclose(small.start, large.start)
    np.testing.assert_allclose(large.lengths, small.lengths * 2.5 ** np.arange(1, 4), rtol=1e-9)
    np.testing.assert_array_equal(large.transitions, small.transitions)


def test_circles_have_the_radius_that_is_said():
    growth = study.Growth(1.0, 9, 2, 3, 1)
    np.testing.assert_allclose(growth.start, 2 * np.pi * 3, rtol=1e-12)


def test_the_law_holds_with_biases_and_a_wrong_one_is_noticed():
    growth = study.Growth(2.0, 8, 3, 300, 2, bias_scale=0.7)
    assert study.largest_error([growth], [study.expected_gains(2.0, 8, 3)]) < 4
    assert study.largest_error([growth], [study.expected_gains(2.2, 8, 3)]) > 4


def test_readings_of_the_bound():
    bounds = study.bounds(3.0, 32, 4)
    np.testing.assert_allclose(bounds["both roots"], (3 * np.sqrt(32 / 33)) ** np.arange(1, 5))
    np.testing.assert_allclose(bounds["root over m"], (3 * np.sqrt(32) / 33) ** np.arange(1, 5))
    assert study.expected_gains(3.0, 32, 4)[-1] == pytest.approx((3 / 2**0.5 * (1 - 5 / 256)) ** 4, rel=2e-3)


def test_saturating_units_switch_more_on_longer_images():
    growth = study.Growth(3.0, 16, 4, 4, 3, activation="hard_tanh")
    assert growth.transitions[:, -1].mean() > 2 * growth.transitions[:, 0].mean()


@pytest.mark.parametrize(("width", "scale"), [(1, 1.0), (4, 2**0.5), (16, 2.5)])
def test_the_expected_gain_of_length(width, scale):
    """Two layers: products of gains, in 1,000 networks."""
    rng = np.random.default_rng(width)
    curve, widths = segments(*rng.normal(size=(2, width))), [width, width, width, 1]
    networks = (random_network(widths, rng, scale, 0.3) for _ in range(1_000))
    lengths = np.array([layer_lengths(trace_curves(network, curve))[:3, 0] for network in networks])
    gains, gain = lengths[:, 1:] / lengths[:, [0]], expected_length_gain(width, scale)
    errors = gains.std(axis=0) / 1_000**0.5
    assert np.all(np.abs(gains.mean(axis=0) - [gain, gain**2]) < 4 * errors)
    assert np.all(errors < 0.1 * gains.mean(axis=0))


def test_the_gain_is_bounded_by_the_root_mean_square_and_tends_to_it():
    widths = np.array([1, 2, 4, 8, 16, 64, 256, 1024])
    gains = np.array([expected_length_gain(int(m), 1.0) for m in widths])
    assert np.all(np.diff(gains) > 0) and np.all(gains < 0.5**0.5)
    assert gains[0] == pytest.approx(0.5 * (2 / np.pi) ** 0.5)  # active half of the time, |normal| on average
    np.testing.assert_allclose(
        (1 - gains[-3:] * 2**0.5) * widths[-3:], 5 / 8, rtol=0.01
    )  # from the variance 5m/4 of the square, mean m/2
