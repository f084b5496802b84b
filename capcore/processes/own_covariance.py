"""A prediction problem given by a covariance matrix: of images, of features, of what is not stationary."""

from __future__ import annotations

from typing import Any

from capcore.fitting.optimum import Problem


def FromCovariance(
    covariance: Any,
    *,
    target: Any = None,
    cross: Any = None,
    variance: float | None = None,
    nugget: float = 0.0,
) -> Problem:
    """The problem of a covariance matrix of any kind, for ``fit`` and ``allocate`` by dense methods and sketches.

    Nothing has to be stationary: the n inputs may be pixels, features, or the samples of a process that changes. Also
    as ``Problem.from_covariance``.

    Parameters
    ----------
    covariance : (n, n) array_like
        Σ of the inputs, lag 0 first where they are lags; with d components per position n·d numbers, position-major.
    target : (n,) array_like, optional
        A*, the coefficients of the best linear prediction.
    cross : (n,) array_like, optional
        Instead of the target, the covariance of each input with what is predicted: A* = Σ⁻¹ cross. Without either
        there is nothing to predict, and v* is None; ``allocate`` needs no more than Σ, and ``fit`` refuses.
    variance : float, optional
        Variance of what is predicted; v* = variance − A*ᵀΣA*. By default what the inputs explain, A*ᵀΣA*: v* is then 0,
        and the ``variance`` of a fit is its excess loss alone.
    nugget : float, default 0.0
        Variance of white noise that is added to every input: makes a singular Σ usable.

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        If Σ is not square, symmetric and positive definite, or numerically singular; if target or cross have another
        length, or both are given; and if the variance is less than what the inputs explain.

    Examples
    --------
    >>> problem = FromCovariance([[2.0, 1.0], [1.0, 2.0]], cross=[1.0, 0.5], variance=1.0)
    >>> problem.target.round(12).tolist(), round(problem.variance, 12)
    ([0.5, 0.0], 0.5)
    """
    return Problem.from_covariance(covariance, target=target, cross=cross, variance=variance, nugget=nugget)
