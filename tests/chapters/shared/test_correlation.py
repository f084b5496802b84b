"""Rank correlations: statistics, permutation tests and intervals, against scipy and against counting."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chapters.shared.correlation import (
    copula_interval,
    fisher_interval,
    population_correlation,
    rank_correlation,
    rank_scores,
)
from chapters.shared.rank_statistics import (
    partial_spearman,
    permutation_p_value,
    permutation_statistics,
    rank_statistics,
    smallest_p_value,
)
from tests.strategies import seeds

KINDS = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}
kinds = st.sampled_from(sorted(KINDS))


def sample(seed, n, ties=False):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    if ties:
        x, y = np.round(x * 2) / 2, np.round(y)
        x[0], x[1], y[0], y[1] = 9, -9, 9, -9  # never constant
    return x, x / 2 + y if not ties else y


@given(seeds, st.integers(3, 30), kinds, st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_statistic_is_scipys(seed, n, kind, ties):
    x, y = sample(seed, n, ties)
    found = rank_correlation(x, y, kind=kind, interval="fisher")
    assert found.rho == pytest.approx(KINDS[kind](x, y).statistic, abs=1e-12)
    assert -1 <= found.low <= found.rho <= found.high <= 1 or abs(found.rho) > 1 - 1e-12


@given(seeds, st.integers(3, 25), kinds)
@settings(max_examples=12, deadline=None)
def test_monotone_maps_change_nothing_and_a_falling_one_turns_it_round(seed, n, kind):
    x, y = sample(seed, n)
    found = rank_correlation(x, y, kind=kind)
    assert rank_correlation(np.exp(x), y**3, kind=kind) == found
    assert rank_correlation(y, x, kind=kind).rho == pytest.approx(found.rho, abs=1e-12)
    turned = rank_correlation(x, -y, kind=kind)
    assert turned.rho == pytest.approx(-found.rho, abs=1e-12)
    assert turned.p_value == pytest.approx(found.p_value, abs=1e-12)
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), abs=1e-9)


@given(seeds, st.integers(3, 6), kinds, st.sampled_from(["two-sided", "greater", "less"]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_p_values_count_all_permutations(seed, n, kind, alternative, ties):
    x, y = sample(seed, n, ties)
    rho = KINDS[kind](x, y).statistic
    all_rho = np.array([KINDS[kind](x, y[list(order)]).statistic for order in permutations(range(n))])
    side = {"two-sided": abs, "greater": lambda value: value, "less": lambda value: -value}[alternative]
    expected = np.mean(side(all_rho) >= side(rho) - 1e-9)
    assert permutation_p_value(x, y, kind, alternative) == (pytest.approx(expected, abs=1e-12), True)


@given(seeds, st.integers(2, 6), kinds, st.booleans())
@settings(max_examples=20, deadline=None)
def test_every_permutation_has_its_own_statistic(seed, n, kind, ties):
    x, y = sample(seed, n, ties)
    orders = np.array(list(permutations(range(n))))
    expected = rank_statistics(np.tile(x, (len(orders), 1)), y[orders], kind)
    np.testing.assert_allclose(permutation_statistics(x, y, kind), expected, atol=1e-12)


def test_the_smallest_p_value_is_that_of_a_perfect_order():
    for n in (2, 3, 4, 5, 6):
        for alternative in ("two-sided", "greater"):
            points = np.arange(float(n))
            assert permutation_p_value(points, points, "spearman", alternative)[0] == pytest.approx(
                smallest_p_value(n, alternative), rel=1e-12
            )


def test_beyond_eight_points_the_p_value_is_scipys():
    x, y = sample(3, 9)
    assert permutation_p_value(x, y) == (pytest.approx(stats.spearmanr(x, y).pvalue), False)
    assert permutation_p_value(x, y, "kendall")[0] == pytest.approx(stats.kendalltau(x, y).pvalue)


@given(seeds, st.integers(6, 30))
@settings(max_examples=25, deadline=None)
def test_partial_correlation_by_regression_and_by_formula(seed, n):
    x, y = sample(seed, n)
    fixed = np.random.default_rng(seed + 1).normal(size=n)
    found = rank_correlation(x, y, given=fixed, interval="fisher")
    assert found.rho == pytest.approx(partial_spearman(x, y, fixed), abs=1e-9)
    assert (found.n, found.n_given) == (n, 1)
    r = found.rho * np.sqrt((n - 3) / (1 - found.rho**2))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(r), n - 3), rel=1e-9)


def test_what_is_given_is_taken_out():
    x, y = sample(0, 12)
    scores = rank_scores(x, y, np.stack([y + x, x * y]))
    for score in scores:
        for fixed in (y + x, x * y):
            assert score @ stats.rankdata(fixed) == pytest.approx(0, abs=1e-9)
    assert rank_correlation(x, y, given=[y + x, x * y]).rho == pytest.approx(scores[0] @ scores[1], abs=1e-12)


def test_the_copula_interval_covers_by_construction():
    """Samples of a known population: 95 % by design, discreteness makes it more; 2,000 samples have ± 1 %."""
    rng = np.random.default_rng(1)
    for n, r in ((4, 0.0), (4, 0.9), (8, 0.6)):
        first, second = rng.normal(size=(2, 2_000, n))
        found = rank_statistics(first, r * first + np.sqrt(1 - r * r) * second)
        truth = float(population_correlation(np.array(r), "spearman"))
        ends = {rho: copula_interval(rho, n) for rho in np.unique(found.round(9))}
        covered = np.mean([ends[rho][0] <= truth <= ends[rho][1] for rho in found.round(9)])
        assert 0.94 <= covered <= 1.0


def test_the_copula_interval_meets_fishers_for_many_points():
    for rho in (0.0, 0.3, 0.7):
        assert copula_interval(rho, 20) == pytest.approx(fisher_interval(rho, 20), abs=0.06)


def test_perfect_order_of_few_points_says_little():
    assert rank_correlation([1, 2, 3, 4], [1, 2, 3, 4]).sign == 0  # two-sided 0.083
    assert rank_correlation(range(5), range(5)).sign == 1  # two-sided 0.017


def test_bootstrap_intervals_are_scipys_and_need_a_generator():
    x, y = sample(5, 15)
    for method in ("percentile", "bca"):
        found = rank_correlation(x, y, interval=method, rng=np.random.default_rng(0))
        assert found.low < found.rho < found.high and found.interval == method
        assert (found.low, found.high) == pytest.approx(fisher_interval(found.rho, 15), abs=0.3)
    with pytest.raises(ValueError, match="needs rng"):
        rank_correlation(x, y, interval="bca")
    with pytest.warns(), pytest.raises(ValueError, match="all resamples agree"):
        rank_correlation(range(6), range(6), interval="bca", rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("message", "arguments", "options"),
    [
        ("x: found 3 equal values", ([1, 1, 1], [1, 2, 3]), {}),
        ("y: found 2 values beside 3 in x", ([1, 2, 3], [1, 2]), {}),
        ("x: found 1 value", ([1], [1]), {}),
        ("y: found 1 value.s. that are NaN", ([1, 2], [1, np.nan]), {}),
        ("kind: found 'pearson'", ([1, 2], [1, 2]), {"kind": "pearson"}),
        ("kind: found 'kendall' with given", ([1, 2, 3, 4], [1, 2, 4, 3]), {"kind": "kendall", "given": [1, 2, 3, 4]}),
        ("interval: found 'exact'", ([1, 2], [1, 2]), {"interval": "exact"}),
        ("level: found 95", ([1, 2], [1, 2]), {"level": 95}),
        ("alternative: found 'more'", ([1, 2], [1, 2]), {"alternative": "more"}),
        ("given: found 2 values per quantity", ([1, 2, 3, 4], [1, 2, 4, 3]), {"given": [1, 2]}),
        ("given: found 1 quantities for 3 points", ([1, 2, 3], [1, 3, 2]), {"given": [1, 2, 3]}),
        ("given: found x to follow it", ([1, 2, 3, 4], [1, 3, 2, 4]), {"given": [1, 2, 3, 4]}),
    ],
)
def test_it_refuses(message, arguments, options):
    with pytest.raises(ValueError, match=message):
        rank_correlation(*arguments, **options)
