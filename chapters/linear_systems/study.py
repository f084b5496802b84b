"""What a deviation costs, and what capacity says of it (paper 1, section 3).

Errors that satisfy the constraints, and how they spread over subspaces (paper 1, section 3.3, Eqs 4–6).

An error X that satisfies KᵀX = 0 lies in 𝒦^⊥: X = Σ λ_j k_j over an orthonormal basis of 𝒦^⊥ (Eq. 4). The
paper asks what the squared error e_S² = ‖SᵀX‖² along a subspace S is on average over random λ (Eqs 5–6).
With M = E[λλᵀ] the answer is tr(SᵀK^⊥ M (K^⊥)ᵀS), which is σ²(n_S − κ_S) if M = σ²I and not otherwise.

The error curve of a one-parameter model on two inputs, and where it meets 𝒦^⊥ (paper 1, Figure 2).

Trained models side by side: several models of one process (paper 1, Figure 1), or one model of several.

The error of a trained model, input by input, beside its capacity (paper 1, section 3.3, Eq. 7).

At an optimum the error lies in 𝒦^⊥, so that x_i² ≤ ‖X‖²(1 − κ_i) at every input, with equality when κ = n − 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from capcore.allocation import CapacityAllocation, allocate
from capcore.architectures.base import Architecture
from capcore.constraints import ConstraintSpace
from capcore.optimum import Problem, fit
from capcore.processes import Process
from capcore.validation import finite_array, one_of, positive_integer
from chapters.linear_systems.smoothing import ExponentialSmoothing

COORDINATE_LAWS = ("normal", "uniform", "two-point")


def complement(space: ConstraintSpace) -> np.ndarray:
    """(n, n − κ) orthonormal basis of 𝒦^⊥, the vectors k_{κ+1} … k_n of Eq. 4.

    It depends on 𝒦 alone, and not on the basis that ``space`` holds, which rounding can rotate: the columns are those
    of a fixed random matrix, projected onto 𝒦^⊥ and orthonormalised from left to right.

    >>> complement(ConstraintSpace.from_columns([1.0, 0.0, 0.0])).shape
    (3, 2)
    """
    free = qr(space.basis)[0][:, space.dimension :]
    rotation, upper = qr(free.T @ np.random.default_rng(0).normal(size=free.shape))
    signs = np.where(np.diag(upper) < 0, -1.0, 1.0)  # never 0, also where 𝒦 holds one of the random columns
    return free @ (rotation * signs)


def draw_coordinates(law: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """i.i.d. coordinates λ of mean 0 and variance 1; ``law`` is "normal", "uniform" or "two-point" (±1)."""
    one_of(law, "law", COORDINATE_LAWS)
    if law == "normal":
        return rng.normal(size=shape)
    if law == "uniform":
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size=shape)
    return rng.choice([-1.0, 1.0], size=shape)


def free_dimensions(space: ConstraintSpace, subspaces: Sequence[np.ndarray]) -> np.ndarray:
    """(m,) n_S − κ_S for each S, given by orthonormal columns (n, n_S): what the constraints leave free."""
    return np.array([basis.shape[1] - space.capacity(basis) for basis in map(_columns, subspaces)])


def expected_squares(
    space: ConstraintSpace, subspaces: Sequence[np.ndarray], mean: object = 0.0, variance: object = 1.0
) -> np.ndarray:
    """(m,) exact E[e_S²] for independent coordinates λ_j with given means and variances.

    Parameters
    ----------
    subspaces : m arrays (n, n_S) of orthonormal columns, or (n,) unit vectors.
    mean, variance : a number, or (n − κ,) values, one per column of :func:`complement`.

    With mean 0 and one variance this is Eq. 6, σ²(n_S − κ_S), whatever the basis of 𝒦^⊥. Otherwise it depends on that
    basis: E[e_S²] = Σ_j variance_j ‖k_jᵀS‖² + ‖Sᵀ Σ_j mean_j k_j‖².
    """
    basis = complement(space)
    means, variances = (
        np.broadcast_to(finite_array(value, name, (0, 1)), basis.shape[1])
        for value, name in ((mean, "mean"), (variance, "variance"))
    )
    if variances.min() < 0:
        raise ValueError(f"variance: found {variances.min():g}, expected numbers of at least 0.")
    spread, centre = basis * np.sqrt(variances), basis @ means
    return np.array(
        [np.sum(np.square(s.T @ spread)) + np.sum(np.square(s.T @ centre)) for s in map(_columns, subspaces)]
    )


def share_ratios(space: ConstraintSpace, mean: object = 0.0, variance: object = 1.0) -> np.ndarray:
    """(n,) exact expected share of the squared error at each input, over the share (1 − κ_i)/(n − κ) of Eq. 6.

    Parameters
    ----------
    mean, variance : as for :func:`expected_squares`. With mean 0 and equal variances every ratio is 1.
    """
    inputs = list(np.eye(space.n_inputs))
    expected = expected_squares(space, inputs, mean, variance)
    free = free_dimensions(space, inputs)
    return (expected / expected.sum()) / (free / free.sum())


@dataclass(frozen=True, eq=False)
class SimulatedErrors:
    """Squared errors along m subspaces in a simulation, beside what Eq. 6 says of their mean.

    Attributes
    ----------
    squares : (m, n_samples) e_S² of each draw. predicted : (m,) σ²(n_S − κ_S), with σ² = 1.
    mean : (m,) averages over the draws. standard_error : (m,) of those averages.
    """

    squares: np.ndarray = field(repr=False)
    predicted: np.ndarray = field(repr=False)
    mean: np.ndarray = field(repr=False)
    standard_error: np.ndarray = field(repr=False)

    @property
    def z(self) -> np.ndarray:
        """(m,) departure of the mean from Eq. 6, in standard errors; 0 where the two agree to rounding."""
        departure = self.mean - self.predicted
        rounding = np.abs(departure) <= 1e-12 * np.maximum(self.predicted, 1.0)
        with np.errstate(divide="ignore"):  # an infinite z is right for a departure that cannot be chance
            return np.where(rounding, 0.0, departure) / np.where(rounding, 1.0, self.standard_error)

    @property
    def relative_standard_error(self) -> np.ndarray:
        """(m,) standard error of the mean, as a part of what Eq. 6 predicts."""
        return self.standard_error / self.predicted

    @property
    def exceedance(self) -> np.ndarray:
        """(m,) share of the draws in which e_S² is larger than Eq. 6 says of its mean."""
        return np.mean(self.squares > self.predicted[:, None], axis=1)

    def survival(self, levels: np.ndarray, n_first: int) -> np.ndarray:
        """Share of the draws with e_S² above each multiple of Eq. 6's value, pooled over the first subspaces."""
        ratios = np.sort((self.squares[:n_first] / self.predicted[:n_first, None]).ravel())
        return 1 - np.searchsorted(ratios, levels, side="right") / ratios.size


