"""How an optimum responds to its target (paper 1, section 4).

How the trained model responds to its target: the derivative of the optimum Â by A* (paper 1, section 4).

At a critical point the parameters solve K̃ᵀ(A − A*) = 0, so a move δA* of the target moves them by H⁺K̃ᵀδA*, with H
half the Hessian of the loss. The constraint space 𝒦 is therefore the set of target directions the trained model
responds to. The derivative is had twice here: in closed form, and by fitting again to moved targets.

The autocorrelation that a trained model implies, and the recursion its error obeys (paper 1, App. B.3).

A model Â generates a process of its own, y_{t+1} = Σ_j Â_j y_{t+1−j} + η, with autocorrelation Ĉ. Both Ĉ and the
true C start from 1; Ĉ solves Ĉ_k = Σ_j Â_j Ĉ_|k−j|.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import pinvh, svd, svdvals, toeplitz

from capcore import Architecture, AutoRegressive, ConstraintSpace, Problem, Process
from capcore.architectures.columns import rank_tolerance
from capcore.fitting.optimum import fit
from capcore.processes.toeplitz import reflection_coefficients
from chapters.shared.survey import Case


def response_matrix(arch: Architecture, params: np.ndarray, problem: Problem) -> np.ndarray:
    """(n, n) derivative ∂Â/∂A* of the optimal coefficients by the target's, at a regular local optimum.

    With J = U S Vᵀ and tangent coordinates V S⁻¹, it is U (UᵀΣU + C)⁻¹ UᵀΣ, where C is the curvature of the model
    against the error, (∂²A/∂W²) ΣX. For a linear model C = 0 and this is the oblique projector onto the model space.

    C comes by central differences of Jᵀ.

    >>> from capcore.architectures import Linear
    >>> from capcore.processes import AR1
    >>> arch = Linear(np.eye(2)[:, :1])
    >>> problem = Problem.of(arch, AR1(phi=0.5))
    >>> (response_matrix(arch, np.array([0.5]), problem) + 0.0).round(9).tolist()
    [[1.0, 0.5], [0.0, 0.0]]
    """
    jacobian = arch.jacobian(params)
    u, s, vt = svd(jacobian, full_matrices=False)
    rank = int(np.count_nonzero(s > rank_tolerance(jacobian.shape, s[0])))
    u, s, vt = u[:, :rank], s[:rank], vt[:rank]
    force = problem.covariance @ (arch.coefficients(params) - problem.target)
    h = 1e-4 * np.linalg.norm(params)
    bends = [arch.vjp(params + h * v, force) - arch.vjp(params - h * v, force) for v in vt]
    curvature = (vt @ np.transpose(bends)) / (2 * h) / np.outer(s, s)
    half_hessian = u.T @ problem.covariance @ u + (curvature + curvature.T) / 2
    return u @ pinvh(half_hessian) @ u.T @ problem.covariance


def probe_moves(space: ConstraintSpace, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Unit moves of the target: in a generic direction, and its parts inside 𝒦 and orthogonal to 𝒦.

    The orthogonal one is left out where 𝒦 is everything.

    >>> space = ConstraintSpace.from_columns(np.eye(3)[:, :2])
    >>> list(probe_moves(space, np.random.default_rng(0)))
    ['generic', 'inside 𝒦', 'orthogonal to 𝒦']
    """
    generic = rng.normal(size=space.n_coefficients)
    inside = space.basis @ (space.basis.T @ generic)
    moves = {"generic": generic, "inside 𝒦": inside}
    if space.dimension < space.n_coefficients:
        moves["orthogonal to 𝒦"] = generic - inside
    return {name: move / np.linalg.norm(move) for name, move in moves.items()}


def error_scale(coefficients: np.ndarray, problem: Problem) -> float:
    """A natural length for moves of the target: ‖X‖, or 1e-6 ‖A*‖ where the target is attained."""
    error = np.linalg.norm(coefficients - problem.target)
    return float(max(error, 1e-6 * np.linalg.norm(problem.target)))


def measured_responses(
    arch: Architecture, params: np.ndarray, problem: Problem, moves: np.ndarray, step: float, rng: Any = 0
) -> np.ndarray:
    """(n, m) change of the refitted coefficients per unit of target move, (Â(A* + hd) − Â(A* − hd)) / 2h.

    Parameters
    ----------
    params : (n_params,) an optimum for the unmoved target.
    moves : (n, m) directions d; a column of zeros is a control, whose "response" is what refitting alone scatters.
    step : length h of the moves.
    rng : of nudges: every refit starts from ``params`` with each entry changed by about a hundredth at random, so that
        an answer that stays put has been found again and not merely kept.
    """
    rng = np.random.default_rng(rng)

    def refit(move: np.ndarray) -> np.ndarray:
        start = params * (1 + 0.01 * rng.normal(size=params.size))
        moved = replace(problem, target=problem.target + move)
        return fit(arch, moved, start=start, rebalance=False, tolerance=0.0).coefficients

    return np.stack([(refit(step * move) - refit(-step * move)) / (2 * step) for move in moves.T], axis=1)


