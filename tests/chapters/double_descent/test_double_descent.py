"""Effective model complexity against known ones, random features against least squares, and trained networks."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import binom

from chapters.double_descent import experiment, study
from chapters.double_descent.effective import least_squares, model_complexity, noise
from chapters.double_descent.experiment import split
from chapters.double_descent.known import random_dichotomies, separable, separable_complexity
from tests.strategies import seeds


def stepping(threshold, below=0.0, above=1.0):
    """A procedure whose error is known: ``below`` up to ``threshold`` samples, ``above`` beyond."""
    return lambda x, y, rng: below if len(x) <= threshold else above


def measured(procedure, sample=None, seed=0, **options):
    settings = {"epsilon": 0.1, "maximum": 500, "n_trials": 3, **options}
    return model_complexity(procedure, sample or noise(1), np.random.default_rng(seed), **settings)


@given(st.integers(1, 499), st.integers(2, 12))
def test_a_step_is_found_wherever_it_is(threshold, n_probes):
    complexity = measured(stepping(threshold), n_probes=n_probes)
    assert complexity.value == complexity.low == complexity.high == threshold and not complexity.censored
    assert {threshold, threshold + 1} <= set(complexity.sizes.tolist())


def test_bisection_tries_few_sizes():
    complexity = measured(stepping(777_777), maximum=10**6, n_trials=2)
    assert complexity.value == 777_777 and len(complexity.sizes) <= 8 + 20


@pytest.mark.parametrize("rank", [1, 2, 7, 30])
def test_least_squares_fits_as_many_points_as_it_has_inputs(rank):
    complexity = measured(least_squares, noise(rank), epsilon=1e-8, maximum=100)
    assert complexity.value == complexity.low == rank <= complexity.high
    few = complexity.sizes <= rank
    assert complexity.means[few].max() < 1e-20 < 1e-3 < complexity.means[~few].min()


def test_it_is_the_rank_and_not_the_number_of_inputs():
    """Twelve inputs of rank five."""
    mixing = np.random.default_rng(1).standard_normal((5, 12))

    def sample(n, rng):
        return rng.standard_normal((n, 5)) @ mixing, rng.standard_normal((n, 2))

    assert measured(least_squares, sample, epsilon=1e-8, maximum=40).value == 5


def test_with_a_tolerance_it_is_that_of_the_expected_residual():
    """1 − p/n ≤ ε up to n = p/(1 − ε) = 40; the interval of 200 draws contains it and is not wide."""
    complexity = measured(least_squares, noise(20), epsilon=0.5, maximum=100, n_trials=200)
    assert complexity.low <= 40 <= complexity.high
    assert complexity.value == pytest.approx(40, abs=2) and 1 <= complexity.high - complexity.low <= 8


def test_a_weaker_criterion_is_no_smaller():
    def sign(x, y, rng):
        return np.mean(np.sign(least_squares(x, y, rng)(x)) != y)

    def sample(n, rng):
        return rng.standard_normal((n, 10)), rng.choice([-1.0, 1.0], n)

    squared = measured(least_squares, sample, epsilon=0.01, maximum=100, n_trials=10).value
    assert squared == 10 < measured(sign, sample, epsilon=0.01, maximum=100, n_trials=10).value


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


def separable_probability(n, n_inputs):
    """2^(1−n) Σ_{k < n_inputs} C(n − 1, k): Cover's function-counting theorem."""
    return binom.cdf(n_inputs - 1, n - 1, 0.5)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (4, 1), (5, 2), (6, 3), (4, 4), (7, 2)])
def test_all_dichotomies_of_points_in_general_position(n, d):
    """Cover's theorem, by asking about every one of them: a whole number, no tolerance."""
    x = np.random.default_rng(n).standard_normal((n, d))
    result = sum(separable(x, np.array(labels)) for labels in product([-1, 1], repeat=n))
    assert result == round(float(separable_probability(n, d)) * 2**n)


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


