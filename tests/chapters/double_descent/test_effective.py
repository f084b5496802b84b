"""The largest sample a procedure fits: least squares and separability, whose complexities are known, and bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.double_descent.effective import (
    complexity_of_errors,
    least_squares,
    model_complexity,
    noise,
    training_error,
)
from tests.strategies import seeds


def stepping(threshold, below=0.0, above=1.0):
    """A procedure whose error is known: ``below`` up to ``threshold`` samples, ``above`` beyond."""
    return lambda x, y, rng: below if len(x) <= threshold else above


def measured(procedure, sample=None, seed=0, **options):
    settings = {"epsilon": 0.1, "maximum": 500, "n_trials": 3, **options}
    return model_complexity(procedure, sample or noise(1), np.random.default_rng(seed), **settings)


@given(st.integers(1, 499), st.integers(2, 12))
def test_a_step_is_found_wherever_it_is(threshold, n_probes):
    found = measured(stepping(threshold), n_probes=n_probes)
    assert (found.value, found.low, found.high, found.censored) == (threshold, threshold, threshold, False)
    assert found.monotone and {threshold, threshold + 1} <= set(found.sizes.tolist())


def test_bisection_tries_few_sizes():
    found = measured(stepping(777_777), maximum=10**6, n_trials=2)
    assert found.value == 777_777 and len(found.sizes) <= 8 + 20


@pytest.mark.parametrize("rank", [1, 2, 7, 30])
def test_least_squares_fits_as_many_points_as_it_has_inputs(rank):
    found = measured(least_squares, noise(rank), epsilon=1e-8, maximum=100)
    assert found.value == found.low == rank <= found.high and found.monotone
    assert found.means[found.sizes <= rank].max() < 1e-20 < 1e-3 < found.means[found.sizes > rank].min()


def test_it_is_the_rank_and_not_the_number_of_inputs():
    """Twelve inputs of rank five."""
    mixing = np.random.default_rng(1).standard_normal((5, 12))

    def sample(n, rng):
        return rng.standard_normal((n, 5)) @ mixing, rng.standard_normal((n, 2))

    assert measured(least_squares, sample, epsilon=1e-8, maximum=40).value == 5


def test_with_a_tolerance_it_is_that_of_the_expected_residual():
    """1 − p/n ≤ ε up to n = p/(1 − ε) = 40; the interval of 200 draws contains it and is not wide."""
    found = measured(least_squares, noise(20), epsilon=0.5, maximum=100, n_trials=200)
    assert found.low <= 40 <= found.high
    assert found.value == pytest.approx(40, abs=2) and 1 <= found.high - found.low <= 8


def test_a_weaker_criterion_is_no_smaller():
    def sign(x, y, rng):
        predict = least_squares(x, y, rng)
        return lambda inputs: np.sign(predict(inputs))

    def sample(n, rng):
        return rng.standard_normal((n, 10)), rng.choice([-1.0, 1.0], n)

    squared = measured(least_squares, sample, epsilon=0.01, maximum=100, n_trials=10).value
    assert squared == 10 < measured(sign, sample, epsilon=0.01, maximum=100, n_trials=10, error="zero-one").value


def test_errors_that_fall_with_the_sample_are_said_to():
    found = measured(lambda x, y, rng: 1.0 if len(x) < 30 else 0.0)
    assert found.censored and found.value == 500 and not found.monotone
    assert all(n < 30 for n in found.exceptions) and found.exceptions


def test_an_island_beyond_the_step_counts_for_the_maximum_and_is_reported():
    """Errors are small up to 10 and from 100 to 200: the definition says 200."""
    found = measured(lambda x, y, rng: float(not (len(x) <= 10 or 100 <= len(x) <= 200)), n_probes=12)
    assert found.value == 200 and not found.monotone
    assert all(10 < n < 100 for n in found.exceptions)


def test_a_failure_between_probes_goes_unseen_as_documented():
    assert measured(lambda x, y, rng: float(21 < len(x) < 24), maximum=40).monotone
    assert not measured(lambda x, y, rng: float(21 < len(x) < 24), maximum=40, n_probes=40).monotone


def test_nothing_that_fits_is_one_below_the_least_size():
    found = measured(stepping(0), minimum=5)
    assert (found.value, found.low, found.high, found.monotone) == (4, 4, 4, True)


@given(seeds)
def test_the_generator_decides_everything(seed):
    def noisy(x, y, rng):
        return abs(rng.normal()) * len(x) / 100

    first, second = (measured(noisy, seed=seed, maximum=50) for _ in range(2))
    assert first.value == second.value and np.array_equal(first.errors, second.errors)
    assert first.low <= first.value <= first.high


def test_a_size_has_the_same_errors_whatever_else_is_tried():
    def noisy(x, y, rng):
        return float(rng.uniform())

    few, many = (measured(noisy, n_probes=k, epsilon=0.4) for k in (2, 9))
    np.testing.assert_array_equal(few.errors[few.sizes == 500], many.errors[many.sizes == 500])


def test_a_reported_error_and_a_predictor_are_worth_the_same():
    def reports(x, y, rng):
        return float(np.mean((least_squares(x, y, rng)(x) - y) ** 2))

    one, other = (measured(p, noise(5), epsilon=0.3, maximum=40) for p in (reports, least_squares))
    assert one.value == other.value
    np.testing.assert_allclose(one.errors, other.errors, atol=1e-14)


def test_errors_from_elsewhere():
    found = complexity_of_errors({40: [0.3, 0.5], 10: [0.0, 0.0], 20: [0.0, 0.1]}, epsilon=0.1)
    assert found.value == 20 and found.sizes.tolist() == [10, 20, 40] and found.low == 10
    assert complexity_of_errors({10: [1.0, 1.0], 20: [0.0, 0.0]}, epsilon=0.1).exceptions == (10,)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("epsilon: found -0.1, expected zero or more", {"epsilon": -0.1}),
        ("epsilon: found nan", {"epsilon": float("nan")}),
        ("minimum, maximum: found 500 and 500", {"minimum": 500}),
        ("minimum: found 0", {"minimum": 0}),
        ("n_trials: found 1, expected a whole number of at least 2", {"n_trials": 1}),
        ("n_probes: found 1", {"n_probes": 1}),
        ("confidence: found 1", {"confidence": 1}),
        ("error: found 'zero_one'.*Did you mean 'zero-one'", {"error": "zero_one"}),
    ],
)
def test_settings_out_of_range(message, options):
    with pytest.raises(ValueError, match=message):
        measured(stepping(3), **options)


@pytest.mark.parametrize(
    ("message", "procedure", "sample"),
    [
        ("found a training error of -1.0, expected zero or more", lambda x, y, rng: -1.0, noise(1)),
        ("procedure: found nan, expected a finite training error", lambda x, y, rng: float("nan"), noise(1)),
        ("procedure: found None", lambda x, y, rng: None, noise(1)),
        (r"predictions of shape \(5, 1\), expected \(5,\)", lambda x, y, rng: lambda x: x, noise(1)),
        ("sample: found 2 inputs and 2 labels, expected 5", stepping(3), lambda n, rng: (np.ones((2, 1)), np.ones(2))),
    ],
)
def test_procedures_and_samples_that_do_not_fit(message, procedure, sample):
    with pytest.raises(ValueError, match=message):
        training_error(procedure, sample, 5, np.random.default_rng(0), "squared")


def test_tables_that_do_not_fit():
    with pytest.raises(ValueError, match="one trial per size, expected at least 2"):
        complexity_of_errors({10: [0.0]}, epsilon=0.1)
