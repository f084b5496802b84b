"""Correlations within and across families, their averages, and sign reversals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chapters.shared.correlation import rank_correlation
from chapters.shared.family_correlations import average_correlations, family_correlations, weighted_interval
from tests.strategies import seeds


def families(seed, sizes, slope=1.0, shift=0.0, noise=0.5):
    """x and y of families whose members follow ``slope`` and whose means follow ``shift``."""
    rng = np.random.default_rng(seed)
    names = np.repeat([f"f{i}" for i in range(len(sizes))], sizes)
    centre = np.repeat(np.arange(len(sizes)) * 10.0, sizes)
    inside = rng.normal(size=len(names))
    return centre + inside, shift * centre + slope * inside + noise * rng.normal(size=len(names)), list(names)


@given(seeds, st.lists(st.integers(3, 7), min_size=3, max_size=6))
@settings(max_examples=8, deadline=None)
def test_each_family_is_its_own_correlation_and_the_average_their_weighted_mean(seed, sizes):
    x, y, names = families(seed, sizes)
    found = family_correlations(x, y, names, np.random.default_rng(0), n_shuffles=99)
    own = [rank_correlation(x[np.array(names) == name], y[np.array(names) == name]) for name in found.families]
    assert list(found.families.values()) == own
    weights = np.array(sizes) - 1
    assert found.within.rho == pytest.approx(weights @ [one.rho for one in own] / weights.sum(), abs=1e-12)
    assert found.within.n == sum(sizes) and found.within.n_families == len(sizes)
    assert found.pooled.rho == pytest.approx(rank_correlation(x, y).rho, abs=1e-12)
    means = [[values[np.array(names) == name].mean() for name in found.families] for values in (x, y)]
    assert found.across == rank_correlation(*means)


@given(seeds)
@settings(max_examples=5, deadline=None)
def test_a_reversal_is_found(seed):
    x, y, names = families(seed, [6] * 6, slope=1.0, shift=-1.0, noise=0.3)
    found = family_correlations(x, y, names, np.random.default_rng(0), n_shuffles=99)
    assert found.within.sign == 1 and found.pooled.sign == -1 and found.across.rho == -1
    assert found.reversed
    same = family_correlations(x, -y, names, np.random.default_rng(0), n_shuffles=99)
    assert same.reversed and same.within.rho == pytest.approx(-found.within.rho, abs=1e-12)
    along = family_correlations(*families(seed, [6] * 6, shift=1.0, noise=0.3), np.random.default_rng(0), n_shuffles=99)
    assert not along.reversed


def test_shuffling_within_families_keeps_its_level_and_finds_what_is_there():
    """Two-sided 5 % of 100 tests of nothing: 5, ± 3 standard deviations."""
    rng = np.random.default_rng(0)
    p_values = []
    for seed in range(100):
        x, y, names = families(seed, [3, 4, 5, 8], slope=0.0, shift=1.0)
        p_values.append(family_correlations(x, y, names, rng, n_shuffles=199, interval="fisher").within.p_value)
    assert sum(p <= 0.05 for p in p_values) <= 12
    x, y, names = families(0, [3, 4, 5, 8], slope=3.0, shift=-1.0)
    assert family_correlations(x, y, names, rng).within.p_value == pytest.approx(1 / 2000, abs=2e-3)


@pytest.mark.slow
def test_the_interval_over_families_covers_their_mean():
    """Families that differ in slope: the mean of their correlations by many more, in 19 of 20 studies."""

    def study(seed, count):
        rng = np.random.default_rng(seed)
        slopes = rng.normal(0.7, 0.7, count)
        inside, noise = rng.normal(size=(2, count, 6))
        y = slopes[:, None] * inside + noise
        return [rank_correlation(a, b, interval="fisher") for a, b in zip(inside, y, strict=True)]

    truth = average_correlations(study(10_000, 2_000), 1.0).rho
    found = [average_correlations(study(seed, 8), 1.0) for seed in range(200)]
    assert 180 <= sum(one.low <= truth <= one.high for one in found) <= 199


def test_the_pooled_interval_leaves_out_one_family_at_a_time():
    """Tukey's jackknife of Fisher's z: pseudo-values, their mean error, Student's t."""
    x, y, names = families(3, [4, 5, 6, 7], shift=0.3, noise=4.0)
    found = family_correlations(x, y, names, np.random.default_rng(0), n_shuffles=19)
    labels = np.array(names)
    z = np.arctanh(stats.spearmanr(x, y).statistic)
    rest = np.array([np.arctanh(stats.spearmanr(x[labels != f], y[labels != f]).statistic) for f in found.families])
    pseudo = 4 * z - 3 * rest
    half = stats.t.ppf(0.975, 3) * pseudo.std(ddof=1) / 2
    assert (found.pooled.low, found.pooled.high) == pytest.approx(tuple(np.tanh([z - half, z + half])), abs=1e-9)
    assert found.pooled.interval == "families"


def test_at_given_quantities():
    x, y, names = families(1, [6, 7, 8], slope=0.0)
    size = x + 0.1 * y
    found = family_correlations(x, y, names, np.random.default_rng(0), given=size)
    for name, own in found.families.items():
        rows = np.array(names) == name
        assert own.rho == pytest.approx(rank_correlation(x[rows], y[rows], given=size[rows]).rho, abs=1e-12)
    assert found.across is None and found.within.n_families == 3  # three means are too few with one held fixed


def test_what_has_no_correlation_is_left_out_with_the_reason():
    x = [1, 2, 3, 4, 1, 1, 1, 5, 6]
    y = [2, 1, 4, 3, 1, 2, 3, 5, 6]
    names = ["a"] * 4 + ["flat"] * 3 + ["pair"] * 2
    found = family_correlations(x, y, names, np.random.default_rng(0))
    assert list(found.families) == ["a"] and found.across is None
    assert "2 member(s)" in found.left_out["pair"] and "3 equal values" in found.left_out["flat"]
    assert (found.within.low, found.within.high) == (found.families["a"].low, found.families["a"].high)
    assert found.within.p_value == found.families["a"].p_value
    frame = found.to_frame()
    assert list(frame.index) == ["a", "within families", "pooled"] and frame.loc["a", "n"] == 4
    with pytest.raises(ValueError, match="found no family with a correlation"):
        family_correlations([1, 2], [2, 1], ["a", "b"], np.random.default_rng(0))
    with pytest.raises(ValueError, match="found 1 names beside 2 x and 2 y"):
        family_correlations([1, 2], [2, 1], ["a"], np.random.default_rng(0))


def test_kendall_too():
    x, y, names = families(2, [4, 5, 6])
    found = family_correlations(x, y, names, np.random.default_rng(0), kind="kendall", n_shuffles=199)
    assert found.within.rho > 0.3 and found.within.p_value < 0.05


def test_equal_weights_give_students_interval():
    values = np.random.default_rng(0).normal(size=7)
    expected = stats.t.interval(0.9, 6, values.mean(), values.std(ddof=1) / np.sqrt(7))
    assert weighted_interval(values, np.full(7, 1 / 7), 0.9)[1:] == pytest.approx(expected, rel=1e-12)
    assert weighted_interval(values[:1], np.ones(1)) == (values[0], -np.inf, np.inf)
