"""How many networks a correlation takes."""

import numpy as np
import pytest

from chapters.shared.permutations import permutation_p_value, smallest_p_value
from chapters.shared.rank_power import correlation_power, critical_correlation, points_needed


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
