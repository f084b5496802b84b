"""Curved activations made piecewise linear by tangents, and how many regions a layer of them makes.

Slides, Hu et al. (2020). Neighbouring tangents meet at a knot, and there the error is largest. The tangent at 0 always
belongs to them, as the curve turns from convex to concave there: without it the tangents at ±a next to 0 are parallel,
and never meet. One layer cuts its input space by families of parallel hyperplanes: a unit of k pieces by k − 1 of them.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from chapters.shared.complexity.activations import Activation, piecewise

CURVES = ("logistic", "tanh")
COARSEST = float(1 - np.tanh(1))
"""Tolerance (tanh) from which on the tangent at 0 and the two asymptotes are enough: they make hard-tanh."""
FAR = 18.0  # beyond it tanh is 1 in double precision


@lru_cache(maxsize=256)
def tangent_activation(name: str, error: float) -> Activation:
    """The activation made of the fewest tangents within ``error`` of a curved one everywhere, the one at 0 among them.

    From 0 outwards every knot is put as far as the tolerance lets it, and the next tangent made to meet it there,
    until the asymptote, a tangent at infinity, is close enough.

    Parameters
    ----------
    name : "tanh" or "logistic".
    error : largest distance from the curve, at least 1e-9.

    >>> rough = tangent_activation("tanh", 0.3)
    >>> [round(kink, 6) for kink in rough.kinks], len(tangent_activation("tanh", 0.03).pieces)
    ([-1.0, 1.0], 9)
    """
    if name == "tanh":
        return piecewise(f"tangents of tanh, error {error:g}", *_odd(*_upper_tangents(error)))
    kinks, pieces = _odd(*_upper_tangents(2 * error))  # the logistic function is ½ + ½ tanh(z/2)
    return piecewise(
        f"tangents of logistic, error {error:g}",
        tuple(2 * kink for kink in kinks),
        tuple((slope / 4, 0.5 + intercept / 2) for slope, intercept in pieces),
    )


def restricted(phi: Activation, low: float, high: float) -> Activation:
    """A piecewise linear activation without the kinks outside ``low`` … ``high``: the same function in between.

    >>> len(restricted(tangent_activation("tanh", 0.3), -0.5, 3.0).pieces)
    2
    """
    first, last = np.searchsorted(phi.kinks, low, "right"), np.searchsorted(phi.kinks, high, "left")
    last = max(first, last)
    return piecewise(phi.name, phi.kinks[first:last], phi.pieces[first : last + 1])


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


def curve_complexity(pieces: Sequence[np.ndarray], n_inputs: int) -> float:
    """d Σ_i log(Σ_j k_ij − m_i + 1), in nats: the logarithm of an upper bound on the number of linear regions.

    Slides, Hu et al. (2020). On a line (d = 1) and with one layer it is the number itself, if every knot is crossed.

    Parameters
    ----------
    pieces : for every hidden layer i the (m_i,) numbers k_ij of pieces of its units' activations.
    n_inputs : d.

    >>> round(curve_complexity([np.array([3, 3])], 2), 3)  # 25; two pairs of parallel lines make 9 regions
    3.219
    """
    return n_inputs * math.fsum(math.log(int(np.sum(layer)) - len(layer) + 1) for layer in pieces)


def one_layer_regions(pieces: np.ndarray, n_inputs: int) -> int:
    """Regions of R^d that one layer of units with (m,) ``pieces`` makes in general position, exactly.

    Σ_{s ≤ d} e_s(k_1 − 1, …, k_m − 1), e_s the elementary symmetric polynomials: every set of at most d hyperplanes of
    different units meets once. With two pieces each it is Zaslavsky's 1 + m + C(m, 2) in the plane.

    >>> one_layer_regions(np.array([2, 2, 2]), 2), one_layer_regions(np.array([3, 3]), 2)
    (7, 9)
    """
    coefficients = np.ones(1, dtype=object)  # of Π (1 + (k_j − 1) x), whole numbers of any size
    for k in pieces.tolist():
        coefficients = np.convolve(coefficients, [1, k - 1])
    return int(coefficients[: n_inputs + 1].sum())
