import numpy as np
import pytest

from capcore import AR1, FromAutocovariance, Hierarchical, PowerLaw
from chapters.hierarchical_errors.prediction_errors import PredictionErrors, relative_to
from chapters.shared import survey


@pytest.fixture(scope="module")
def errors():
    return PredictionErrors.of(survey.case(Hierarchical(channels=2, n_layers=6), PowerLaw()))


def test_both_autocorrelations_start_at_one_and_the_model_s_obeys_its_own_recursion(errors):
    assert errors.autocorrelation[0] == errors.model_autocorrelation[0] == 1
    assert errors.autocorrelation_error[0] == 0
    c = errors.model_autocorrelation
    predicted = [errors.model @ c[np.abs(k - 1 - np.arange(64))] for k in range(1, 65)]
    assert c[1:] == pytest.approx(predicted, abs=1e-10)


def test_the_predictor_of_the_model_s_autocorrelation_is_the_model(errors):
    target, _ = FromAutocovariance(errors.model_autocorrelation).predictor(64)
    assert target == pytest.approx(errors.model, abs=1e-8)


def test_the_ratio_is_that_of_root_mean_squares_over_the_registered_lags(errors):
    error = errors.autocorrelation_error
    ratio = np.linalg.norm(error[1:9]) / np.sqrt(8) / (np.linalg.norm(error[33:65]) / np.sqrt(32))
    assert errors.short_long_ratio() == pytest.approx(ratio)


def test_a_target_that_is_attained_has_no_errors_to_speak_of(errors):
    assert errors.exists
    assert not PredictionErrors.of(survey.case(Hierarchical(channels=2, n_layers=4), AR1())).exists
    nothing = PredictionErrors(np.ones(4), np.ones(4), np.ones(5), np.ones(5), False)
    assert nothing.short_long_ratio() == 1


def test_relative_errors_have_gaps_where_the_truth_is_zero():
    assert relative_to(np.array([0.1, 0.2]), np.array([0.5, 0.0])) == pytest.approx([0.2, np.nan], nan_ok=True)
