"""Symmetric Toeplitz systems: the Levinson–Durbin recursion, and its inverse.

The recursion runs over the order k = 1, 2, … of the predictor; at every order it yields the best
linear predictor of the next sample from the last k, its error variance and the reflection coefficient.
"""

from typing import NamedTuple

import numpy as np


class LevinsonResult(NamedTuple):
    """Outcome of :func:`levinson_durbin`.

    Attributes
    ----------
    predictor : (n,) array
        Coefficients of the predictor of order n, lag 0 (the most recent sample) first.
    variances : (n + 1,) array
        Prediction-error variance at orders 0, 1, …, n (order 0 is c_0).
    reflections : (n,) array
        Reflection coefficients (partial autocorrelations) at orders 1, …, n.
    """

    predictor: np.ndarray
    variances: np.ndarray
    reflections: np.ndarray


def levinson_durbin(autocovariance: np.ndarray) -> LevinsonResult:
    """Best linear predictors of a stationary process, of every order up to n, in O(n²).

    The recursion stops early, with shorter ``variances`` and ``reflections``, at the first order where
    the error variance is not positive: the sequence is then not positive definite, and it is for the
    caller to refuse it.

    Source: Levinson (1946), Durbin (1960); paper 1, Eq. 31, is the system it solves.

    Parameters
    ----------
    autocovariance : (n + 1,) array
        The sequence c_0, …, c_n.

    Examples
    --------
    >>> levinson_durbin(np.array([1.0, 0.5, 0.25])).predictor.round(12)
    array([0.5, 0. ])
    """
    c = np.asarray(autocovariance, dtype=float)
    predictor, variances, reflections = np.zeros(0), [c[0]], np.zeros(0)
    for k in range(c.size - 1):
        if not variances[-1] > 0:
            break
        reflection = (c[k + 1] - predictor @ c[k:0:-1]) / variances[-1]
        predictor = np.append(predictor - reflection * predictor[::-1], reflection)
        reflections = np.append(reflections, reflection)
        variances.append(variances[-1] * (1.0 - reflection) * (1.0 + reflection))
    return LevinsonResult(predictor, np.array(variances), reflections)


def condition_bound(autocovariance: np.ndarray, predictor: np.ndarray, variance: float) -> float:
    """Lower bound ‖Σ‖₁ · ‖first column of Σ⁻¹‖₁ on the condition number of the Toeplitz matrix Σ, in the 1-norm.

    The first column of Σ⁻¹ is (1, −predictor)/variance.

    Parameters
    ----------
    autocovariance : (n + 1,) array
        First column of Σ.
    predictor : (n,) array
        Of order n.
    variance : float
        Its error variance.

    Examples
    --------
    >>> condition_bound(np.array([1.0, 0.5]), np.array([0.5]), 0.75)
    3.0
    """
    sums = np.cumsum(np.abs(autocovariance))
    # Column j of Σ holds the lags 0 … j on one side of the diagonal and 0 … n − j on the other.
    norm = (sums + sums[::-1]).max() - sums[0]
    return float(norm * (1 + np.abs(predictor).sum()) / variance)


def reflection_coefficients(predictor: np.ndarray) -> np.ndarray:
    """Reflection coefficients of a linear predictor, by the recursion run downwards (step-down).

    Parameters
    ----------
    predictor : (n,) array
        Coefficients, lag 0 first.

    Returns
    -------
    (n,) array
        Reflection coefficients at orders 1, …, n. The model y_{t+1} = Σ a_i y_{t−i} + noise is stable if and only if
        all of them lie strictly between −1 and 1. When one does not, the entries of the orders below it are NaN (they
        are undefined, and not needed: the model is unstable).

    Examples
    --------
    >>> reflection_coefficients(np.array([0.5, 0.0])).tolist()
    [0.5, 0.0]
    """
    a = np.array(predictor, dtype=float)
    reflections = np.full(a.size, np.nan)
    for k in range(a.size - 1, -1, -1):
        reflection = reflections[k] = a[k]
        if not abs(reflection) < 1.0:
            break
        a = (a[:k] + reflection * a[:k][::-1]) / ((1.0 - reflection) * (1.0 + reflection))
    return reflections


def autocovariance_from_predictor(predictor: np.ndarray, variance: float, n: int) -> np.ndarray:
    """Autocovariance of the autoregressive process with these coefficients and noise variance.

    That is paper 1, Eq. 31, reversed, as Appendix B.1 asks.

    Parameters
    ----------
    predictor : (m,) array
        Coefficients of a *stable* model, lag 0 first.
    variance : float
        Variance of the driving noise.
    n : int
        Number of lags wanted.

    Returns
    -------
    (n,) array
        c_0, …, c_{n−1}: up to lag m they solve the Yule–Walker equations, and the model's own recursion continues them.
    """
    m = predictor.size
    lags = np.arange(m + 1)
    system = np.eye(m + 1)  # c_k − Σ_i a_i c_|k−1−i| = v at k = 0, and 0 at k = 1 … m
    np.subtract.at(system, (lags[:, None], np.abs(lags[:, None] - 1 - lags[:m])), predictor)
    c = np.append(np.linalg.solve(system, variance * (lags == 0)), np.zeros(max(n - m - 1, 0)))
    for k in range(m, n - 1):
        c[k + 1] = predictor @ c[k - m + 1 : k + 1][::-1]
    return c[:n]
