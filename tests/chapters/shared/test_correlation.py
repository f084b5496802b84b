"""Rank correlations, plain, partial and within families: against scipy, all permutations and simulated coverage."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chapters.shared.correlation import copula_interval, fisher_interval, population_correlation, rank_correlation
from chapters.shared.family_correlations import family_correlations, weighted_interval
from chapters.shared.intervals import geometric_interval, student_interval
from chapters.shared.rank_statistics import (
    critical_correlation,
    permutation_p_value,
    points_needed,
    rank_statistics,
    spearman,
)
from tests.strategies import seeds


def sample(seed, n, ties=False):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    if ties:
        x, y = np.round(x * 2) / 2, np.round(y)
        x[0], x[1], y[0], y[1] = 9, -9, 9, -9  # never constant
    return x, x / 2 + y if not ties else y


@given(seeds, st.integers(3, 30), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_statistic_is_scipys(seed, n, ties):
    x, y = sample(seed, n, ties)
    correlation = rank_correlation(x, y)
    assert correlation.rho == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert -1 <= correlation.low <= correlation.rho <= correlation.high <= 1 or abs(correlation.rho) > 1 - 1e-12


@given(seeds, st.integers(3, 25))
@settings(max_examples=12, deadline=None)
def test_monotone_maps_change_nothing_and_a_falling_one_turns_it_round(seed, n):
    x, y = sample(seed, n)
    correlation = rank_correlation(x, y)
    assert rank_correlation(np.exp(x), y**3) == correlation
    assert rank_correlation(y, x).rho == pytest.approx(correlation.rho, abs=1e-12)
    turned = rank_correlation(x, -y)
    assert turned.rho == pytest.approx(-correlation.rho, abs=1e-12)
    assert turned.p_value == pytest.approx(correlation.p_value, abs=1e-12)
    assert (turned.low, turned.high) == pytest.approx((-correlation.high, -correlation.low), abs=1e-9)


@given(seeds, st.integers(3, 6), st.booleans())
@settings(max_examples=25, deadline=None)
def test_p_values_count_all_permutations(seed, n, ties):
    x, y = sample(seed, n, ties)
    rho = stats.spearmanr(x, y).statistic
    all_rho = np.array([stats.spearmanr(x, y[list(order)]).statistic for order in permutations(range(n))])
    expected = np.mean(abs(all_rho) >= abs(rho) - 1e-9)
    assert permutation_p_value(x, y) == pytest.approx(expected, abs=1e-12)


@given(seeds, st.integers(6, 30))
@settings(max_examples=25, deadline=None)
def test_partial_correlation_by_regression_and_by_formula(seed, n):
    x, y = sample(seed, n)
    fixed = np.random.default_rng(seed + 1).normal(size=n)
    correlation = rank_correlation(x, y, given=fixed[None])
    assert correlation.rho == pytest.approx(spearman(x, y, fixed), abs=1e-9)
    assert (correlation.n, correlation.n_given) == (n, 1)
    r = correlation.rho * np.sqrt((n - 3) / (1 - correlation.rho**2))
    assert correlation.p_value == pytest.approx(2 * stats.t.sf(abs(r), n - 3), rel=1e-9)


def test_the_copula_interval_covers_by_construction():
    """Samples of a known population: 95 % by design, discreteness makes it more; 2,000 samples have ± 1 %."""
    rng = np.random.default_rng(1)
    for n, r in ((4, 0.0), (4, 0.9), (8, 0.6)):
        first, second = rng.normal(size=(2, 2_000, n))
        result = rank_statistics(first, r * first + np.sqrt(1 - r * r) * second)
        truth = float(population_correlation(np.array(r)))
        ends = {rho: copula_interval(rho, n) for rho in np.unique(result.round(9))}
        covered = np.mean([ends[rho][0] <= truth <= ends[rho][1] for rho in result.round(9)])
        assert 0.94 <= covered <= 1.0


def test_the_copula_interval_meets_fishers_for_many_points():
    for rho in (0.0, 0.3, 0.7):
        assert copula_interval(rho, 20) == pytest.approx(fisher_interval(rho, 20), abs=0.06)


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
    correlations = family_correlations(x, y, names, np.random.default_rng(0), n_shuffles=99)
    own = [rank_correlation(x[np.array(names) == name], y[np.array(names) == name]) for name in correlations.families]
    assert list(correlations.families.values()) == own
    weights = np.array(sizes) - 1
    assert correlations.within.rho == pytest.approx(weights @ [one.rho for one in own] / weights.sum(), abs=1e-12)
    assert correlations.within.n == sum(sizes) and correlations.within.n_families == len(sizes)
    assert correlations.pooled.rho == pytest.approx(rank_correlation(x, y).rho, abs=1e-12)
    means = [[values[np.array(names) == name].mean() for name in correlations.families] for values in (x, y)]
    assert correlations.across == rank_correlation(*means)


def test_shuffling_within_families_keeps_its_level_and_finds_what_is_there():
    """Two-sided 5 % of 100 tests of nothing: 5, ± 3 standard deviations."""
    rng = np.random.default_rng(0)
    p_values = []
    for seed in range(100):
        x, y, names = families(seed, [3, 4, 5, 8], slope=0.0, shift=1.0)
        p_values.append(family_correlations(x, y, names, rng, n_shuffles=199).within.p_value)
    assert sum(p <= 0.05 for p in p_values) <= 12
    x, y, names = families(0, [3, 4, 5, 8], slope=3.0, shift=-1.0)
    assert family_correlations(x, y, names, rng).within.p_value == pytest.approx(1 / 2000, abs=2e-3)


def test_the_pooled_interval_leaves_out_one_family_at_a_time():
    """Tukey's jackknife of Fisher's z: pseudo-values, their mean error, Student's t."""
    x, y, names = families(3, [4, 5, 6, 7], shift=0.3, noise=4.0)
    correlations = family_correlations(x, y, names, np.random.default_rng(0), n_shuffles=19)
    labels = np.array(names)
    z = np.arctanh(stats.spearmanr(x, y).statistic)
    rest = np.array(
        [np.arctanh(stats.spearmanr(x[labels != f], y[labels != f]).statistic) for f in correlations.families]
    )
    pseudo = 4 * z - 3 * rest
    half = stats.t.ppf(0.975, 3) * pseudo.std(ddof=1) / 2
    assert (correlations.pooled.low, correlations.pooled.high) == pytest.approx(
        tuple(np.tanh([z - half, z + half])), abs=1e-9
    )