def response_bounds(matrix: np.ndarray, capacity: int) -> tuple[float, float]:
    """Least and largest squared response to one input, per unit of its capacity.

    The response matrix R sees of a move only its part in 𝒦, and input i has a part of squared length κᵢ there. So
    σ² κᵢ ≤ ‖R eᵢ‖² ≤ σ₁² κᵢ, with σ₁ the largest singular value of R and σ the κ-th, the smallest non-zero one.

    Parameters
    ----------
    matrix : (n, n) from :func:`response_matrix`. capacity : κ.
    """
    values = svdvals(matrix)
    return float(values[capacity - 1] ** 2), float(values[0] ** 2)


class Answer(NamedTuple):
    """What a trained model does when one coefficient of its target moves.

    Attributes
    ----------
    matrix : (n, n) from :func:`response_matrix`. capacities, squares : (n,) κᵢ, and squared length of its columns.
    bounds : from :func:`response_bounds`.
    """

    matrix: np.ndarray
    capacities: np.ndarray
    squares: np.ndarray
    bounds: tuple[float, float]


def answers(arch: Architecture, trained: Case) -> Answer:
    """The :class:`Answer` of a model at its optimum."""
    matrix, alloc = response_matrix(arch, trained.fit.params, trained.problem), trained.allocation
    squares = np.square(matrix).sum(axis=0)
    return Answer(matrix, alloc.per_input, squares, response_bounds(matrix, alloc.total))


class AutocorrelationError(NamedTuple):
    """The error E = Ĉ − C and the two sides of its recursion.

    Attributes
    ----------
    error : (n + 1,) E_0, …, E_n.
    residual : (n,) E_k − Σ_j Â_j E_|k−j| for k = 1 … n: what is left when E is put into the system of Ĉ.
    source : (n,) (ΣX)_k, X = Â − A* and Σ the autocorrelation matrix: what that residual is equal to.
    """

    error: np.ndarray
    residual: np.ndarray
    source: np.ndarray

    @property
    def relative_residual(self) -> float:
        """Largest |residual| relative to max |E|: zero if E solved the system of Ĉ."""
        return float(np.abs(self.residual).max() / self.size)

    @property
    def relative_residual_with_source(self) -> float:
        """Largest |residual − source| relative to max |E|."""
        return float(np.abs(self.residual - self.source).max() / self.size)

    @property
    def size(self) -> float:
        """Largest |E|."""
        return float(np.abs(self.error).max())


def model_autocorrelation(coefficients: object, n: int) -> np.ndarray:
    """(n,) autocorrelations Ĉ_0 = 1, …, Ĉ_{n−1} of the autoregression with these coefficients, lag 0 first.

    Raises ``ValueError`` where the autoregression is unstable: it then has no autocorrelation.

    >>> model_autocorrelation([0.5], 3).tolist()
    [1.0, 0.5, 0.25]
    """
    c = AutoRegressive(coefficients).autocovariance(n)
    return c / c[0]


def autocorrelation_error(coefficients: object, process: Process) -> AutocorrelationError:
    """E = Ĉ − C at lags 0 … n for a model with coefficients (n,), with its residual in the system of Ĉ.

    >>> from capcore.processes import AR1
    >>> autocorrelation_error([0.5], AR1(phi=0.5)).size
    0.0
    """
    a = np.asarray(coefficients, dtype=float)
    c = process.autocovariance(a.size + 1)
    c = c / c[0]
    error = model_autocorrelation(a, a.size + 1) - c
    target, _ = process.predictor(a.size)
    residual = error[1:] - toeplitz(error[:-1]) @ a
    return AutocorrelationError(error, residual, toeplitz(c[:-1]) @ (a - target))


def visible_errors(models: Iterable[tuple[object, Process]]) -> list[AutocorrelationError]:
    """:func:`autocorrelation_error` of each (coefficients, process) for which max |E| is at least 1e-6.

    Below that E is rounding. Unstable models have no autocorrelation and are left out too.

    >>> from capcore.processes import AR1
    >>> [round(e.size, 12) for e in visible_errors([([0.5], AR1(0.5)), ([0.4], AR1(0.5)), ([1.5], AR1(0.5))])]
    [0.1]
    """
    stable = [(a, p) for a, p in models if np.all(np.abs(reflection_coefficients(np.asarray(a, dtype=float))) < 1)]
    errors = [autocorrelation_error(coefficients, process) for coefficients, process in stable]
    return [error for error in errors if error.size >= 1e-6]
