"""Numbers that summarise a profile: where it lies, how rough it is, and how far it fills up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, wasserstein_distance

from chapters.shared import profiles

FUNCTIONS = (profiles.mean_lag, profiles.effective_number, lambda p: profiles.share(p, slice(0, 2)))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_scale_does_not_matter_and_stacks_are_summarised_at_once(function, rng):
    stacked = rng.random((3, 4, 10))
    assert function(7.5 * stacked) == pytest.approx(function(stacked))
    assert function(stacked)[2, 1] == pytest.approx(function(stacked[2, 1]))


def test_recent_and_distant_of_64_are_the_registered_lags():
    lags = np.arange(64)
    assert lags[profiles.recent(64)].tolist() == list(range(8))
    assert lags[profiles.distant(64)].tolist() == list(range(32, 64))
    assert lags[:3][profiles.recent(3)].tolist() == [0]


def test_extremes():
    uniform, spike = np.full(12, 0.3), np.eye(12)[4]
    assert profiles.effective_number([uniform, spike]) == pytest.approx([12, 1])
    assert profiles.mean_lag([uniform, spike]) == pytest.approx([5.5, 4])
    assert profiles.total_variation(spike, np.eye(12)[5]) == pytest.approx(1)
    assert profiles.total_variation(uniform, uniform) == 0


def test_effective_number_agrees_with_scipys_entropy(rng):
    profile = rng.random(20)
    assert profiles.effective_number(profile) == pytest.approx(np.exp(entropy(profile)))


def test_total_variation_is_a_metric_between_its_known_bounds(rng):
    p, q, r = (each / each.sum() for each in rng.random((3, 15)))
    distance = profiles.total_variation(p, q)
    assert distance == pytest.approx(profiles.total_variation(q, p))
    assert distance <= profiles.total_variation(p, r) + profiles.total_variation(r, q)
    js = jensenshannon(p, q, base=2) ** 2
    assert js <= distance <= np.sqrt(2 * np.log(2) * js) + 1e-12  # Lin (1991); Pinsker's inequality, twice
    assert wasserstein_distance(range(15), range(15), p, q) <= 14 * distance + 1e-12


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_profile_of_zeros_is_refused(function):
    with pytest.raises(ValueError, match="total of zero, expected something to distribute"):
        function([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])


PROFILES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


@given(PROFILES)
def test_roughness_is_at_least_one_and_one_for_monotone_profiles(values):
    assert profiles.roughness(values) >= 1 - 1e-9 or np.ptp(values) == 0
    if np.ptp(values) > 1e-6:
        assert profiles.roughness(sorted(values)) == pytest.approx(1.0)


@given(PROFILES)
def test_a_falling_profile_has_no_inversion_and_no_rising_octave(values):
    falling = sorted(values, reverse=True)
    assert profiles.largest_inversion(falling) == 0
    assert profiles.octave_increases(falling) == 0


def test_octaves_cover_every_lag_once():
    """Weighted by their lengths the octave means sum to the total."""
    values = np.random.default_rng(0).random(64)
    lengths = [1, 1, 2, 4, 8, 16, 32]
    assert profiles.octave_means(values) @ lengths == pytest.approx(values.sum())
    assert profiles.octave_means(np.arange(27.0))[-1] == pytest.approx(np.arange(16, 27).mean())
    assert profiles.octave_means([0.5]).tolist() == [0.5]


def test_half_ratio_ignores_the_middle_of_an_odd_number():
    assert profiles.half_ratio([3.0, 99.0, 1.5]) == 2.0
    with pytest.raises(ValueError, match="found 1 input, expected at least 2"):
        profiles.half_ratio([1.0])


def test_share_beyond_saturation_starts_after_the_first_unsaturated_lag():
    assert profiles.share_beyond_saturation([1.0, 0.995, 0.9, 0.6, 0.4]) == pytest.approx(1.0 / 3.895)
    assert profiles.share_beyond_saturation([1.0, 1.0]) == 0.0


def test_an_inversion_needs_an_unsaturated_recent_input():
    assert profiles.largest_inversion([0.991, 1.0]) == 0.0
    assert profiles.largest_inversion([0.5, 0.2, 0.9, 0.3]) == pytest.approx(0.7)
    assert profiles.largest_inversion([0.5]) == 0.0


def test_octave_increases_needs_the_margin():
    assert profiles.octave_increases([0.5, 0.505, 0.6, 0.6]) == 1


def test_a_flat_profile_has_nothing_to_compare():
    assert profiles.roughness_ratio([1.0, 0.0, 1.0], [1.0, 1.0, 1.0]) == 1.0
