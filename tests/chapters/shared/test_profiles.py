import numpy as np
import pytest
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
