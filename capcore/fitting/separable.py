"""Least squares in which some parameters enter linearly: eliminate these, and search only the others.

Variable projection (Golub & Pereyra, 1973), with the Jacobian of the projected residual in Kaufman's form (1975).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import svd
from scipy.optimize import least_squares

EPS = float(np.finfo(float).eps)
Columns = Callable[[np.ndarray], tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]]
"""Searched s (k,) → columns (n, c), and the map from w (c,) to the derivative (n, k) of columns @ w in s."""


def best_weights(columns: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least-squares weights of columns (n, c) for values (n,), the residual (n,), and an orthonormal basis (n, r).

    Columns are scaled first; singular values below 4ε of the largest are dropped, so that merged poles cost nothing.
    """
    norms = np.linalg.norm(columns, axis=0)
    norms[norms == 0] = 1.0
    u, s, vt = svd(columns / norms, full_matrices=False, check_finite=False)
    counted = s > 4 * EPS * s[0]
    u, s, vt = u[:, counted], s[counted], vt[counted]
    weights = (vt.T @ ((u.T @ values) / s)) / norms
    return weights, values - u @ (u.T @ values), u


class Projection(NamedTuple):
    """Where a search stopped: searched parameters (k,), best weights (c,), loss at each evaluation, and why."""

    searched: np.ndarray
    weights: np.ndarray
    losses: list[float]
    converged: bool
    message: str


def minimise_projected(
    columns: Columns,
    goal: np.ndarray,
    start: np.ndarray,
    bounds: tuple[object, object],
    max_iterations: int = 100,
    callback: Callable[[float], None] | None = None,
) -> Projection:
    """A local minimum of ‖columns(s) w − goal‖² over s and w, from the given s (k,), with the best w (c,) for each s.

    Parameters
    ----------
    columns : callable
        See :data:`Columns`.
    goal : (n,) array
    start : (k,) array
        s at the start.
    bounds : tuple
        Smallest and largest s.
    max_iterations : int
        Largest number of evaluations of the loss.

    Examples
    --------
    >>> line = lambda s: (np.array([[1.0], s]), lambda w: np.array([[0.0], w]))  # the direction (1, s)
    >>> minimum = minimise_projected(line, np.array([2.0, 6.0]), np.array([0.5]), (-9.0, 9.0))
    >>> round(float(minimum.searched[0]), 6), round(float(minimum.weights[0]), 6)
    (3.0, 2.0)
    """
    losses: list[float] = []

    def residual(s: np.ndarray) -> np.ndarray:
        rest = best_weights(columns(s)[0], goal)[1]
        losses.append(float(rest @ rest))
        if callback is not None:
            callback(min(losses))
        return rest

    def jacobian(s: np.ndarray) -> np.ndarray:
        matrix, steer = columns(s)
        weights, _, u = best_weights(matrix, goal)
        steered = steer(weights)
        return u @ (u.T @ steered) - steered

    with np.errstate(over="ignore", invalid="ignore"):
        result = least_squares(
            residual,
            start,
            jacobian,
            bounds=bounds,
            x_scale="jac",
            xtol=1e-13,
            ftol=1e-13,
            gtol=1e-15,
            max_nfev=max(max_iterations, 1),
        )
        weights = best_weights(columns(result.x)[0], goal)[0]
    return Projection(result.x, weights, losses, result.status > 0, str(result.message))
