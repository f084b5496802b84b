"""The optimum of a small network, and how it responds to its targets, densely.

Loss ½ ‖f − y‖² + ½ decay ‖θ‖², summed over examples and outputs.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from scipy.optimize import least_squares, minimize

from chapters.trained_capacity.networks import Apply, Params

SMALL = 200  # parameters up to which Levenberg–Marquardt takes the whole Jacobian


@dataclass(frozen=True, eq=False)
class Task:
    """A network with what it learns.

    Attributes
    ----------
    apply : (params, inputs) → (N, K) outputs. inputs : (N, …) array. targets : (N, K) array. decay : of the weights.
    """

    apply: Apply
    inputs: np.ndarray
    targets: np.ndarray
    decay: float


class Optimum:
    """Where training has ended.

    Attributes
    ----------
    params : dictionary of arrays. loss : there. gradient : norm of the gradient. lowest : eigenvalue of the Hessian.
    """

    def __init__(self, task: Task, params: Params, vector: np.ndarray, lowest: float = np.nan) -> None:
        self.loss, slope = loss_and_slope(task, params, vector)
        self.params: Params = jax.tree.map(np.asarray, ravel_pytree(params)[1](vector))
        self.gradient, self.lowest = float(np.linalg.norm(slope)), lowest


def _loss(apply: Apply, template: Params, vector: Any, inputs: Any, targets: Any, decay: float) -> Any:
    errors = apply(ravel_pytree(template)[1](vector), inputs) - targets
    return 0.5 * jnp.sum(errors**2) + 0.5 * decay * jnp.sum(vector**2)


_value_and_slope = partial(jax.jit, static_argnums=0)(jax.value_and_grad(_loss, 2))
_hessian = partial(jax.jit, static_argnums=0)(jax.hessian(_loss, 2))


@partial(jax.jit, static_argnums=0)
def _outputs(apply: Apply, template: Params, vector: Any, inputs: Any) -> Any:
    return apply(ravel_pytree(template)[1](vector), inputs)


@partial(jax.jit, static_argnums=0)
def _jacobian(apply: Apply, template: Params, vector: Any, inputs: Any) -> Any:
    """By example, in reverse: there are fewer outputs than parameters."""
    return jax.vmap(lambda x: jax.jacrev(_outputs, 2)(apply, template, vector, x[None])[0])(inputs)


def flat(params: Params) -> np.ndarray:
    """(p,) parameters in one vector, as JAX orders a dictionary."""
    return np.asarray(ravel_pytree(params)[0])


@jax.enable_x64(True)
def outputs(task: Task, params: Params, inputs: np.ndarray | None = None) -> np.ndarray:
    """(N, K) outputs, of other inputs where they are given."""
    return np.asarray(_outputs(task.apply, params, flat(params), task.inputs if inputs is None else inputs))


@jax.enable_x64(True)
def loss_and_slope(task: Task, params: Params, vector: np.ndarray) -> tuple[float, np.ndarray]:
    """The loss at a vector of parameters shaped as ``params``, and its gradient (p,)."""
    value, slope = _value_and_slope(task.apply, params, vector, task.inputs, task.targets, task.decay)
    return float(value), np.asarray(slope)


@jax.enable_x64(True)
def settle(task: Task, params: Params, n_steps: int = 4000, newton: int = 30) -> Optimum:
    """The optimum that training reaches from ``params``: Levenberg–Marquardt or L-BFGS-B, then Newton's method.

    Newton's steps take the absolute values of the Hessian's eigenvalues, so that they descend, and are halved until
    the gradient or the loss falls. Look at ``gradient`` and ``lowest`` of the result.
    """
    if flat(params).size <= SMALL:
        vector = _least_squares(task, params)
    else:
        vector = _lbfgs(task, params, maxiter=n_steps, maxfun=2 * n_steps, ftol=1e-15, gtol=1e-7)
    value, slope = loss_and_slope(task, params, vector)
    sizes = np.zeros(1)
    for _ in range(newton):
        sizes, axes = np.linalg.eigh(hessian(task, params, vector))
        if np.linalg.norm(slope) < 1e-13 * np.linalg.norm(vector) * sizes[-1]:
            break
        step = axes @ ((axes.T @ slope) / np.maximum(np.abs(sizes), 1e-10 * sizes[-1]))
        for halvings in range(12):
            trial = vector - step / 2**halvings
            new, new_slope = loss_and_slope(task, params, trial)
            if new < value or np.linalg.norm(new_slope) < np.linalg.norm(slope):
                break
        else:
            break
        vector, value, slope = trial, new, new_slope
    return Optimum(task, params, vector, float(sizes[0]))


def _lbfgs(task: Task, params: Params, **options: float) -> np.ndarray:
    target, limits = partial(loss_and_slope, task, params), {"maxcor": 30, **options}
    end = minimize(target, flat(params), jac=True, method="L-BFGS-B", options=limits)
    return np.asarray(end.x)


def _least_squares(task: Task, params: Params) -> np.ndarray:
    root = np.sqrt(task.decay)

    def errors(v: np.ndarray) -> np.ndarray:
        found = _outputs(task.apply, params, v, task.inputs) - task.targets
        return np.concatenate([np.ravel(found), root * v])

    def slopes(v: np.ndarray) -> np.ndarray:
        return np.vstack([jacobian(task, params, v), root * np.eye(v.size)])

    options = {"method": "lm", "max_nfev": 400, "ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14}
    return np.asarray(least_squares(errors, flat(params), slopes, **options).x)


@jax.enable_x64(True)
def jacobian(task: Task, params: Params, vector: np.ndarray | None = None) -> np.ndarray:
    """(N K, p) derivative of the outputs by the parameters, at a vector of them where it is given."""
    vector = flat(params) if vector is None else vector
    return np.asarray(_jacobian(task.apply, params, vector, task.inputs)).reshape(-1, vector.size)


@jax.enable_x64(True)
def hessian(task: Task, params: Params, vector: np.ndarray) -> np.ndarray:
    """(p, p) second derivative of the loss at a vector of parameters."""
    return np.asarray(_hessian(task.apply, params, vector, task.inputs, task.targets, task.decay))


@jax.enable_x64(True)
def input_slopes(task: Task, params: Params) -> np.ndarray:
    """(N, K, …) derivative of the outputs of each example by its inputs."""
    of_one = jax.jit(jax.vmap(jax.jacrev(lambda x: task.apply(params, x[None])[0])))
    return np.asarray(of_one(task.inputs))


class Response:
    """The response S = J H⁻¹ Jᵀ of an optimum to a shift of its targets.

    With Gauss–Newton, H leaves the curvature of the outputs away.

    Attributes
    ----------
    shape : (N, K) of the outputs. factor : (N K, p) array, J axes of H. sizes : (p,) eigenvalues of H.
    """

    @jax.enable_x64(True)
    def __init__(self, task: Task, params: Params, gauss_newton: bool = False) -> None:
        j = jacobian(task, params)
        h = j.T @ j + task.decay * np.eye(j.shape[1]) if gauss_newton else hessian(task, params, flat(params))
        self.sizes, axes = np.linalg.eigh(h)
        self.shape, self.factor = task.targets.shape, j @ axes

    @property
    def total(self) -> float:
        """The trace of S: effective degrees of freedom."""
        return float(np.sum(self.factor**2 / self.sizes))

    @property
    def leverage(self) -> np.ndarray:
        """(N, K) diagonal of S."""
        return (self.factor**2 @ (1 / self.sizes)).reshape(self.shape)

    def capacity(self, columns: np.ndarray) -> np.ndarray:
        """(m, K) capacity of each column (N, m) as a direction of each output: zᵀ S z."""
        factor = self.factor.reshape(len(columns), -1, len(self.sizes))
        moved = np.einsum("nm,nkp->mkp", columns, factor, optimize=True)
        return np.sum(moved**2 / self.sizes, axis=2)

    def __call__(self, shift: np.ndarray) -> np.ndarray:
        """(N, K) how the outputs answer a small shift (N, K) of the targets."""
        return (self.factor @ ((self.factor.T @ shift.ravel()) / self.sizes)).reshape(self.shape)
