"""The normalisation of a power law with an exponential cut-off, ∫₁^∞ z^(−α) e^(−u(z−1)) dz, for any real α, and its
maximum likelihood.

SciPy has this integral, e^u E_α(u), for whole α only. With z = e^y it is the integral of exp(−s y − u q(y)), where
s = α − 1 + u and q(y) = e^y − 1 − y, so that two terms are left which are not nearly equal where all y are small.
Its exponent is concave in y: Gauss–Legendre nodes where the integrand matters give it, and the moments of y and q
that Newton's method needs, to near double precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

_NODES, _WEIGHTS = (part / 2 for part in np.polynomial.legendre.leggauss(160))
_NODES += 0.5
_DEPTH = 45.0  # e-folds below the peak at which the integrand is nothing
_SERIES = np.array([1 / math.factorial(k) for k in range(17, 1, -1)])  # of q(y) / y², for y up to 1/2
_STEPS = 100  # of Newton's method, which needs six of them on spectra
_LEAST_SPREAD = 1e-4  # of gaps, in units of their mean


@dataclass(frozen=True)
class _Moments:
    """Of the normalised integrand: its integral's logarithm, means of y and v = u·q(y), the variance of y, the slope
    of v on y, and the variance of v that is left about this line.
    """

    log_norm: float
    gap: float
    cut: float
    variance: float
    tilt: float
    rest: float


def log_normalisation(alpha: float, u: float) -> float:
    """ln ∫₁^∞ z^(−α) e^(−u(z−1)) dz for u > 0 and real α.

    >>> from scipy.special import exp1
    >>> bool(abs(log_normalisation(1.0, 0.3) - np.log(np.exp(0.3) * exp1(0.3))) < 1e-13)
    True
    """
    return _moments(alpha - 1.0 + u, u).log_norm


def fit_cutoff(gaps: np.ndarray, ratios: np.ndarray) -> tuple[float, float, float]:
    """α, u and the normalisation's logarithm that are most likely for ``ratios`` (n,) = exp(``gaps``) (n,); u = 0 for
    a pure power law.

    The negative log-likelihood is convex in (α, u), and Newton's steps are cut short where they would leave u > 0.
    Where its slope at the pure power law points to u < 0, u is 0. Of gaps that are all the same the likelihood rises
    without end; they are fitted as if they had a spread of 10⁻⁴ of their mean.
    """
    gap = float(gaps.mean())
    curve = float(np.mean(_curve(gaps, float(gaps.max()))))
    if gap < 1.0 and curve >= gap**2 / (1.0 - gap) * (1 - 1e-12):  # the mean of q under the pure power law
        return 1.0 + 1.0 / gap, 0.0, math.log(gap)
    curve = max(curve, float(_curve(gap, gap)) + math.exp(gap) * (_LEAST_SPREAD * gap) ** 2 / 2)
    variance = max(float(gaps.var()), (_LEAST_SPREAD * gap) ** 2)
    if variance < gap**2 / 2:  # a hump away from x_min, begun as a normal law
        u = math.exp(-gap) / variance
        slope = -u * math.expm1(gap)
    else:
        u = 0.5 / float((ratios - 1.0).mean())
        slope = max(u - 0.5, 0.0)
    here = _moments(slope, u)
    for _ in range(_STEPS):
        step, gain, whole = _newton_step(here, u, gap, curve)
        size = 1.0
        while True:
            at = slope + size * step[0], u + size * step[1]
            there = _moments(*at)
            fall = here.log_norm - there.log_norm - size * (step[0] * gap + step[1] * curve)
            if gain < 1e-8 or fall >= 0.1 * size * gain or size < 1e-8:
                break
            size /= 4
        (slope, u), here = at, there
        if gain < (1e-14 if whole else 1e-20):  # Newton's own convergence is quadratic, that towards u = 0 is linear
            break
    return 1.0 + slope - u, u, here.log_norm


def _newton_step(here: _Moments, u: float, gap: float, curve: float) -> tuple[tuple[float, float], float, bool]:
    """Step in (s, u) that minimises the quadratic model of the loss among those that leave a twentieth of u; how much
    the loss falls with it to first order; and whether it is Newton's own.
    """
    down, across = here.gap - gap, here.cut - u * curve  # minus the slopes of the loss in s and in ln u
    newton = (across - here.tilt * down) / here.rest
    change = max(newton, -0.95)
    step = down / here.variance - here.tilt * change
    return (step, u * change), down * step + across * change, change == newton


def _moments(slope: float, u: float) -> _Moments:
    """Of the integrand with s = ``slope``; between the places where it has fallen by ``_DEPTH``."""
    peak = math.log1p(-slope / u) if slope < 0 else 0.0
    top = -slope * peak - u * float(_curve(peak, peak))
    level = top - _DEPTH
    low = _edge(0.0, slope, u, level) if level > 0 else 0.0
    reach = _DEPTH / (u * math.exp(peak))  # beyond the peak the exponent falls by u e^peak q(y − peak) or more
    high = peak + math.log1p(math.sqrt(2 * reach) + reach)
    high = _edge(min(high, _DEPTH / slope) if slope > 0 else high, slope, u, level)
    y = low + (high - low) * _NODES
    v = u * _curve(y, high)
    weights = _WEIGHTS * np.exp(-slope * y - v - top)
    total = float(weights.sum())
    weights /= total
    gap, cut = float(weights @ y), float(weights @ v)
    y -= gap
    v -= cut
    weighted = weights * y
    variance = float(weighted @ y)
    tilt = float(weighted @ v) / variance
    v -= tilt * y
    return _Moments(top + math.log(total * (high - low)), gap, cut, variance, tilt, float(weights @ v**2))


def _edge(y: float, slope: float, u: float, level: float) -> float:
    """Where the exponent is at ``level``, from outside: as it is concave, Newton's method does not step across."""
    for _ in range(4):
        rise = u * math.expm1(y)
        y -= (slope * y + rise - u * y + level) / (slope + rise)
    return y


def _curve(y: np.ndarray | float, largest: float) -> np.ndarray | float:
    """q(y) = e^y − 1 − y for 0 ≤ y ≤ ``largest``, without cancellation where these are small."""
    return y * y * np.polyval(_SERIES, y) if largest < 0.5 else np.expm1(y) - y
