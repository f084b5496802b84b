"""What a deviation costs, and what capacity says of it, in trained models (paper 1, section 3).

The error curve of simple exponential smoothing, a model of one parameter, on two inputs, where its model space is the
parabola (α, α − α²), and where the curve meets 𝒦^⊥ (Figure 2); models side by side for one
process (Figure 1); and the error of a trained model, input by input, beside its capacity (section 3.3, Eq. 7): at an
optimum it lies in 𝒦^⊥, so that x_i² ≤ ‖X‖²(1 − κ_i) at every input, with equality when κ = n − 1.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike

from capcore import Architecture, ConstraintSpace, Problem, Process
from capcore.capacity.allocation import CapacityAllocation, allocate
from capcore.fitting.optimum import fit

IN_USE = (0.0, 1.0)
"""Smoothing factors that are used in practice: weights that are positive and decay."""


class ExponentialSmoothing(Architecture):
    """Coefficients A_i = α(1−α)^i at lags 0 … n−1; the only parameter is α.

    Parameters
    ----------
    n_inputs : number n of inputs, the most recent first.

    In use, the smoothing factor α lies between 0 and 1; the coefficients are defined for every real α.

    >>> ExponentialSmoothing(n_inputs=3).coefficients([0.5]).tolist()
    [0.5, 0.25, 0.125]
    """

    input_dim = 1
    n_params = 1

    def __init__(self, n_inputs: int = 2) -> None:
        self.n_inputs = n_inputs
        self.layers = {"layer 1": slice(0, 1)}

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(1,) a smoothing factor between 0 and 1."""
        return rng.uniform(size=1)

    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs,) coefficients α(1−α)^i, lag 0 first."""
        return self.curve(self._alpha(params))[0]

    def curve(self, alphas: object) -> np.ndarray:
        """(m, n_inputs) coefficients at m values of the smoothing factor: points of the model space."""
        alpha = np.atleast_1d(np.asarray(alphas, dtype=float))[:, None]
        return alpha * (1 - alpha) ** np.arange(self.n_inputs)

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs, 1) derivative (1−α)^i − iα(1−α)^(i−1)."""
        alpha = self._alpha(params)
        lags = np.arange(self.n_inputs)
        return ((1 - alpha) ** lags - lags * alpha * (1 - alpha) ** np.maximum(lags - 1, 0))[:, None]

    def generic_capacity(self) -> int:
        """One parameter that always matters: 1."""
        return 1

    def solve(self, direction: object, value: float) -> np.ndarray:
        """The real α, ascending, at which ``direction``·A(α) = ``value``: the model space cut by a hyperplane.

        Parameters
        ----------
        direction : (n_inputs,) normal of the hyperplane, not zero.

        With a column k of the constraint space and ``value`` = k·A*, these are the points where the error
        curve meets k^⊥. Roots that coincide to 1e-7 are one.
        """
        normal = np.asarray(direction, dtype=float)
        rest = Polynomial([1.0, -1.0])
        roots = (sum(c * rest**i for i, c in enumerate(normal)) * Polynomial([0.0, 1.0]) - value).roots()
        scale = np.maximum(np.abs(roots), 1.0)
        real = np.sort(roots[np.abs(roots.imag) <= 1e-7 * scale].real)
        return real[np.concatenate([[True], np.diff(real) > 1e-7])] if real.size else real

    def _alpha(self, params: object) -> float:
        return float(self.checked(params)[0])


class ErrorCurve(NamedTuple):
    """Errors X = A(α) − A* of exponential smoothing on two inputs, and the constraint at the optimum.

    Attributes
    ----------
    arch, problem : the model, and the target A* and covariance Σ it is fitted to.
    optimum : α at the minimum of the loss over all real α. space : 𝒦 at the optimum, a line in the plane.
    crossings : ascending, all real α at which the error is orthogonal to 𝒦; the optimum is one of them.
    """

    arch: ExponentialSmoothing
    problem: Problem
    optimum: float
    space: ConstraintSpace
    crossings: np.ndarray

    def errors(self, alphas: ArrayLike) -> np.ndarray:
        """(m, 2) points of the curve."""
        alphas = np.asarray(alphas, dtype=float)
        return self.arch.curve(alphas) - self.problem.target if alphas.size else np.empty((0, 2))

    def losses(self, alphas: ArrayLike) -> np.ndarray:
        """(m,) loss XᵀΣX at points of the curve."""
        return self.losses_at(self.errors(alphas))

    def losses_at(self, errors: np.ndarray) -> np.ndarray:
        """(…,) loss XᵀΣX of any errors (…, 2) in the plane."""
        return np.sum(np.square(errors @ self.problem.root.T), axis=-1)

    @property
    def crossings_in_use(self) -> np.ndarray:
        """Those of the ``crossings`` with a smoothing factor between 0 and 1."""
        return self.crossings[(self.crossings >= IN_USE[0]) & (self.crossings <= IN_USE[1])]

    @property
    def other_crossings(self) -> np.ndarray:
        """Those of the ``crossings`` that are not the optimum (further than 1e-4 from it in α)."""
        return self.crossings[np.abs(self.crossings - self.optimum) > 1e-4]


