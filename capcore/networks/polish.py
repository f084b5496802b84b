"""From a trained network to an optimum, where capacity is defined: train until the gradient vanishes up to rounding."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from capcore.checks.memory import arrays, check_memory
from capcore.networks.problem import NetworkProblem
from capcore.networks.response import EPS
from capcore.results.notebook import Record


@dataclass(frozen=True, eq=False, repr=False)
class Polished(Record):
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

    params: Any
    loss_value: float
    gradient_norm: float
    smallest_eigenvalue: float
    converged: bool
    n_steps: int


def polish(
    apply: Callable[[Any, Any], Any],
    params: Any,
    inputs: object,
    targets: object,
    *,
    loss: Any = "squared",
    weight_decay: Any = 0.0,
    gtol: float = 1e-9,
    max_steps: int = 200,
    lbfgs_steps: int = 2000,
    **data: Any,
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
    **data : object
        ``sample_weight``, ``class_axis`` and ``trainable``, as there.

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
    >>> end = polish(lambda w, x: x @ w, np.zeros(1), x, 3 * x[:, 0], weight_decay=0.1)
    >>> end.converged, bool(end.gradient_norm < 1e-9)
    (True, True)
    """
    problem = NetworkProblem.of(apply, params, inputs, targets, loss, weight_decay, **data)
    p = problem.derivatives.n_params
    check_memory(arrays(p, p, copies=6), f"polish: found {p:,} parameters", "Train further with L-BFGS instead.")
    options = {"maxiter": lbfgs_steps, "ftol": 0.0, "gtol": 1e-7, "maxcor": 30}
    w = minimize(problem.value_and_gradient, problem.derivatives.params, jac=True, method="L-BFGS-B", options=options).x
    value, gradient = problem.value_and_gradient(w)
    damping, steps = 0.0, 0
    while True:
        curvature, vectors = eigh(problem.hessian(w))
        rounding = p * EPS * float(np.abs(curvature).max())
        smallest, size = float(curvature[0]), float(np.linalg.norm(gradient))
        flat = size <= gtol * max(1.0, value)
        if steps >= max_steps or (flat and smallest >= -rounding):
            break
        along = vectors.T @ gradient
        if flat:  # a saddle: leave along its most negative direction
            along[0] = -np.sqrt(max(value, EPS)) * np.sqrt(-smallest)
        step = _step(problem, w, (value, size), (np.abs(curvature), vectors), along, damping, rounding)
        if step is None:
            break
        w, value, gradient, damping = step
        steps += 1
    tree = problem.derivatives.tree(w)
    return Polished(tree, value, size, smallest, bool(flat and smallest >= -rounding), steps)


def _step(
    problem: NetworkProblem, w: np.ndarray, at: tuple[float, float], axes: tuple[np.ndarray, np.ndarray],
    along: np.ndarray, damping: float, rounding: float,
) -> tuple[np.ndarray, float, np.ndarray, float] | None:  # fmt: skip
    """The damped step that lowers the loss or, if the change of the loss is within rounding, the gradient."""
    (value, size), (sizes, vectors) = at, axes
    for _ in range(40):
        denominators = sizes + damping
        step = vectors @ np.where(denominators > rounding, along / np.maximum(denominators, rounding), 0.0)
        new, slope = problem.value_and_gradient(w - step)
        even = abs(new - value) <= 1e-12 * abs(value) and np.linalg.norm(slope) < size
        if new < value - 1e-12 * abs(value) or even:
            return w - step, new, slope, damping / 10 if damping > rounding else 0.0
        damping = max(10 * damping, 1e-4 * float(sizes.max()) if damping == 0 else 0.0)
    return None