def test_at_given_quantities():
    x, y, names = families(1, [6, 7, 8], slope=0.0)
    size = x + 0.1 * y
    correlations = family_correlations(x, y, names, np.random.default_rng(0), given=[size])
    for name, own in correlations.families.items():
        rows = np.array(names) == name
        assert own.rho == pytest.approx(rank_correlation(x[rows], y[rows], given=[size[rows]]).rho, abs=1e-12)
    assert (
        correlations.across is None and correlations.within.n_families == 3
    )  # three means are too few with one held fixed


def test_what_has_no_correlation_is_left_out_with_the_reason():
    x = [1, 2, 3, 4, 1, 1, 1, 5, 6]
    y = [2, 1, 4, 3, 1, 2, 3, 5, 6]
    names = ["a"] * 4 + ["flat"] * 3 + ["pair"] * 2
    correlations = family_correlations(x, y, names, np.random.default_rng(0))
    assert list(correlations.families) == ["a"] and correlations.across is None
    with pytest.raises(ValueError, match=r"3 equal values.*found 2 members, expected at least 3"):
        family_correlations(x[4:], y[4:], names[4:], np.random.default_rng(0))
    assert (correlations.within.low, correlations.within.high) == (
        correlations.families["a"].low,
        correlations.families["a"].high,
    )
    assert correlations.within.p_value == correlations.families["a"].p_value
    with pytest.raises(ValueError, match="found no family with a correlation"):
        family_correlations([1, 2], [2, 1], ["a", "b"], np.random.default_rng(0))


def test_equal_weights_give_students_interval():
    values = np.random.default_rng(0).normal(size=7)
    expected = stats.t.interval(0.95, 6, values.mean(), values.std(ddof=1) / np.sqrt(7))
    assert weighted_interval(values, np.full(7, 1 / 7))[1:] == pytest.approx(expected, rel=1e-12)
    assert weighted_interval(values[:1], np.ones(1)) == (values[0], -np.inf, np.inf)


def test_what_follows_the_given_quantity_leaves_nothing(rng):
    x, y = rng.normal(size=(2, 20))
    assert spearman(x, y, np.exp(x)) == 0
    assert spearman(x, np.ones(20)) == 0


@pytest.mark.parametrize("rho", [0.3, 0.5, 0.7, -0.8])
def test_the_number_of_points_has_the_power_it_says(rho):
    """By simulation, ± 0.005; the formula is an approximation, and n is a whole number."""
    n, r = points_needed(rho), 2 * np.sin(np.pi * rho / 6)
    power = []
    for m in (n - 3, n):
        first, second = np.random.default_rng(0).normal(size=(2, 10_000, m))
        statistics = rank_statistics(first, r * first + np.sqrt(1 - r * r) * second)
        power.append(np.mean(np.abs(statistics) >= critical_correlation(m) - 1e-9))
    assert power[0] < 0.8 < power[1] + 0.01 and power[1] < 0.86


@pytest.mark.parametrize("n", [5, 7])
def test_the_critical_value_is_the_first_that_is_rejected(n):
    points = np.arange(float(n))
    critical = critical_correlation(n)
    rng = np.random.default_rng(n)
    for _ in range(50):
        order = rng.permutation(n)
        rho = 1 - 6 * ((points - order) ** 2).sum() / (n * (n**2 - 1))
        assert (permutation_p_value(points, order.astype(float)) <= 0.05) == (abs(rho) >= critical - 1e-9)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_it_is_scipys(rng, level):
    samples = rng.normal(size=(7, 3))
    mean, half = student_interval(samples, level)
    low, high = stats.t.interval(level, 6, samples.mean(axis=0), stats.sem(samples, axis=0))
    np.testing.assert_allclose(mean - half, low, rtol=1e-12)
    np.testing.assert_allclose(mean + half, high, rtol=1e-12)


def test_geometric_intervals():
    mean, low, high = geometric_interval(np.array([[1.0, 10.0], [4.0, 10.0], [16.0, 10.0]]))
    np.testing.assert_allclose(mean, [4, 10])
    np.testing.assert_allclose([low[1], high[1]], 10)
    assert low[0] * high[0] == pytest.approx(16) and low[0] < 1  # symmetric in the logarithm