def error_curve(process: Process, seed: int = 0) -> ErrorCurve:
    """The error curve of exponential smoothing on two inputs, fitted to a process.

    >>> from capcore.processes import PowerLaw
    >>> curve = error_curve(PowerLaw())
    >>> curve.crossings_in_use.size, bool(abs(curve.crossings_in_use[0] - curve.optimum) < 1e-6)
    (1, True)
    """
    arch = ExponentialSmoothing(n_inputs=2)
    problem = Problem.of(arch, process)
    params = fit(arch, problem, start=np.array([0.5]), n_starts=5, rng=seed).params
    space = ConstraintSpace.from_columns(problem.covariance @ arch.jacobian(params))
    normal = space.basis[:, 0]
    return ErrorCurve(arch, problem, float(params[0]), space, arch.solve(normal, float(normal @ problem.target)))


def plane_to_explore(curve: ErrorCurve) -> dict[str, Any]:
    """What the explorer of Figure 2 starts from, of plain types: target, correlation of the inputs, and two models.

    A model is a pair of polynomials of its parameter, constant first: exponential smoothing, and the straight line
    through (2, 1) of the idea in ten minutes. ``use`` : the range of the parameter that is drawn in full.

    >>> from capcore.processes import PowerLaw
    >>> plane_to_explore(error_curve(PowerLaw()))["correlation"]
    0.71
    """
    covariance = curve.problem.covariance
    return {
        "target": curve.problem.target.round(6).tolist(),
        "correlation": float(np.clip(covariance[0, 1] / covariance[0, 0], -0.95, 0.95).round(2)),
        "models": [
            {"name": "exponential smoothing", "powers": [[0, 1, 0], [0, 1, -1]], "use": list(IN_USE)},
            {"name": "straight line (2w, w)", "powers": [[0, 2], [0, 1]], "use": [-2, 2]},
        ],
    }


def allocate_all(models: Mapping[str, Architecture], process: Process | Problem) -> dict[str, CapacityAllocation]:
    """Label → capacity allocation of each model at its own optimum for the same process.

    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> models = {"a": Hierarchical(1, kernel_size=[5, 2]), "b": Hierarchical(1, kernel_size=[2, 5])}
    >>> [alloc.total for alloc in allocate_all(models, PowerLaw()).values()]
    [6, 6]
    """
    return {label: allocate(arch, fit(arch, process).params, process) for label, arch in models.items()}


def relative_squares(error: object) -> np.ndarray:
    """(n,) x_i² / ‖X‖²: the share of the squared error on each input."""
    array = np.asarray(error, dtype=float)
    largest = np.abs(array).max()
    return np.square(array / largest) / np.sum(np.square(array / largest))


class OptimalError(NamedTuple):
    """The error Â − A* of a trained model beside its capacity, for Eq. 7 and the limit behind it.

    Attributes
    ----------
    shares : (n,) x_i² / ‖X‖². free : (n,) 1 − κ_i, which no share can exceed. total : κ.
    loss : excess variance of the fit.
    """

    shares: np.ndarray
    free: np.ndarray
    total: int
    loss: float

    @property
    def mean_shares(self) -> np.ndarray:
        """(n,) (1 − κ_i)/(n − κ), the share that Eq. 6 gives to the mean over random errors in 𝒦^⊥."""
        return self.free / (self.free.size - self.total)

    @property
    def ratio(self) -> np.ndarray:
        """(n,) share over free dimension, at most 1 at an optimum; 0 where both are rounding."""
        rounding = (self.free < 1e-12) & (self.shares < 1e-12)
        return np.where(rounding, 0.0, self.shares) / np.where(rounding, 1.0, np.maximum(self.free, 1e-16))


def optimal_error(arch: Architecture, process: Process | Problem) -> OptimalError | None:
    """How the error of a fitted model is spread over the inputs, or None when it attains A* and has no error.

    A loss below 1e-20 of that of A = 0 counts as attained: the error then consists of rounding.

    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import AR1, PowerLaw
    >>> arch = Hierarchical(channels=1, n_layers=2)
    >>> optimal_error(arch, PowerLaw()).total, optimal_error(arch, AR1(0.5))
    (3, None)
    """
    problem = Problem.of(arch, process)
    fitted = fit(arch, problem)
    if fitted.loss <= 1e-20 * problem.loss(np.zeros(arch.n_inputs)):
        return None
    alloc = allocate(arch, fitted.params, problem)
    shares = relative_squares(fitted.coefficients - problem.target)
    return OptimalError(shares, 1 - alloc.per_input, alloc.total, fitted.loss)
