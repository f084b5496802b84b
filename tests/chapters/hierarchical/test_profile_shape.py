import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.hierarchical import profile_shape as shape

PROFILES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


@given(PROFILES)
def test_roughness_is_at_least_one_and_one_for_monotone_profiles(values):
    assert shape.roughness(values) >= 1 - 1e-9 or np.ptp(values) == 0
    if np.ptp(values) > 1e-6:
        assert shape.roughness(sorted(values)) == pytest.approx(1.0)


@given(PROFILES)
def test_a_falling_profile_has_no_inversion_and_no_rising_octave(values):
    falling = sorted(values, reverse=True)
    assert shape.largest_inversion(falling) == 0
    assert shape.octave_increases(falling) == 0


def test_octaves_cover_every_lag_once():
    """Weighted by their lengths the octave means sum to the total."""
    values = np.random.default_rng(0).random(64)
    lengths = [1, 1, 2, 4, 8, 16, 32]
    assert shape.octave_means(values) @ lengths == pytest.approx(values.sum())
    assert shape.octave_means(np.arange(27.0))[-1] == pytest.approx(np.arange(16, 27).mean())
    assert shape.octave_means([0.5]).tolist() == [0.5]


def test_half_ratio_ignores_the_middle_of_an_odd_number():
    assert shape.half_ratio([3.0, 99.0, 1.5]) == 2.0
    with pytest.raises(ValueError, match="found 1 input, expected at least 2"):
        shape.half_ratio([1.0])


def test_share_beyond_saturation_starts_after_the_first_unsaturated_lag():
    assert shape.share_beyond_saturation([1.0, 0.995, 0.9, 0.6, 0.4]) == pytest.approx(1.0 / 3.895)
    assert shape.share_beyond_saturation([1.0, 1.0]) == 0.0


def test_an_inversion_needs_an_unsaturated_recent_input():
    assert shape.largest_inversion([0.991, 1.0]) == 0.0
    assert shape.largest_inversion([0.5, 0.2, 0.9, 0.3]) == pytest.approx(0.7)
    assert shape.largest_inversion([0.5]) == 0.0


def test_octave_increases_needs_the_margin():
    assert shape.octave_increases([0.5, 0.505, 0.6, 0.6]) == 1


def test_a_flat_profile_has_nothing_to_compare():
    assert shape.roughness_ratio([1.0, 0.0, 1.0], [1.0, 1.0, 1.0]) == 1.0
