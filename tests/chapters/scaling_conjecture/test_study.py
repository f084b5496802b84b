"""Reading the experiment on the residual scale, and what the chapter computes of untrained networks."""

import numpy as np
import pytest

from chapters.scaling_conjecture import study
from chapters.scaling_conjecture.signals import EXPONENTS, LAG, gradient_correlation, signals, untrained


@pytest.fixture(scope="module")
def free():
    return untrained(128, 8, 4, 0)


def test_every_number_is_that_of_the_functions_behind_it(free):
    assert free.depths == (8, 16, 32, 64, 128)
    again = signals("tanh", 32, EXPONENTS, width=8, n_draws=4, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(free.sizes["tanh"]["distance"][:, 2], again.distance.mean(axis=1))
    runs = gradient_correlation("tanh", 32, EXPONENTS, width=8, n_draws=2, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(free.at_lag("tanh")[:, 2], runs[:, :, LAG].mean(axis=1))
    assert free.angles[LAG] == pytest.approx(0.5, abs=0.01)
    assert free.times[2, -1] == pytest.approx(128 / 129)
    assert free.law[2, -1] == pytest.approx((1 + 1 / 128) ** 128)


def test_shared_weights_are_followed_at_both_scales(free):
    again = signals("two-layer", 128, [1.0], width=8, n_draws=4, shared=True, rng=np.random.default_rng(0))
    assert free.shared[1.0]["backward"][0, -1] == again.backward.mean()
    assert set(free.shared) == {0.5, 1.0}


def test_growth_compares_two_depths(free):
    assert free.growth(np.array([1.0, 2.0, 3.0, 4.0, 6.0])) == 3.0
    assert free.growth(np.array([1.0, 2.0, 3.0, 4.0, 6.0]), 4) == 2.0


def test_curves_take_medians_and_keep_what_diverged():
    found = study.curve({"0.0": {"best": [None, None, 1.0]}, "0.5": {"best": [0.1, 0.2, 0.4]}})
    assert found.median.tolist() == [np.inf, 0.2]
    assert np.isnan(found.low[0]) and found.low[1] < 0.2 < found.high[1]
    assert found.learns(0.2) == [0.5] and found.learns(0.1) == []


def test_intervals_cover_the_mean_of_the_logarithm():
    draws = np.exp(np.random.default_rng(0).standard_normal((2000, 3)))
    inside = [low < 1 < high for low, high in map(study.interval, draws)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)  # four standard errors


def test_bands_are_those_of_every_point():
    runs = np.random.default_rng(1).standard_normal((6, 4))
    mean, low, high = study.band(runs)
    alone = np.log(study.interval(np.exp(runs[:, 2])))
    assert mean[2] == pytest.approx(runs[:, 2].mean()) and (low[2], high[2]) == pytest.approx(alone)


def test_ratios_have_a_floor():
    assert study.floored_ratio(0.01, 0.05, 0.1) == 1
    assert study.floored_ratio(0.2, 0.01, 0.1) == 2
    assert study.floored_ratio(np.inf, 1.0, 0.1) == np.inf


def test_windows_are_listed_in_words():
    arms = {"0.25": {"best": [1.0, 1.0]}, "0.5": {"best": [0.1, 0.1]}, "1.0": {"best": [0.2, 0.2]}}
    table = study.windows({"digits": {"relu": {"8": arms, "64": {"0.0": {"best": [3.0, 3.0]}}}}}, {"digits": 0.5})
    assert table.loc[("digits", "relu")].tolist() == ["½, 1", "none"]


@pytest.mark.parametrize(
    ("message", "deepest"),
    [("deepest: found 100, expected a whole number of at least 128", 100), ("found 160, expected a power of two", 160)],
)
def test_depths_that_cannot_be_compared_are_refused(message, deepest):
    with pytest.raises(ValueError, match=message):
        untrained(deepest, 4, 4, 0)
