"""Damped Gauss–Newton (Levenberg–Marquardt) in its dual form: n × n solves, however many parameters.

With the residual r = R(A − A*), Σ = RᵀR, the damped step is
δW = −Jᵀ Rᵀ (R JJᵀ Rᵀ + μI)⁻¹ r. Only the n × n tangent kernel JJᵀ and products with Jᵀ appear.

In narrow curved valleys, where the search in deep stacks spends most of its steps, straight steps must be short.
Geodesic acceleration (Transtrum & Sethna 2012) bends them: it adds half of −Jᵀ Rᵀ (R JJᵀ Rᵀ + μI)⁻¹ r̈,
where r̈ is the second derivative of the residual along the step. It costs two more evaluations of the coefficients and
no decomposition. Such valleys lie along singular values of RJ that are a millionth of the largest or less, and whose
squares are lost in rounding; with acceleration the singular value decomposition of RJ itself is therefore used.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, svd

from capcore.architectures.base import Architecture, Product
from capcore.checks.arguments import counted

EPS = float(np.finfo(float).eps)
START_DAMPING = 1e-3  # of the largest eigenvalue of R JJᵀ Rᵀ
ROUNDING = 1e-24  # a loss this far below its scale carries only rounding
SHARE = 0.1  # of the step: the distance over which its second derivative is taken
REBALANCED = {5 * k * (k + 3) for k in range(1, 1000)}  # iterations: after 20, then 30, 40, … more
BEND = 0.75  # largest accepted ratio of twice the acceleration to the step


ATTAINED = "target attained: the loss is at the rounding floor"


class Decomposition(NamedTuple):
    """R JJᵀ Rᵀ at given parameters: eigenvalues, eigenvectors (columns), the map w ↦ (RJ)ᵀ · eigenvectors · w to the
    parameters, and which parts of the residual are reachable, given its projection onto the eigenvectors."""

    values: np.ndarray
    vectors: np.ndarray
    pull: Product
    reachable: Callable[[np.ndarray], float]


def decompose_kernel(arch: Architecture, root: np.ndarray, params: np.ndarray) -> Decomposition:
    """From the n × n tangent kernel, for any number of parameters; loses singular values below √eps of the largest."""
    values, vectors = eigh(root @ arch.tangent_kernel(params) @ root.T, check_finite=False)
    values = np.maximum(values, 0.0)
    _, pullback = arch.linearise(params)
    genuine = values > 10 * values[-1] * EPS * values.size

    def reachable(projected: np.ndarray) -> float:
        return float(np.sum(np.square(projected[genuine])))

    return Decomposition(values, vectors, lambda w: pullback(root.T @ (vectors @ w)), reachable)


def decompose_jacobian(arch: Architecture, root: np.ndarray, params: np.ndarray) -> Decomposition:
    """From the singular values of RJ (n × p), accurate to eps of the largest.

    Some of them may tend to zero at a singular optimum, where moving along them gains nothing. So the reachable part is
    what the step damped by (‖projected‖/‖W‖)² would remove; this step is no longer than half the parameters.
    """
    u, s, vt = svd(root @ arch.jacobian(params), full_matrices=False, check_finite=False)
    u, s, vt = u[:, ::-1], s[::-1], vt[::-1]

    def reachable(projected: np.ndarray) -> float:
        damping = float(projected @ projected) / float(params @ params)
        return float(np.sum(np.square(projected) - np.square(damping / (np.square(s) + damping) * projected)))

    return Decomposition(np.square(s), u, lambda w: vt.T @ (s * w), reachable)


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
    acceleration: bool = False,
    rebalance: Product | None = None,
    callback: Callable[[float], None] | None = None,
) -> Minimum:
    """Minimise ‖R(A(W) − A*)‖² over the parameters: paper 1, Eq. 15.

    A start where the whole Jacobian vanishes (two layers of zeros, say) is a saddle that no step leaves: it
    counts as not converged.

    When no damped step lowers the loss any more, the loss has reached what double precision can resolve:
    that counts as converged if no more than rounding can be gained, and as stalled otherwise.
    Each accepted step costs one decomposition (of R JJᵀ Rᵀ, or of RJ), which all dampings tried from there share.

    Parameters
    ----------
    arch : Architecture
    target : (n,) array
        A*.
    root : (n, n) array
        R.
    params : (n_params,) array
        The start.
    max_iterations : int
        Steps tried, accepted or not.
    tolerance : float
        Stop when the undamped Gauss–Newton step would lower the loss by less than this share of it (the square of Bates
        & Watts' relative offset); with acceleration, a step no longer than half the parameters.
    floor : float
        Stop when the loss is below this share of ‖RA*‖² (of the first loss if that is zero): the target is attained up
        to rounding.
    acceleration : bool
        Bend the steps by their second derivative (geodesic acceleration), and decompose RJ itself instead of the
        tangent kernel: for models with at most a few thousand parameters.
    rebalance : callable, optional
        Maps parameters to better-conditioned ones with the same coefficients; called after 20, then 30, 40, …
        iterations. Without it random starts crawl along valleys where only the scales of the layers change, which can
        be mistaken for local optima.
    """

    def residual(w: np.ndarray) -> np.ndarray:
        return root @ (arch.coefficients(w) - target)

    def bend(step: np.ndarray, local: Decomposition) -> np.ndarray:
        """Half the geodesic acceleration along ``step``."""
        ahead, behind = (residual(params + sign * SHARE * step) for sign in (1, -1))
        second = (ahead - 2 * r + behind) / SHARE**2
        return -0.5 * local.pull((local.vectors.T @ second) / (local.values + damping))

    r = residual(params)
    loss = float(r @ r)
    history = [loss]
    scale = float(np.sum(np.square(root @ target))) or loss  # a target of zeros has no scale of its own
    damping, growth, reachable = 0.0, 2.0, loss
    decompose = decompose_jacobian if acceleration else decompose_kernel
    local = None
    projected = r
    for iteration in range(max_iterations):
        if loss <= floor * scale:
            return Minimum(params, history, True, ATTAINED)
        if rebalance is not None and iteration in REBALANCED:
            params, local, damping = rebalance(params), None, damping if acceleration else 0.0
            r = residual(params)
            loss = float(r @ r)
        if local is None:
            local = decompose(arch, root, params)
            projected = local.vectors.T @ r
            if local.values[-1] == 0:
                return Minimum(params, history, False, "stuck: the Jacobian is zero there; start somewhere else")
            reachable = local.reachable(projected) if projected.any() else 0.0
            if reachable <= tolerance * loss:
                return Minimum(params, history, True, "stationary: the relative offset is below its tolerance")
            damping = damping or START_DAMPING * local.values[-1]
        weights = projected / (local.values + damping)
        step = -local.pull(weights)
        predicted = float(np.sum(np.square(projected)) - np.sum(np.square(damping * weights)))
        bent = bend(step, local) if acceleration else np.zeros_like(step)
        trial = params + step + bent
        usable = np.isfinite(trial).all() and np.linalg.norm(bent) <= BEND / 2 * np.linalg.norm(step)
        r_trial = residual(trial) if usable else r
        trial_loss = float(r_trial @ r_trial) if usable else np.inf
        gain = (loss - trial_loss) / predicted if predicted > 0 else -1.0
        if np.isfinite(trial_loss) and gain > 1e-4:
            params, r, loss = trial, r_trial, trial_loss
            damping = max(damping * max(0.1, 1 - (2 * gain - 1) ** 3), EPS**2 * local.values[-1])
            local = None
            growth = 2.0
        else:
            damping, growth = damping * growth, growth * 2
            if damping > 1e12 * local.values[-1]:
                break
        history.append(loss)
        if callback:
            callback(loss)
    else:
        return Minimum(params, history, False, f"stopped after {counted(max_iterations, 'iteration')}")
    if loss <= ROUNDING * scale:
        return Minimum(params, history, True, ATTAINED)
    resolution = 10 * EPS * np.sqrt(scale * loss)  # of the loss, the residual being known to EPS·‖RA*‖
    if reachable <= max(resolution, ROUNDING**0.5 * loss):
        return Minimum(params, history, True, "stationary: no step lowers the loss beyond its rounding")
    return Minimum(params, history, False, "stalled: no damped step lowers the loss any more")