def simulate(
    space: ConstraintSpace, subspaces: Sequence[np.ndarray], law: str, n_samples: int, rng: np.random.Generator
) -> SimulatedErrors:
    """Squared errors along each subspace for random X in 𝒦^⊥ with i.i.d. coordinates (Eqs 4–6).

    Parameters
    ----------
    subspaces : m arrays (n, n_S) of orthonormal columns, or (n,) unit vectors.
    law : distribution of the λ, see :func:`draw_coordinates`. n_samples : draws, at least 2.

    Raises ``ValueError`` when 𝒦 is the whole space: no error satisfies all constraints then.

    >>> space = ConstraintSpace.from_columns([1.0, 0.0])
    >>> simulate(space, [np.array([0.0, 1.0])], "two-point", 10, np.random.default_rng(0)).mean.tolist()
    [1.0]
    """
    basis = complement(space)
    if not basis.shape[1]:
        raise ValueError(f"space: found the whole of R^{space.n_inputs}, expected a smaller 𝒦: no error satisfies it.")
    n_samples = positive_integer(n_samples, "n_samples", 2)
    errors = basis @ draw_coordinates(law, (basis.shape[1], n_samples), rng)
    squares = np.array([np.square(s.T @ errors).sum(axis=0) for s in map(_columns, subspaces)])
    return SimulatedErrors(
        squares=squares,
        predicted=free_dimensions(space, subspaces),
        mean=squares.mean(axis=1),
        standard_error=squares.std(axis=1, ddof=1) / np.sqrt(n_samples),
    )


