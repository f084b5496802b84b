"""From a trained network to an optimum, where capacity is defined: train until the gradient vanishes up to rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from capcore.checks.memory import arrays, fits, too_large
from capcore.networks.problem import NetworkProblem
from capcore.results.notebook import as_table

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Polished:
    """Parameters at an optimum, with measures of its quality.

    Attributes
    ----------
    params : object
        The pytree in which they were given.
    loss_value : float
        L(θ), including R.
    gradient_norm : float
    smallest_eigenvalue : float
        Smallest eigenvalue of the Hessian there: negative at a saddle.
    converged : bool
        Whether the gradient reached ``gtol`` at a point where no curvature is negative beyond rounding.
    n_steps : int
        Newton steps taken.
    """

    params: Any = field(repr=False)
    loss_value: float
    gradient_norm: float
    smallest_eigenvalue: float
    converged: bool
    n_steps: int

    _repr_html_ = as_table


def polish(
    apply: Callable[[Any, Any], Any],
    params: Any,
    inputs: object,
    targets: object,
    *,
    loss: str = "squared",
    weight_decay: Any = 0.0,
    gtol: float = 1e-9,
    max_steps: int = 200,
    lbfgs_steps: int = 2000,
) -> Polished:
    """Find the optimum near trained parameters: L-BFGS, then saddle-free Newton steps with the whole Hessian.

    A step uses the sizes of the Hessian's eigenvalues (Dauphin et al., 2014), damped until it lowers the loss. It suits
    a few thousand parameters and a smooth network: the gradient of a piecewise linear one jumps.

    Parameters
    ----------
    apply, params, inputs, targets, loss, weight_decay : object
        As for :func:`~capcore.networks.allocation.allocate_network`.
    gtol : float, default 1e-9
        Gradient norm to reach, relative to 1 or the loss if that is larger.
    max_steps : int, default 200
        Largest number of Newton steps.
    lbfgs_steps : int, default 2000
        Largest number of L-BFGS steps before them.

    Returns
    -------
    Polished

    Raises
    ------
    ValueError
        If an argument cannot be used.
    TooLargeError
        If the Hessian would not fit into memory.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 20)[:, None]
    >>> found = polish(lambda w, x: x @ w, np.zeros(1), x, 3 * x[:, 0], weight_decay=0.1)
    >>> found.converged, bool(found.gradient_norm < 1e-9)
    (True, True)
    """
    problem = NetworkProblem.of(apply, params, inputs, targets, loss, weight_decay)
    derivatives, p = problem.derivatives, problem.derivatives.n_params
    if not fits(arrays(p, p, copies=6)):
        raise too_large(f"polish: found {p:,} parameters", arrays(p, p, copies=6), "Train further with L-BFGS instead.")
    first = minimize(
        problem.value_and_gradient, derivatives.params, jac=True, method="L-BFGS-B",
        options={"maxiter": lbfgs_steps, "ftol": 0.0, "gtol": 1e-7, "maxcor": 30},
    )  # fmt: skip
    w, (value, gradient) = first.x, problem.value_and_gradient(first.x)
    damping, steps, goal = 0.0, 0, gtol * max(1.0, value)
    while True:
        curvature, vectors = eigh(problem.hessian(w))
        rounding = p * EPS * float(np.abs(curvature).max())
        smallest = float(curvature[0])
        size = float(np.linalg.norm(gradient))
        if steps >= max_steps or (size <= goal and smallest >= -rounding):
            break
        along = vectors.T @ gradient
        if size <= goal:  # a saddle: leave along its most negative direction
            along[0] = -np.sqrt(max(value, EPS)) * np.sqrt(-smallest)
        found = _step(problem, w, value, size, curvature, vectors, along, damping, rounding)
        if found is None:
            break
        w, value, gradient, damping = found
        goal, steps = gtol * max(1.0, value), steps + 1
    tree = derivatives.tree(w)
    return Polished(tree, value, size, smallest, bool(size <= goal and smallest >= -rounding), steps)


def _step(
    problem: NetworkProblem, w: np.ndarray, value: float, size: float, curvature: np.ndarray, vectors: np.ndarray,
    along: np.ndarray, damping: float, rounding: float,
) -> tuple[np.ndarray, float, np.ndarray, float] | None:  # fmt: skip
    """The damped step that lowers the loss or, if the change of the loss is within rounding, the gradient."""
    sizes = np.abs(curvature)
    for _ in range(40):
        denominators = sizes + damping
        step = vectors @ np.where(denominators > rounding, along / np.maximum(denominators, rounding), 0.0)
        found, slope = problem.value_and_gradient(w - step)
        flat = abs(found - value) <= 1e-12 * abs(value) and np.linalg.norm(slope) < size
        if found < value - 1e-12 * abs(value) or flat:
            return w - step, found, slope, damping / 10 if damping > rounding else 0.0
        damping = max(10 * damping, 1e-4 * float(sizes.max()) if damping == 0 else 0.0)
    return None
