"""Piecewise linear approximations of curved activations by tangents (slides, Hu et al. 2020).

Neighbouring tangents meet at a knot, and there the error is largest. The tangent at 0 always belongs to them, as the
curve turns from convex to concave there: without it the tangents at ±a next to 0 are parallel, and never meet.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from capcore.complexity.activations import Activation, piecewise
from capcore.validation import finite_number, one_of

CURVES = ("logistic", "sigmoid", "tanh")
COARSEST = float(1 - np.tanh(1))
"""Tolerance (tanh) from which on the tangent at 0 and the two asymptotes are enough: they make hard-tanh."""
FAR = 18.0  # beyond it tanh is 1 in double precision


def tangent_activation(name: str, error: float) -> Activation:
    """The activation made of the fewest tangents within ``error`` of a curved one everywhere, the one at 0 among them.

    From 0 outwards every knot is put as far as the tolerance lets it, and the next tangent made to meet it there,
    until the asymptote, a tangent at infinity, is close enough.

    Parameters
    ----------
    name : "tanh", "logistic" or "sigmoid".
    error : largest distance from the curve, more than 0 and at least 1e-9.

    Raises ``ValueError`` for another activation or a tolerance out of range.

    >>> rough = tangent_activation("tanh", 0.3)
    >>> [round(kink, 6) for kink in rough.kinks], len(tangent_activation("tanh", 0.03).pieces)
    ([-1.0, 1.0], 9)
    """
    name = one_of(name, "activation", CURVES)
    tolerance = finite_number(error, "error")
    if tolerance < 1e-9:
        raise ValueError(f"error: found {tolerance:g}, expected at least 1e-9, a distance between function values.")
    return _tangents(name, tolerance)


def restricted(phi: Activation, low: float, high: float) -> Activation:
    """A piecewise linear activation without the kinks outside ``low`` … ``high``: the same function in between.

    >>> len(restricted(tangent_activation("tanh", 0.3), -0.5, 3.0).pieces)
    2
    """
    first, last = np.searchsorted(phi.kinks, low, "right"), np.searchsorted(phi.kinks, high, "left")
    last = max(first, last)
    return piecewise(phi.name, phi.kinks[first:last], phi.pieces[first : last + 1])


@lru_cache(maxsize=256)
def _tangents(name: str, tolerance: float) -> Activation:
    if name == "tanh":
        return piecewise(f"tangents of tanh, error {tolerance:g}", *_odd(*_upper_tangents(tolerance)))
    kinks, pieces = _odd(*_upper_tangents(2 * tolerance))  # the logistic function is ½ + ½ tanh(z/2)
    return piecewise(
        f"tangents of logistic, error {tolerance:g}",
        tuple(2 * kink for kink in kinks),
        tuple((slope / 4, 0.5 + intercept / 2) for slope, intercept in pieces),
    )


def _upper_tangents(error: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Knots of tanh above 0, and slopes and intercepts of the tangents to their right."""
    knots, slopes, intercepts = [], [], []
    at = 0.0
    while True:
        meets = at + 1 / (1 + np.tanh(at))  # where the tangent reaches the asymptote
        if 1 - np.tanh(meets) <= error or at > FAR:
            break
        knot = float(brentq(lambda z, a=at: _tangent(a, z) - np.tanh(z) - error, at, meets, xtol=1e-13))
        level = _tangent(at, knot)
        if _tangent(FAR, knot) <= level:
            break
        at = float(brentq(lambda a, z=knot, y=level: _tangent(a, z) - y, knot, FAR, xtol=1e-13))
        knots.append(knot)
        slopes.append(_slope(at))
        intercepts.append(_tangent(at, 0.0))
    return np.array([*knots, meets]), np.array([*slopes, 0.0]), np.array([*intercepts, 1.0])


def _odd(
    knots: np.ndarray, slopes: np.ndarray, intercepts: np.ndarray
) -> tuple[tuple[float, ...], tuple[tuple[float, float], ...]]:
    """Kinks and pieces on both sides of the tangent at 0, of slope 1."""
    right = [*zip(slopes.tolist(), intercepts.tolist(), strict=True)]
    left = [(slope, -intercept) for slope, intercept in right[::-1]]
    return (*(-knots[::-1]).tolist(), *knots.tolist()), (*left, (1.0, 0.0), *right)


def _slope(at: float) -> float:
    return float(1 - np.tanh(at) ** 2)


def _tangent(at: float, z: float) -> float:
    """The tangent of tanh at ``at``, evaluated at ``z``."""
    return float(np.tanh(at) + _slope(at) * (z - at))
