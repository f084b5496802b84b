"""Checks of a covariance matrix, and the problem that it poses: the method ``from_covariance`` of ``Problem``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, eigvalsh

from capcore.checks.arguments import finite_array, finite_number

EPS = float(np.finfo(float).eps)
ASYMMETRY = 1e-9  # of the largest entry: below it two entries differ by the rounding of the sums that they are


def _from_covariance(
    cls: Any,
    covariance: Any,
    *,
    target: Any = None,
    cross: Any = None,
    variance: float | None = None,
    nugget: float = 0.0,
) -> Any:
    """The problem of a covariance matrix: see :func:`~capcore.processes.own_covariance.FromCovariance`."""
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


from_covariance: Any = classmethod(_from_covariance)


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
