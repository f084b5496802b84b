"""Damped Gauss–Newton (Levenberg–Marquardt) in its dual form: n × n solves, however many parameters.

With the residual r = R(A − A*), Σ = RᵀR, the damped step is
δW = −Jᵀ Rᵀ (R JJᵀ Rᵀ + μI)⁻¹ r. Only the n × n tangent kernel JJᵀ and products with Jᵀ appear.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from capcore.architectures.base import Architecture

EPS = float(np.finfo(float).eps)
START_DAMPING = 1e-3  # of the largest eigenvalue of R JJᵀ Rᵀ
ROUNDING = 1e-24  # a loss this far below its scale carries only rounding


class Minimum(NamedTuple):
    """Where a minimiser stopped: parameters, loss after every iteration, and why it stopped."""

    params: np.ndarray
    history: list[float]
    converged: bool
    message: str


def minimise_gauss_newton(
    arch: Architecture,
    target: np.ndarray,
    root: np.ndarray,
    params: np.ndarray,
    max_iterations: int = 1000,
    tolerance: float = 1e-16,
    floor: float = 1e-28,
    rebalance: Callable[[np.ndarray], np.ndarray] | None = None,
    callback: Callable[[float], None] | None = None,
) -> Minimum:
    """Minimise ‖R(A(W) − A*)‖² over the parameters.

    Parameters
    ----------
    target : (n,) A*. root : (n, n) R. params : (n_params,) the start.
    max_iterations : steps tried, accepted or not.
    tolerance : stop when the undamped Gauss–Newton step would lower the loss by less than this share of it
        (the square of Bates & Watts' relative offset).
    floor : stop when the loss is below this share of ‖RA*‖² (of the first loss if that is zero): the target is attained
        to rounding.
    rebalance : maps parameters to better-conditioned ones with the same coefficients; called after 20,
        then 30, 40, … iterations. Without it random starts crawl along valleys where only the scales of the
        layers change, which can be mistaken for local optima.

    A start where the whole Jacobian vanishes (two layers of zeros, say) is a saddle that no step leaves: it
    counts as not converged.

    When no damped step lowers the loss any more, the loss has reached what double precision can resolve:
    that counts as converged if no more than its rounding is left to gain, and as stalled otherwise.
    Each iteration costs one eigendecomposition of R JJᵀ Rᵀ, shared by all the dampings it tries.
    """

    def residual(w: np.ndarray) -> np.ndarray:
        return root @ (arch.coefficients(w) - target)

    r = residual(params)
    loss = float(r @ r)
    history = [loss]
    scale = float(np.sum(np.square(root @ target))) or loss  # a target of zeros has no scale of its own
    damping, growth, reachable = 0.0, 2.0, loss
    eigen: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    pause, next_rebalance = 20, 20
    for iteration in range(max_iterations):
        if loss <= floor * scale:
            return Minimum(params, history, True, "target attained: the loss is at the rounding floor")
        if rebalance is not None and iteration == next_rebalance:
            params, eigen, damping = rebalance(params), None, 0.0
            r = residual(params)
            loss = float(r @ r)
            pause += 10
            next_rebalance += pause
        if eigen is None:
            values, vectors = eigh(root @ arch.tangent_kernel(params) @ root.T, check_finite=False)
            values = np.maximum(values, 0.0)
            eigen = values, vectors, vectors.T @ r
            if values[-1] == 0:
                return Minimum(params, history, False, "stuck: the Jacobian is zero there; start somewhere else")
            genuine = values > 10 * values[-1] * EPS * values.size
            reachable = float(np.sum(np.square(eigen[2][genuine])))
            if reachable <= tolerance * loss:
                return Minimum(params, history, True, "stationary: the relative offset is below its tolerance")
            damping = damping or START_DAMPING * values[-1]
        values, vectors, projected = eigen
        weights = projected / (values + damping)
        trial = params - arch.vjp(params, root.T @ (vectors @ weights))
        predicted = float(np.sum(np.square(projected)) - np.sum(np.square(damping * weights)))
        finite = np.isfinite(trial).all()
        r_trial = residual(trial) if finite else r
        trial_loss = float(r_trial @ r_trial) if finite else np.inf
        gain = (loss - trial_loss) / predicted if predicted > 0 else -1.0
        if np.isfinite(trial_loss) and gain > 1e-4:
            params, r, loss, eigen = trial, r_trial, trial_loss, None
            damping = max(damping * max(0.1, 1 - (2 * gain - 1) ** 3), EPS**2 * values[-1])
            growth = 2.0
        else:
            damping, growth = damping * growth, growth * 2
            if damping > 1e12 * values[-1]:
                break
        history.append(loss)
        if callback:
            callback(loss)
    else:
        return Minimum(params, history, False, f"stopped after {max_iterations} iterations")
    if loss <= ROUNDING * scale:
        return Minimum(params, history, True, "target attained: the loss is at the rounding floor")
    resolution = 10 * EPS * np.sqrt(scale * loss)  # of the loss, the residual being known to EPS·‖RA*‖
    if reachable <= max(resolution, ROUNDING**0.5 * loss):
        return Minimum(params, history, True, "stationary: no step lowers the loss beyond its rounding")
    return Minimum(params, history, False, "stalled: no damped step lowers the loss any more")
