"""Closed forms: Green's functions of paper 2's equations, and how recurrent networks forget.

All are densities or probabilities for one unit of capacity that starts at the origin.
"""

import numpy as np
from scipy.special import erfc
from scipy.stats import multivariate_normal

from capcore.checks.arguments import finite_array, of_kind, positive_integer, positive_number
from capcore.propagation.generator import LimitCoefficients
from capcore.propagation.layers import check_leak
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
    _within_range(2 * t * values, "t, diffusion")
    law = multivariate_normal(coefficients.drift * t, 2 * t * coefficients.diffusion)
    density = np.reshape(np.exp(-coefficients.leak * t) * law.pdf(points), points.shape[:-1])
    return representable(density, "coefficients")


def source_kernel(x: object, t: float, diffusion: float) -> np.ndarray:
    """(…) density of a steady unit source at the origin after time t: paper 2, Eqs 9 and 12, with κ = δ/L.

    √(t/(πD)) e^{−x²/(4Dt)} − |x|/(2D) erfc(|x|/√(4Dt)), in one dimension, without drift and leak.

    Parameters
    ----------
    x : (…) array_like
        Points.
    t, diffusion : float
        Positive.

    Examples
    --------
    >>> source_kernel([0.0], 1.0, 4.0).round(10).tolist()
    [0.2820947918]
    """
    t, diffusion = positive_number(t, "t"), positive_number(diffusion, "diffusion")
    distance = np.abs(finite_array(x, "x", (0, 1, 2, 3)))
    _within_range(np.array([t * diffusion, t / diffusion, diffusion / t]), "t, diffusion")
    spread = np.sqrt(4 * diffusion * t)
    gaussian = np.sqrt(t / (np.pi * diffusion)) * np.exp(-((distance / spread) ** 2))
    return gaussian - distance / (2 * diffusion) * erfc(distance / spread)


def forgetting(alpha: float, n_steps: int) -> np.ndarray:
    """(n_steps,) capacity of the side input k steps back, in N steps with leak α/N each: (α/N)(1 − α/N)^k.

    This is the share of side inputs in paper 2, Eq. 30, before its limit. The initial state has the rest, (1 − α/N)^N.
    In the limit of many steps the half-life is N ln 2/α.

    Parameters
    ----------
    alpha : float
        α, from 0 to N.
    n_steps : int
        N, at least 1.

    Raises
    ------
    ValueError
        Unless 0 ≤ α ≤ N.

    Examples
    --------
    >>> forgetting(2.0, 4).tolist()
    [0.5, 0.25, 0.125, 0.0625]
    """
    n_steps, alpha = positive_integer(n_steps, "n_steps"), check_leak(alpha, "alpha")
    if alpha > n_steps:
        raise ValueError(f"alpha: found {alpha:g}, expected at most {n_steps}, one per step.")
    leak = alpha / n_steps
    return leak * (1 - leak) ** np.arange(n_steps)


def _within_range(values: np.ndarray, name: str) -> None:
    """Refuse products so large or so small that some or all of their digits are lost."""
    if not all(1e-290 < abs(value) < 1e290 for value in values):
        raise ValueError(f"{name}: found products beyond 1e±290, near the ends of double precision. Rescale.")
