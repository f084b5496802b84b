"""A prediction problem given by a covariance matrix: of images, of features, of what is not stationary.

:class:`~capcore.optimum.Problem` takes its method ``from_covariance`` from here, which is ``capcore.FromCovariance``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, eigvalsh

from capcore.validation import finite_array, finite_number

EPS = float(np.finfo(float).eps)
ASYMMETRY = 1e-9  # of the largest entry: below it two entries differ by the rounding of the sums that they are


def FromCovariance(
    cls: Any,
    covariance: Any,
    *,
    target: Any = None,
    cross: Any = None,
    variance: float | None = None,
    nugget: float = 0.0,
) -> Any:
    """The problem of a covariance matrix of any kind, for ``fit`` and ``allocate`` by dense methods and sketches.

    Nothing has to be stationary: the n inputs may be pixels, features, or the samples of a process that changes. Also
    as ``Problem.from_covariance``.

    Parameters
    ----------
    cls : type
        Problem; it comes by itself, as both names are of a class method.
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
    >>> from capcore import FromCovariance
    >>> problem = FromCovariance([[2.0, 1.0], [1.0, 2.0]], cross=[1.0, 0.5], variance=1.0)
    >>> problem.target.round(12).tolist(), round(problem.variance, 12)
    ([0.5, 0.0], 0.5)
    """
    sigma = _checked(covariance, finite_number(nugget, "nugget", "a variance of at least 0"))
    root = cholesky(sigma)
    if target is not None and cross is not None:
        raise ValueError("target, cross: found both, expected one of them: the target is Σ⁻¹ cross.")
    if target is None and cross is None:
        if variance is not None:
            raise ValueError("variance: found one of nothing, expected cross=… or target=… beside it.")
        problem = cls(np.zeros(len(sigma)), sigma, root, 0.0)
        object.__setattr__(problem, "variance", None)  # by which a fit knows that there is nothing to predict
        return problem
    given, name = (cross, "cross") if target is None else (target, "target")
    vector = finite_array(given, name, 1)
    if vector.size != len(sigma):
        raise ValueError(f"{name}: found {vector.size} values, expected {len(sigma)}, one for each input.")
    solution = cho_solve((root, False), vector) if target is None else vector
    with np.errstate(over="ignore", invalid="ignore"):
        explained = float(np.sum(np.square(root @ solution)))
    if not (np.isfinite(solution).all() and explained <= 1e150):
        raise ValueError(
            f"{name}: found values of up to {np.abs(vector).max():.1e}, expected ones whose squares stay below 1e150. "
            "Measure in other units."
        )
    total = explained if variance is None else finite_number(variance, "variance", "a positive number")
    if total < explained * (1 - 1e-8):
        raise ValueError(
            f"variance: found {total:g}, expected at least {explained:g}, which the inputs explain: no variables have "
            f"this covariance, {name} and variance. Check that they are in the same units and the same order."
        )
    return cls(solution, sigma, root, max(total - explained, 0.0))


from_covariance: Any = classmethod(FromCovariance)


def _checked(covariance: Any, nugget: float) -> np.ndarray:
    """(n, n) Σ plus the nugget, exactly symmetric; raises if it is no covariance or numerically singular."""
    sigma = finite_array(covariance, "covariance", 2)
    n = len(sigma)
    if sigma.shape != (n, n):
        raise ValueError(f"covariance: found a matrix of shape {sigma.shape}, expected a square one.")
    if nugget < 0:
        raise ValueError(f"nugget: found {nugget!r}, expected a variance of at least 0.")
    scale = float(np.abs(sigma).max())
    if not 1e-150 <= scale <= 1e150:
        raise ValueError(
            f"covariance: found a largest entry of {scale:.1e}, expected one between 1e-150 and 1e150: its squares "
            "leave double precision. Measure the inputs in other units."
        )
    gap = np.abs(sigma - sigma.T)
    if gap.max() > ASYMMETRY * scale:
        i, j = (int(k) for k in np.unravel_index(np.argmax(gap), gap.shape))
        raise ValueError(
            f"covariance: found {sigma[i, j]:g} at {(i, j)} and {sigma[j, i]:g} at {(j, i)}, expected a symmetric "
            "matrix. Symmetrise it: (sigma + sigma.T) / 2, if the difference means nothing."
        )
    sigma = (sigma + sigma.T) / 2 + nugget * np.eye(n)
    values = eigvalsh(sigma)
    if values[0] < -n * EPS * values[-1]:
        raise ValueError(
            f"covariance: found the eigenvalue {values[0]:.3g} beside a largest one of {values[-1]:.3g}, expected none "
            f"below 0: no variables have this covariance. Estimate it from one complete sample, or add white noise: "
            f"nugget={-2 * values[0]:.1g}."
        )
    if values[-1] * n * EPS > values[0]:
        raise ValueError(
            f"covariance: numerically singular. Found eigenvalues from {values[0]:.1e} to {values[-1]:.1e}, expected a "
            f"ratio below {1 / (n * EPS):.1e}: some inputs are combinations of others. Leave those out, or add white "
            f"noise: nugget={1e-6 * np.trace(sigma) / n:.1g}."
        )
    return sigma
