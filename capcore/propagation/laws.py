"""Closed forms: Green's functions of paper 2's equations.

All are densities or probabilities for one unit of capacity that starts at the origin.
"""

import numpy as np
from scipy.stats import multivariate_normal

from capcore.checks.arguments import finite_array, of_kind, positive_number
from capcore.propagation.generator import LimitCoefficients
from capcore.propagation.matrix import representable


def heat_kernel(x: object, t: float, coefficients: LimitCoefficients) -> np.ndarray:
    """(…) density at x after time t: the kernel of paper 2, Eqs 4 and 22, with the leak of Eq. 16.

    A Gaussian of mean vt and covariance 2Dt, times e^{−αt}; in several dimensions the solution of paper 2, Eq. 28.

    Parameters
    ----------
    x : (…, d) array_like
        Points; (…) in one dimension.
    t : float
        Positive.
    coefficients : LimitCoefficients
        Coefficients with a positive definite diffusion.

    Raises
    ------
    ValueError
        Unless t is positive and D positive definite.

    Examples
    --------
    >>> heat_kernel([0.0], 1.0, LimitCoefficients(4.0, 0.0)).round(10).tolist()
    [0.1410473959]
    """
    of_kind(coefficients, "coefficients", LimitCoefficients)
    t, d = positive_number(t, "t"), len(coefficients.drift)
    points = finite_array(x, "x", tuple(range(9)))
    points = points[..., None] if d == 1 else points
    if points.shape[-1:] != (d,):
        raise ValueError(f"x: found shape {points.shape}, expected {d} coordinates along the last axis.")
    values = np.linalg.eigvalsh(coefficients.diffusion)
    if values[0] <= 0:
        raise ValueError("diffusion: found a direction without any, expected a positive definite matrix for a density.")
    if not all(1e-290 < abs(value) < 1e290 for value in 2 * t * values):
        raise ValueError("t, diffusion: found products beyond 1e±290, near the ends of double precision. Rescale.")
    law = multivariate_normal(coefficients.drift * t, 2 * t * coefficients.diffusion)
    density = np.reshape(np.exp(-coefficients.leak * t) * law.pdf(points), points.shape[:-1])
    return representable(density, "coefficients")
