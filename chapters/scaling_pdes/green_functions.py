"""The integral forms of paper 2, Eqs 4, 9, 12 and 16, by adaptive quadrature: a second route to solutions by Fourier.

With y = x − √(4Ds) z and s = u² the integrands are smooth, although the heat kernel is not at s = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from scipy.integrate import quad_vec

from capcore.propagation import LimitCoefficients, Segment, evolve, heat_kernel
from capcore.validation import one_of

Density = Callable[[np.ndarray], np.ndarray]

EDGES = ("absorbing", "reflecting", "renormalised")
_STEEPEST = 8.0  # e^{−64} of a Gaussian is below rounding


def two_regions(y: np.ndarray) -> np.ndarray:
    """Capacity of a smooth output at y: 0.9 sech((y + 24)/4) + 0.4 sech((y − 24)/8)."""
    return 0.9 / np.cosh((y + 24) / 4) + 0.4 / np.cosh((y - 24) / 8)


def gaussian_average(values: Density, x: np.ndarray, spread: float) -> np.ndarray:
    """(n,) ∫ e^{−(x−y)²/spread²} values(y) dy/(√π spread) by adaptive quadrature: Eq. 4 with spread = √(4Dt)."""

    def integrand(z: float) -> np.ndarray:
        return np.exp(-(z**2)) / np.sqrt(np.pi) * values(x + spread * z)

    return quad_vec(integrand, -_STEEPEST, _STEEPEST, epsabs=1e-13, epsrel=1e-13)[0]


def edge_law(x: np.ndarray, distance: int, diffusion: float, boundary: str) -> np.ndarray:
    """(n,) heat kernel of an output at ``distance`` from position 0, the first one, with an image behind that edge.

    With zero padding (``absorbing``) the image is negative, about position −1; otherwise positive, about −½.
    """
    flat = LimitCoefficients(np.array([[diffusion]]), np.zeros(1))
    if one_of(boundary, "boundary", EDGES) == "absorbing":
        return heat_kernel(x - distance, 1.0, flat) - heat_kernel(x + distance + 2.0, 1.0, flat)
    return heat_kernel(x - distance, 1.0, flat) + heat_kernel(x + distance + 1.0, 1.0, flat)


def sources_until_now(
    values: Density, x: np.ndarray, diffusion: float, strengths: Sequence[float], t: float = 1.0
) -> np.ndarray:
    """(n,) ∫₀ᵗ ∫ e^{−(x−y)²/(4Ds)}/√(4πDs) strength(t − s) values(y) dy ds: Eqs 9 and 12, divided by L.

    Parameters
    ----------
    strengths : of the source in equal parts of the time from 0 (the output) to t.
    """
    edges = np.sqrt(np.linspace(0, t, len(strengths) + 1))  # of u; s runs backwards through the strengths
    total = np.zeros(x.shape)
    for strength, (low, high) in zip(reversed(strengths), pairwise(edges), strict=True):
        if strength:
            total += (
                strength
                * quad_vec(
                    lambda u: 2 * u * gaussian_average(values, x, 2 * u * np.sqrt(diffusion)), low, high, epsabs=1e-11
                )[0]
            )
    return total


def smooth_source(y: np.ndarray) -> np.ndarray:
    """Capacity of one layer at y: 0.9 sech(y/4)."""
    return 0.9 / np.cosh(np.asarray(y) / 4)


def two_routes(x: np.ndarray, diffusion: float, strengths: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """(n,) its limit by the integral of Eqs 9 and 12, and (n,) by Fourier solution of Eqs 8 and 11."""
    equation = LimitCoefficients(np.array([[diffusion]]), np.zeros(1))
    parts = [Segment(1 / len(strengths), equation, source=strength * smooth_source(x)) for strength in strengths]
    solved = evolve(np.zeros(x.shape), parts).final[:, 0]
    return sources_until_now(smooth_source, x, diffusion, strengths), solved


def leaked_density(x: np.ndarray, diffusion: float, slope: float) -> np.ndarray:
    """(n,) ∫₀¹ α(t) π(t, x) dt for one unit at x = 0 and a growing leak α = slope · t: κ^Y of Eq. 16.

    π is the heat kernel times e^{−slope t²/2}; with t = u² the integrand is smooth.
    """

    def integrand(u: float) -> np.ndarray:
        t = u**2
        if t == 0:
            return np.zeros(x.shape)
        flat = LimitCoefficients(np.array([[diffusion]]), np.zeros(1))
        return 2 * u * slope * t * np.exp(-slope * t**2 / 2) * heat_kernel(x, t, flat)

    return quad_vec(integrand, 0, 1, epsabs=1e-12)[0]
