"""Complexities that are known: Cover's count against all dichotomies, and what is measured with few draws."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import binom

from chapters.double_descent import known
from chapters.double_descent.effective import complexity_of_errors, model_complexity
from chapters.double_descent.known import (
    not_separable,
    random_dichotomies,
    separable,
    separable_complexity,
)
from tests.strategies import seeds


def separable_probability(n, n_inputs):
    """2^(1−n) Σ_{k < n_inputs} C(n − 1, k): Cover's function-counting theorem."""
    return binom.cdf(n_inputs - 1, n - 1, 0.5)


def test_least_squares_and_its_tolerance():
    rng = np.random.default_rng(0)
    assert known.largest_gap(known.of_least_squares([3, 8], 40, rng)) == 0
    (found,) = known.of_tolerances(10, [0.5], 60, rng).values()
    assert found.low <= 20 <= found.high


def test_separation():
    (found,) = known.of_separability([4], 60, np.random.default_rng(1)).values()
    assert found.low <= 8 <= found.high


def test_features_by_two_criteria():
    found = known.of_features(20, ["right", "shuffled"], 3, np.random.default_rng(2))
    assert [each["squared"].value for each in found.values()] == [20, 20]
    assert found["right"]["zero-one"].value > found["shuffled"]["zero-one"].value >= 15


def test_complexities_as_text():
    assert known.as_text(complexity_of_errors({10: [0.0, 0.0], 20: [1.0, 1.0]}, epsilon=0.1)) == "10"
    assert known.as_text(complexity_of_errors({1000: [0.0, 0.0]}, epsilon=0.1)) == "1,000 or more"
    wide = complexity_of_errors({10: [0.0, 0.0], 20: [0.0, 0.1], 30: [0.0, 0.4], 40: [1.0, 1.0]}, epsilon=0.1)
    assert known.as_text(wide) == "20 (10 to 30)"


def test_the_largest_gap_has_no_sign():
    found = {12: complexity_of_errors({10: [0.0, 0.0], 20: [1.0, 1.0]}, epsilon=0.1)}
    assert known.largest_gap(found) == 2


@pytest.mark.parametrize(("n", "d"), [(1, 1), (4, 1), (5, 2), (6, 3), (4, 4), (7, 2)])
def test_all_dichotomies_of_points_in_general_position(n, d):
    """Cover's theorem, by asking about every one of them: a whole number, no tolerance."""
    x = np.random.default_rng(n).standard_normal((n, d))
    found = sum(separable(x, labels) for labels in product([-1, 1], repeat=n))
    assert found == round(float(separable_probability(n, d)) * 2**n)


@given(st.integers(1, 200))
def test_twice_as_many_points_as_dimensions(d):
    assert separable_probability(2 * d, d) == pytest.approx(0.5, abs=1e-12)
    assert separable_complexity(d) == 2 * d
    assert separable_complexity(d, 0.0) == d  # up to d points every dichotomy is


@given(seeds, st.integers(2, 30), st.integers(1, 5))
def test_labels_of_a_hyperplane_are_separable_and_stay_so(seed, n, d):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    labels = np.sign(x @ rng.standard_normal(d))
    assert separable(x, labels) and separable(x, -labels) and separable(1e3 * x[: n // 2 + 1], labels[: n // 2 + 1])


@given(seeds, st.integers(1, 40), st.integers(1, 12))
def test_a_linear_programme_says_the_same(seed, n, d):
    """y_i⟨w, x_i⟩ ≥ 1 for all i has a solution, or has none."""
    rng = np.random.default_rng(seed)
    x, labels = random_dichotomies(d)(n, rng)
    programme = linprog(np.zeros(d), -labels[:, None] * x, -np.ones(n), bounds=(None, None), method="highs")
    assert programme.status in (0, 2) and separable(x, labels) == (programme.status == 0)


def test_a_contradiction_is_not():
    assert not separable([[1.0, 0.0], [1.0, 0.0]], [1, -1])
    assert not separable([[1.0], [-1.0]], [1, 1])  # through the origin
    assert not separable([[0.0, 0.0], [1.0, 0.0]], [1, 1])  # a point on every such plane


def test_measured_complexity_contains_twice_the_dimensions():
    found = model_complexity(
        not_separable, random_dichotomies(5), np.random.default_rng(0), epsilon=0.5, maximum=40, n_trials=60
    )
    assert found.low <= 10 <= found.high and 8 <= found.value <= 12


@pytest.mark.parametrize("n", [3, 10, 14])
def test_the_share_of_separable_samples_is_covers(n):
    """Four standard errors of 300 draws at most."""
    rng = np.random.default_rng(n)
    sample = random_dichotomies(5)
    share = 1 - np.mean([not_separable(*sample(n, rng), rng) for _ in range(300)])
    expected = float(separable_probability(n, 5))
    assert abs(share - expected) <= 4 * np.sqrt(expected * (1 - expected) / 300) + 1e-12


def test_bad_input():
    with pytest.raises(ValueError, match="labels: found 1, expected 2"):
        separable(np.ones((2, 2)), [1])
    with pytest.raises(ValueError, match=r"epsilon: found 1\.0, expected a probability below 1"):
        separable_complexity(3, 1)
    with pytest.raises(ValueError, match="inputs: found 1 value"):
        separable([[np.nan]], [1])
