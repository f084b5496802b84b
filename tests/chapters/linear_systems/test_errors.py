from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.capacity.constraints import ConstraintSpace
from chapters.linear_systems.errors import (
    COORDINATE_LAWS,
    complement,
    draw_coordinates,
    expected_squares,
    free_dimensions,
    share_ratios,
    simulate,
)
from chapters.linear_systems.study import relative_squares
from chapters.linear_systems.systems import random_basis


@pytest.fixture
def space(rng):
    return ConstraintSpace.from_columns(random_basis(7, 3, rng))


@pytest.fixture
def subspaces(rng):
    return [*np.eye(7), random_basis(7, 2, rng), np.eye(7)]


@given(st.integers(1, 9), st.data(), st.integers(0, 1000))
def test_the_complement_completes_the_basis(n, data, seed):
    kappa = data.draw(st.integers(1, n))
    space = ConstraintSpace.from_columns(random_basis(n, kappa, np.random.default_rng(seed)))
    both = np.hstack([space.basis, complement(space)])
    assert np.allclose(both.T @ both, np.eye(n), atol=1e-12)


def test_the_complement_depends_on_the_space_alone(rng):
    basis = random_basis(30, 12, rng)
    spaces = [ConstraintSpace.from_columns(basis @ random_basis(12, 12, rng)) for _ in range(3)]
    first, *others = (complement(space) for space in spaces)
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-10)


def test_free_dimensions_complete_the_capacities(space, subspaces):
    free = free_dimensions(space, subspaces)
    assert np.allclose(free[:7], 1 - space.per_input())
    assert free[-1] == pytest.approx(4)
    across = complement(space)
    assert np.allclose(free, [np.sum(np.square(across.T @ s)) for s in subspaces])


def test_expectation_equals_the_average_over_all_sign_patterns(space, subspaces, rng):
    """λ_j = m_j ± s_j has mean m_j and variance s_j²; four of them take 16 values, so the mean is exact."""
    mean, deviation = rng.normal(size=4), rng.uniform(0.5, 2.0, size=4)
    patterns = np.array(list(product([-1, 1], repeat=4)))
    errors = complement(space) @ (mean + deviation * patterns).T
    brute = [np.mean(np.sum(np.square(s.reshape(7, -1).T @ errors), axis=0)) for s in subspaces]
    assert np.allclose(expected_squares(space, subspaces, mean, deviation**2), brute)


def test_equation_6_is_the_expectation_for_mean_zero_and_one_variance(space, subspaces):
    assert np.allclose(expected_squares(space, subspaces, variance=2.5), 2.5 * free_dimensions(space, subspaces))


def test_equation_6_fails_with_a_mean_and_with_unequal_variances(space, subspaces):
    shares = free_dimensions(space, subspaces) / 4
    for options in ({"mean": 1.0}, {"variance": [4.0, 1.0, 1.0, 0.1]}):
        expected = expected_squares(space, subspaces, **options)
        ratios = expected / expected[-1] / shares
        assert np.abs(ratios - 1).max() > 0.2
        assert np.allclose(share_ratios(space, **options), ratios[:7])
    assert np.allclose(share_ratios(space, variance=3.0), 1)


def test_variances_bound_the_expectation_on_both_sides(space, subspaces, rng):
    variance = rng.uniform(0.2, 3.0, size=4)
    expected, free = expected_squares(space, subspaces, variance=variance), free_dimensions(space, subspaces)
    assert np.all(expected >= variance.min() * free - 1e-12)
    assert np.all(expected <= variance.max() * free + 1e-12)


@pytest.mark.parametrize("law", COORDINATE_LAWS)
def test_coordinates_have_mean_zero_and_variance_one(law, rng):
    """With 40,000 draws the standard errors are 0.005 and at most 0.007."""
    draws = draw_coordinates(law, (200, 200), rng)
    assert draws.mean() == pytest.approx(0, abs=0.03)
    assert draws.var() == pytest.approx(1, abs=0.04)


@pytest.mark.parametrize("law", COORDINATE_LAWS)
def test_simulation_agrees_with_equation_6_within_its_own_error_bars(law, space, subspaces, rng):
    result = simulate(space, subspaces, law, 5000, rng)
    assert np.abs(result.z).max() < 4.5
    assert np.all(result.standard_error[:-1] > 0)
    assert result.squares.shape == (9, 5000)
    assert np.allclose(result.relative_standard_error * result.predicted, result.standard_error)
    again = simulate(space, subspaces, law, 50, np.random.default_rng(1))
    assert np.array_equal(again.squares, simulate(space, subspaces, law, 50, np.random.default_rng(1)).squares)


def test_simulation_sees_a_wrong_prediction(space, subspaces, rng):
    result = simulate(space, subspaces, "normal", 5000, rng)
    wrong = type(result)(result.squares, 1.2 * result.predicted, result.mean, result.standard_error)
    assert np.abs(wrong.z).max() > 4.5


def test_no_error_exceeds_its_length_times_the_free_dimension(space, subspaces, rng):
    errors = complement(space) @ rng.normal(size=(4, 500))
    free = free_dimensions(space, subspaces)
    for s, limit in zip(subspaces, free, strict=True):
        squares = np.sum(np.square(s.reshape(7, -1).T @ errors), axis=0)
        assert np.all(squares <= limit * np.sum(np.square(errors), axis=0) + 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_one_free_dimension_fixes_the_shares_exactly(seed):
    """Eq. 7: for κ = n − 1 the share of the squared error is n_S − κ_S, whatever the error."""
    rng = np.random.default_rng(seed)
    space = ConstraintSpace.from_columns(random_basis(7, 6, rng))
    error = complement(space)[:, 0] * rng.normal()
    assert np.allclose(relative_squares(error), 1 - space.per_input())
    result = simulate(space, list(np.eye(7)), "two-point", 10, rng)
    assert np.allclose(result.mean, result.predicted)
    assert not result.z.any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda space: free_dimensions(space, [np.ones(7)]), "not orthonormal"),
        (lambda space: expected_squares(space, [np.eye(7)], variance=-1.0), "variance: found -1"),
        (lambda space: simulate(space, [np.eye(7)], "cauchy", 10, np.random.default_rng()), "law: found 'cauchy'"),
        (lambda space: simulate(space, [np.eye(7)], "normal", 1, np.random.default_rng()), "n_samples: found 1"),
        (
            lambda space: simulate(
                ConstraintSpace.from_columns(np.eye(7)), [np.eye(7)], "normal", 9, np.random.default_rng()
            ),
            "no error satisfies it",
        ),
    ],
)
def test_what_has_no_answer_is_refused(space, call, message):
    with pytest.raises(ValueError, match=message):
        call(space)
