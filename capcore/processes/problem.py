"""The prediction problem that a process poses, or a covariance matrix of any kind: what a model is fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, eigvalsh

from capcore.checks.arguments import counted, finite_array, finite_number, moderate, of_kind, plain_fields
from capcore.checks.memory import check_covariance
from capcore.processes.base import Process
from capcore.processes.kernels import as_task, check_process
from capcore.results.notebook import Record

EPS = float(np.finfo(float).eps)
ASYMMETRY = 1e-9  # of the largest entry: below it two entries differ by the rounding of the sums that they are


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Record):
    """The quadratic problem that an architecture has to solve: the target A* and the covariance Σ.

    Attributes
    ----------
    target : (n,) array
        Optimal coefficients A*.
    covariance : (n, n) array
        Σ = RᵀR.
    root : (n, n) array
        R, the upper Cholesky factor where a problem is posed; any other with RᵀR = Σ serves as well.
    variance : float or None
        v*, the least possible prediction variance; None where there is nothing to predict.
    inputs : str
        What tables and pictures call an input: "lag", "pixel", "sensor", …

    Raises
    ------
    ValueError
        If values are not finite, shapes disagree, the covariance is beyond 1e±150, or RᵀR is not Σ.
    """

    target: np.ndarray
    covariance: np.ndarray
    root: np.ndarray
    variance: float
    inputs: str = "input"

    def __post_init__(self) -> None:
        plain_fields(self)
        of_kind(self.inputs, "inputs", str)
        n = finite_array(self.target, "target", 1).size
        for name in ("covariance", "root"):
            shape = finite_array(getattr(self, name), name, 2).shape
            if shape != (n, n):
                raise ValueError(f"{name}: found a matrix of shape {shape}, expected {(n, n)}, as the target has {n}.")
        finite_number(self.variance, "variance", "a number")
        moderate(self.covariance, "covariance")
        ones = np.ones(n)
        gap = np.abs(self.root.T @ (self.root @ ones) - self.covariance @ ones).max()
        if gap > 1e-8 * np.abs(self.covariance).sum(axis=1).max():
            raise ValueError(f"root: found R with RᵀR off Σ by {gap:.1e}, expected the upper factor of cholesky.")

    @classmethod
    def of(cls, arch: Any, task: Process | Problem) -> Problem:
        """The problem of fitting the architecture to its task; raises if their dimensions disagree."""
        task, n, d = as_task(task), arch.n_inputs, arch.input_dim
        if isinstance(task, Problem):
            if (size := task.target.size) != n * d:
                raise ValueError(f"task: found a problem with {size} coefficients, expected {n * d} as in {arch!r}.")
            return task
        process = check_process(task, d, repr(arch))
        check_covariance(n, d)
        target, variance = process.predictor(n)
        covariance = process.covariance(n)
        return cls(target, covariance, cholesky(covariance), variance)

    def loss(self, coefficients: np.ndarray) -> float:
        """L = ‖R(A − A*)‖² (paper 1, Eq. 14)."""
        return float(np.sum(np.square(self.root @ (coefficients - self.target))))


def FromCovariance(
    covariance: Any,
    *,
    target: Any = None,
    cross: Any = None,
    variance: float | None = None,
    nugget: float = 0.0,
    inputs: str = "input",
) -> Problem:
    """The problem of a covariance matrix of any kind, for ``fit`` and ``allocate`` by dense methods and sketches.

    Nothing has to be stationary: the n inputs may be pixels, features, or the samples of a process that changes.

    Parameters
    ----------
    covariance : (n, n) array_like
        Σ of the inputs, lag 0 first where they are lags; with d components per position n·d numbers, position-major.
    target : (n,) array_like, optional
        A*, the coefficients of the best linear prediction.
    cross : (n,) array_like, optional
        Instead of the target, the covariance of each input with what is predicted: A* = Σ⁻¹ cross. Without either
        there is nothing to predict, and v* is None; ``allocate`` needs no more than Σ, and ``fit`` refuses.
    variance : float, optional
        Variance of what is predicted; v* = variance − A*ᵀΣA*. By default what the inputs explain, A*ᵀΣA*: v* is then 0,
        and the ``variance`` of a fit is its excess loss alone.
    nugget : float, default 0.0
        Variance of white noise that is added to every input: makes a singular Σ usable.
    inputs : str, default "input"
        What tables and pictures call one of them, such as "pixel" or "sensor"; lags are drawn with the latest at right.

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        If Σ is not square, symmetric and positive definite, or numerically singular; if target or cross have another
        length, or both are given; and if the variance is less than what the inputs explain.

    Examples
    --------
    >>> problem = FromCovariance([[2.0, 1.0], [1.0, 2.0]], cross=[1.0, 0.5], variance=1.0)
    >>> problem.target.round(12).tolist(), round(problem.variance, 12)
    ([0.5, 0.0], 0.5)
    """
    sigma = _checked(covariance, finite_number(nugget, "nugget", "a variance of at least 0", least=0))
    root = cholesky(sigma)
    if target is not None and cross is not None:
        raise ValueError("target, cross: found both, expected one of them: the target is Σ⁻¹ cross.")
    if target is None and cross is None:
        if variance is not None:
            raise ValueError("variance: found one of nothing, expected cross=… or target=… beside it.")
        problem = Problem(np.zeros(len(sigma)), sigma, root, 0.0, inputs)
        vars(problem)["variance"] = None  # by which a fit knows that there is nothing to predict
        return problem
    given, name = (cross, "cross") if target is None else (target, "target")
    vector = finite_array(given, name, 1)
    if vector.size != len(sigma):
        raise ValueError(f"{name}: found {counted(vector.size, 'value')}, expected {len(sigma)}, one for each input.")
    solution = cho_solve((root, False), vector) if target is None else vector
    with np.errstate(over="ignore", invalid="ignore"):
        explained = float(np.sum(np.square(root @ solution)))
    if not (np.isfinite(solution).all() and explained <= 1e150):
        raise ValueError(f"{name}: found values of up to {np.abs(vector).max():.1e}, expected less. Use other units.")
    total = explained if variance is None else finite_number(variance, "variance", "a positive number")
    if total < explained * (1 - 1e-8):
        raise ValueError(f"variance: found {total:g}, expected at least {explained:g}, as explained. Compare units.")
    return Problem(solution, sigma, root, max(total - explained, 0.0), inputs)


def _checked(covariance: Any, nugget: float) -> np.ndarray:
    """(n, n) Σ plus the nugget, exactly symmetric; raises if it is no covariance or numerically singular."""
    sigma = finite_array(covariance, "covariance", 2)
    n = len(sigma)
    if sigma.shape != (n, n):
        raise ValueError(f"covariance: found a matrix of shape {sigma.shape}, expected a square one.")
    moderate(sigma, "covariance")
    gap = np.abs(sigma - sigma.T)
    if gap.max() > ASYMMETRY * np.abs(sigma).max():
        i, j = (int(k) for k in np.unravel_index(np.argmax(gap), gap.shape))
        raise ValueError(f"covariance: found {sigma[i, j]:g} at {(i, j)}, expected {sigma[j, i]:g}. Take (Σ + Σᵀ) / 2.")
    sigma = (sigma + sigma.T) / 2 + nugget * np.eye(n)
    values = eigvalsh(sigma)
    if values[0] < -n * EPS * values[-1]:
        raise ValueError(
            f"covariance: found the eigenvalue {values[0]:.3g}, expected none below 0. Add nugget={-2 * values[0]:.1g}."
        )
    if values[-1] * n * EPS > values[0]:
        raise ValueError(
            f"covariance: numerically singular. Found eigenvalues from {values[0]:.1e} to {values[-1]:.1e}, expected a "
            f"ratio below {1 / (n * EPS):.1e}. Leave inputs out, or add nugget={1e-6 * np.trace(sigma) / n:.1g}."
        )
    return sigma