def _columns(subspace: np.ndarray) -> np.ndarray:
    array = finite_array(subspace, "subspace", (1, 2))
    array = array[:, None] if array.ndim == 1 else array
    if not np.allclose(array.T @ array, np.eye(array.shape[1]), atol=1e-10):
        raise ValueError("subspace: found columns that are not orthonormal, expected an orthonormal basis of S.")
    return array


IN_USE = (0.0, 1.0)
"""Smoothing factors that are used in practice: weights that are positive and decay."""


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Errors X = A(α) − A* of exponential smoothing on two inputs, and the constraint at the optimum.

    Attributes
    ----------
    arch, problem : the model, and the target A* and covariance Σ it is fitted to.
    optimum : α at the minimum of the loss over all real α. space : 𝒦 at the optimum, a line in the plane.
    crossings : ascending, all real α at which the error is orthogonal to 𝒦; the optimum is one of them.
    """

    arch: ExponentialSmoothing = field(repr=False)
    problem: Problem = field(repr=False)
    optimum: float
    space: ConstraintSpace = field(repr=False)
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

    def constrained(self, alphas: ArrayLike) -> np.ndarray:
        """(m,) k·X(α), with k the unit vector of 𝒦: zero where the curve meets 𝒦^⊥."""
        return self.errors(alphas) @ self.space.basis[:, 0]

    def slopes(self, alphas: ArrayLike) -> np.ndarray:
        """(m,) derivative dL/dα: zero at a critical point."""
        jacobians = np.array([self.arch.jacobian([alpha])[:, 0] for alpha in np.atleast_1d(alphas)])
        return 2 * np.sum(jacobians * (self.errors(alphas) @ self.problem.covariance), axis=1)

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


def allocate_all(models: Mapping[str, Architecture], process: Process | Problem) -> dict[str, CapacityAllocation]:
    """Label → capacity allocation of each model at its own optimum for the same process.

    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> models = {"a": Hierarchical(1, kernel_size=[5, 2]), "b": Hierarchical(1, kernel_size=[2, 5])}
    >>> [alloc.total for alloc in allocate_all(models, PowerLaw()).values()]
    [6, 6]
    """
    return {label: allocate(arch, fit(arch, process).params, process) for label, arch in models.items()}


def allocate_by_process(arch: Architecture, tasks: Mapping[str, Process]) -> dict[str, CapacityAllocation]:
    """Label → capacity allocation of one model at its optimum for each process."""
    return {label: allocate(arch, fit(arch, process).params, process) for label, process in tasks.items()}


def relative_squares(error: object) -> np.ndarray:
    """(n,) x_i² / ‖X‖²: the share of the squared error on each input.

    Raises ``ValueError`` for an error of zeros, of which there are no shares.
    """
    array = finite_array(error, "error", 1)
    largest = np.abs(array).max()
    if largest == 0:
        raise ValueError("error: found only zeros, expected an error (the model attains its target exactly).")
    return np.square(array / largest) / np.sum(np.square(array / largest))


@dataclass(frozen=True, eq=False)
class OptimalError:
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
    if arch.input_dim != 1:
        raise ValueError(f"arch: found input_dim = {arch.input_dim}, expected 1 (one error per input).")
    problem = Problem.of(arch, process)
    found = fit(arch, problem)
    if found.loss <= 1e-20 * problem.loss(np.zeros(arch.n_inputs)):
        return None
    alloc = allocate(arch, found.params, problem)
    return OptimalError(
        relative_squares(found.coefficients - problem.target), 1 - alloc.per_input, alloc.total, found.loss
    )