@given(seeds, st.integers(2, 12), st.integers(2, 12))
def test_the_path_is_least_squares_and_ridge(seed, n, p):
    rng = np.random.default_rng(seed)
    x, y, z = rng.standard_normal((n, p)), rng.standard_normal((n, 3)), rng.standard_normal((5, p))
    points, test_points, least, shrunk = study.least_norm_path(x, y, z, [0.1, 10.0])
    coefficients = np.linalg.pinv(x) @ y
    np.testing.assert_allclose(points @ least, x @ coefficients, atol=1e-8)
    np.testing.assert_allclose(test_points @ least, z @ coefficients, atol=1e-6 * np.abs(coefficients).max())
    for penalty, one in zip([0.1, 10.0], shrunk, strict=True):
        solved = np.linalg.solve(x.T @ x + penalty * np.mean(x**2) * np.eye(p), x.T @ y)
        np.testing.assert_allclose(points @ one, x @ solved, atol=1e-9)
        np.testing.assert_allclose(test_points @ one, z @ solved, atol=1e-9)


def test_no_feature_is_dead():
    """Features that are zero on all images would make the rank, and with it the complexity, smaller than p."""
    result = study.RandomFeatures(500, np.random.default_rng(2))(experiment.digits()[0])
    assert (result > 0).mean(axis=0).min() > 0.01


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_as_many_labels_are_wrong_as_asked(share):
    labels = np.arange(500) % 10
    result = experiment.relabelled(labels, "wrong", np.random.default_rng(0), share)
    assert np.mean(result != labels) == share and set(result.tolist()) <= set(range(10))
    shuffled = experiment.relabelled(labels, "shuffled", np.random.default_rng(0))
    assert sorted(shuffled.tolist()) == sorted(labels.tolist()) and np.mean(shuffled == labels) < 0.2
    assert np.array_equal(experiment.relabelled(labels, "right", np.random.default_rng(0), share), labels)


def test_a_split_takes_every_image_once_and_tests_on_right_labels():
    inputs, labels = experiment.digits()
    assert inputs.shape == (1797, 64) and (inputs.min(), inputs.max()) == (-1, 1)
    result = experiment.split(100, "shuffled", np.random.default_rng(0))
    together = np.concatenate([result.x, result.x_test])
    np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(inputs, axis=0))
    known = {tuple(image): int(label) for image, label in zip(inputs, labels, strict=True)}
    assert [known[tuple(image)] for image in result.x_test] == result.y_test.tolist()


@pytest.fixture(scope="module")
def curves():
    return study.feature_curves([10, 30, 50, 80, 200], 50, ["right", "wrong", "shuffled"], 4, 3)


@pytest.mark.parametrize("kind", ["right", "wrong", "shuffled"])
def test_the_peak_is_where_the_complexity_is_the_sample(curves, kind):
    result = curves[kind]
    assert result.peak == 50 and result.most_missed == 0
    fitted = result.mean("train")
    assert (fitted[:2] > 1e-3).all() and (fitted[2:] < 1e-10).all()
    mean, low, high = result.height(30)
    assert 1 < low < mean < high
    assert result.first_within("train", 1e-6) == 50 and result.first_within("train", -1.0) is None
    assert (result.errors["ridge"] <= 1.01 * result.errors["test"]).all()


def test_kinds_of_labels_do_not_disturb_one_another(curves):
    alone = study.feature_curves([10, 30, 50, 80, 200], 50, ["right"], 4, 3)["right"]
    np.testing.assert_allclose(alone.errors["train"], curves["right"].errors["train"], atol=1e-9)
    np.testing.assert_allclose(alone.errors["ridge"], curves["right"].errors["ridge"], rtol=1e-6)


def test_the_complexity_of_random_features_is_their_number():
    sample = study.feature_sample(30, "wrong", np.random.default_rng(0))
    assert measured(least_squares, sample, seed=1, epsilon=1e-6, maximum=100).value == 30
    assert measured(study.wrong_digits, sample, seed=1, epsilon=0.01, maximum=100, n_trials=5).value > 30


def test_a_wide_network_meets_wrong_labels_and_a_narrow_one_does_not():
    data = split(40, "wrong", np.random.default_rng(0))
    narrow, wide = (experiment.width_errors(width, data, 0, 300) for width in (1, 64))
    assert wide["train"] < 1e-3 < 0.1 < narrow["train"]
    assert wide["train_wrong"] == 0 and 0 < wide["test_wrong"] < 1
