"""Counts of directions, models by channels, and the errors of prediction."""

import numpy as np
import pytest

from capcore.architectures import Linear
from capcore.processes import AR1, FAMILIES, FromAutocovariance, PowerLaw
from capcore.processes.problem import Problem
from chapters.gaussian_prediction.study import (
    count_directions,
    dense_predictor,
    error_variance,
    models_by_channels,
    prediction_gaps,
    sampled_error,
)


def test_eigenvalues_are_squares_and_lose_what_is_below_the_root_of_rounding():
    counts = count_directions(np.diag(10.0 ** -np.arange(0.0, 12.0, 2.0)))
    assert np.allclose(counts.eigenvalues[:4], counts.singular_values[:4] ** 2)
    assert (counts.by_singular_values, counts.by_eigenvalues) == (6, 4)


def test_entries_may_be_numbers_or_lists():
    models = models_by_channels([1, 4, [2, 3]], n_layers=3, kernel_size=3)
    assert [arch.channels for arch in models.values()] == [[1, 1], [4, 4], [2, 3]]
    assert list(models) == ["1 channel", "4 channels", "2, 3 channels"]
    assert {arch.n_inputs for arch in models.values()} == {27}


@pytest.mark.parametrize("channels", [4, "4", [], None])
def test_something_else_than_a_list_is_refused(channels):
    with pytest.raises(ValueError, match=r"channels: found .*expected a non-empty list such as \[1, 2, 4\]"):
        models_by_channels(channels, n_layers=3)


def test_what_no_model_can_be_made_of_is_refused():
    with pytest.raises(ValueError, match="channels: found 0"):
        models_by_channels([0], n_layers=3)
    with pytest.raises(ValueError, match="the arguments disagree"):
        models_by_channels([[2, 3]], n_layers=6)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [1, 5, 32])
def test_levinson_and_dense_algebra_agree(family, n):
    process = FAMILIES[family]()
    target, variance = process.predictor(n)
    dense, dense_variance = dense_predictor(process, n)
    assert np.allclose(target, dense, atol=1e-12 * np.linalg.cond(process.covariance(n)))
    assert np.isclose(variance, dense_variance, rtol=1e-12)
    assert max(prediction_gaps(process, n)) < 1e-10


def test_gaps_see_a_wrong_predictor(monkeypatch):
    monkeypatch.setattr(PowerLaw, "predictor", lambda self, n: (np.full(n, 0.1), 0.9))
    gaps = prediction_gaps(PowerLaw(), 4)
    assert min(gaps) > 0.1


@pytest.mark.parametrize("family", FAMILIES)
def test_the_error_variance_is_the_quadratic_form(family, rng):
    process, n = FAMILIES[family](), 12
    problem = Problem.of(Linear(np.eye(n)), process)
    for coefficients in rng.normal(size=(5, n)):
        expected = problem.variance + problem.loss(coefficients)
        assert np.isclose(error_variance(coefficients, process), expected, rtol=1e-11)
    assert np.isclose(error_variance(problem.target, process), problem.variance, rtol=1e-10)


def test_the_variance_at_lag_zero_may_be_anything():
    """Eq. 31 prints 1 where c₀ belongs: three times the process is three times the error."""
    values = PowerLaw().autocovariance(6)
    tripled = FromAutocovariance(3 * values)
    assert np.isclose(error_variance(np.zeros(5), tripled), 3.0)
    assert np.isclose(dense_predictor(tripled, 5)[1], 3 * dense_predictor(PowerLaw(), 5)[1])


def test_the_printed_order_of_equation_31_is_worse():
    target, variance = PowerLaw().predictor(64)
    assert error_variance(target[::-1], PowerLaw()) > 1.1 * variance


def test_sampling_agrees_within_its_error_bars(rng):
    coefficients = np.array([0.7, -0.2, 0.1])
    sampled = sampled_error(coefficients, AR1(0.8), 25_000, rng)  # more than two blocks, the last one not full
    expected = error_variance(coefficients, AR1(0.8))
    assert sampled.n_samples == 25_000
    assert abs(sampled.mean - expected) < 4 * sampled.standard_error
    # A squared normal variable of variance v has variance 2v².
    assert np.isclose(sampled.standard_error, expected * np.sqrt(2 / 25_000), rtol=0.05)


def test_one_sample_has_no_error_bar(rng):
    with pytest.raises(ValueError, match="n_samples: found 1, expected a whole number of at least 2"):
        sampled_error([0.5], AR1(), 1, rng)
