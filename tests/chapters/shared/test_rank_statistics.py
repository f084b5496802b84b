"""Rank correlations against scipy, plain and at a fixed third quantity; and how many networks one takes."""

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from chapters.shared.rank_statistics import (
    correlation_power,
    critical_correlation,
    partial_spearman,
    permutation_p_value,
    points_needed,
    smallest_p_value,
    spearman,
)


def test_it_agrees_with_scipy_also_with_ties(rng):
    x, y = rng.integers(0, 6, (2, 50))
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic)


def test_only_ranks_matter(rng):
    x, y = rng.normal(size=(2, 30))
    assert spearman(np.exp(x), y**3) == pytest.approx(spearman(x, y))


def test_the_partial_one_is_the_correlation_of_residuals_of_ranks(rng):
    x, y, z = (rankdata(each) for each in rng.normal(size=(3, 40)) + rng.normal(size=40))
    design = np.column_stack([np.ones(40), z])
    left_x, left_y = (each - design @ np.linalg.lstsq(design, each)[0] for each in (x, y))
    assert partial_spearman(x, y, z) == pytest.approx(np.corrcoef(left_x, left_y)[0, 1])


def test_what_follows_the_given_quantity_leaves_nothing(rng):
    x, y = rng.normal(size=(2, 20))
    assert partial_spearman(x, y, np.exp(x)) == 0
    assert spearman(x, np.ones(20)) == 0


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="found 2 values beside 3 in x"):
        spearman([1, 2, 3], [1, 2])


@pytest.mark.parametrize("rho", [0.3, 0.5, 0.7, -0.8])
def test_the_number_of_points_has_the_power_it_says(rho):
    """By simulation, ± 0.005; the formula is an approximation, and n is a whole number."""
    n = points_needed(rho)
    before, there = (correlation_power(m, rho, np.random.default_rng(0)) for m in (n - 3, n))
    assert before < 0.8 < there + 0.01 and there < 0.86


def test_four_points_show_nothing_on_two_sides_and_only_a_perfect_order_on_one():
    rng = np.random.default_rng(0)
    assert smallest_p_value(4) > 0.05 > smallest_p_value(4, "greater")
    assert correlation_power(4, 0.999, rng) == 0
    assert 0.9 < correlation_power(4, 0.999, rng, alternative="greater") <= 1
    assert points_needed(0.9999) <= 6 and points_needed(0.9999, alternative="greater") <= 5


@pytest.mark.parametrize("n", [5, 7])
def test_the_critical_value_is_the_first_that_is_rejected(n):
    points = np.arange(float(n))
    critical = critical_correlation(n)
    rng = np.random.default_rng(n)
    for _ in range(50):
        order = rng.permutation(n)
        rho = 1 - 6 * ((points - order) ** 2).sum() / (n * (n**2 - 1))
        assert (permutation_p_value(points, order.astype(float))[0] <= 0.05) == (abs(rho) >= critical - 1e-9)


def test_the_power_of_nothing_is_the_level():
    assert correlation_power(12, 0.0, np.random.default_rng(0)) == pytest.approx(0.05, abs=0.012)


@pytest.mark.parametrize("rho", [0, 1, -1.5, np.nan])
def test_it_refuses(rho):
    with pytest.raises(ValueError, match="rho: found"):
        points_needed(rho)
    with pytest.raises(ValueError, match="power: found 80"):
        points_needed(0.5, 80)
