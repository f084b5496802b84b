"""The optimal predictor: exact arithmetic, optimality, and the way back to the autocovariance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from capcore.processes import AutoRegressive, FromAutocovariance
from tests.strategies import every_process, exact_predictor

# --- the predictor --------------------------------------------------------------------------------------------------


@every_process
@pytest.mark.parametrize("n", [1, 2, 33])
def test_predictor_against_exact_arithmetic(process, n):
    target, variance = process.predictor(n)
    exact_target, exact_variance = exact_predictor(process, n)
    condition = np.linalg.cond(process.covariance(n + 1), 1)
    # Forward error of a solve: eps · condition, with a factor 10 for the recursion's own growth.
    assert target.shape == (n,)
    assert_allclose(target, exact_target, rtol=0, atol=1e-15 * condition * 10)
    assert_allclose(variance, exact_variance, rtol=1e-15 * condition * 10)


@every_process
@pytest.mark.parametrize("factor", [1e-150, 1e-9, 1e12])
def test_scale_of_the_process_changes_the_variance_only(process, factor):
    scaled = FromAutocovariance(factor * process.autocovariance(21))
    target, variance = process.predictor(20)
    scaled_target, scaled_variance = scaled.predictor(20)
    condition = np.linalg.cond(process.covariance(20))
    assert_allclose(scaled_target, target, rtol=0, atol=1e-15 * condition)
    assert scaled_variance == pytest.approx(factor * variance, rel=1e-15 * condition)


# --- and back -------------------------------------------------------------------------------------------------------


@every_process
@pytest.mark.parametrize("n", [1, 2, 16, 256])
def test_autoregression_with_the_optimal_predictor_has_the_same_autocovariance(process, n):
    back = AutoRegressive(*process.predictor(n)).autocovariance(n + 1)
    # The step-down recursion undoes the step-up; the largest condition number here is 1e6.
    assert_allclose(back, process.autocovariance(n + 1), rtol=0, atol=1e-9)


def test_an_autoregression_is_predicted_by_its_own_coefficients():
    process = AutoRegressive([0.5, -0.3, 0.2], 0.7)
    for n in (3, 4, 20):
        target, variance = process.predictor(n)
        assert_allclose(target, [0.5, -0.3, 0.2] + [0] * (n - 3), atol=1e-13)
        assert variance == pytest.approx(0.7, rel=1e-13)
