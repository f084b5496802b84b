"""Intervals of medians: they hold the truth, follow a shift, and refuse a single value."""

import numpy as np
import pytest

from chapters.spectra_accuracy.medians import median_interval


def test_it_holds_the_median_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    ends = np.array([median_interval(rng.normal(3.0, 1.0, 18), n_resamples=500) for _ in range(200)])
    assert 0.88 <= np.mean((ends[:, 0] <= 3.0) & (ends[:, 1] >= 3.0)) <= 0.99


def test_a_difference_against_resampling_by_hand():
    rng = np.random.default_rng(1)
    one, other = rng.normal(1.0, 1.0, 18), rng.normal(0.0, 1.0, 15)
    draws = [np.median(rng.choice(one, 18)) - np.median(rng.choice(other, 15)) for _ in range(4_000)]
    assert median_interval(one, other) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.05)


def test_a_shift_of_one_group_shifts_the_interval():
    one, other = np.arange(9.0), np.arange(7.0) ** 2
    assert median_interval(one + 5, other) == pytest.approx(np.array(median_interval(one, other)) + 5)


@pytest.mark.parametrize("groups", [([1.0],), ([1.0, 2.0], [3.0])])
def test_it_refuses_a_group_of_one(groups):
    with pytest.raises(ValueError, match="number of values: found 1, expected a whole number of at least 2"):
        median_interval(*map(np.array, groups))
