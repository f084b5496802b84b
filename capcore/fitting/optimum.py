"""Fit an architecture to a process: the optimum at which capacity is allocated (paper 1, sections 4.2–4.3).

The loss is the excess prediction variance L = (A − A*)ᵀ Σ (A − A*); no sampling is needed (App. B.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from capcore.architectures.base import Architecture
from capcore.architectures.columns import column_space, compress_columns
from capcore.architectures.hierarchical import Hierarchical, is_train
from capcore.architectures.linear import Linear
from capcore.architectures.recurrent import Recurrent
from capcore.checks.arguments import Seed, finite_number, of_kind, one_of, positive_integer
from capcore.checks.memory import check_fit
from capcore.checks.progress import tqdm
from capcore.fitting.basin_hopping import minimise_by_hopping, start_near_identity
from capcore.fitting.gauss_newton import ROUNDING, Minimum, minimise_gauss_newton
from capcore.fitting.lbfgs import minimise_lbfgs
from capcore.fitting.projection import least_squares
from capcore.fitting.variable_projection import minimise_poles, projection_path
from capcore.processes import Process
from capcore.processes.problem import Problem

METHODS = {
    "gauss-newton": ("max_iterations", "tolerance", "floor", "acceleration"),
    "l-bfgs-b": ("max_iterations", "ftol"),
    "variable-projection": ("max_iterations",),
    "basin-hopping": ("n_hops", "max_iterations"),
}
"""Minimisers, and the names of their options."""
PROJECTION = "projection"
WITH_A_TARGET = "something to predict beside the covariance: cc.FromCovariance(sigma, cross=…) or target=…"
STATIONARY = 1e-3  # relative offset below which Bates & Watts (1981) call a least-squares fit converged


@dataclass(frozen=True, eq=False)
class FitResult:
    """An optimum, with measures of its quality.

    Attributes
    ----------
    params : (n_params,) array
        Parameters of the optimum.
    coefficients : (n,) array
        Coefficients Â of the model.
    loss : float
        Excess variance (A − A*)ᵀΣ(A − A*).
    variance : float
        v* + loss, the variance of the prediction error.
    gradient_norm : float
        ‖∂L/∂W‖ at the end.
    relative_offset : float
        Cosine of the angle between the residual and the nearest direction in which the model can move, 0 at a
        stationary point (Bates & Watts); it is only rounding once the loss itself is at the rounding floor.
    n_iterations : int
        Iterations of the run that was kept.
    converged : bool
        Whether it converged.
    message : str
        Why it stopped.
    method : str
        The minimiser used.
    history : (n_iterations + 1,) array
        Loss at the start and after each iteration.
    losses : (n_starts,) array
        Final loss of each start, in order; ``params`` belong to the smallest. One alone for "projection".
    """

    params: np.ndarray = field(repr=False)
    coefficients: np.ndarray = field(repr=False)
    loss: float
    variance: float
    gradient_norm: float
    relative_offset: float
    n_iterations: int
    converged: bool
    message: str
    method: str
    history: np.ndarray = field(repr=False)
    losses: np.ndarray = field(repr=False)


def fit(
    arch: Architecture,
    task: Process | Problem,
    *,
    rng: Seed = None,
    method: str = "auto",
    start: str | np.ndarray = "auto",
    n_starts: int = 1,
    rebalance: bool = True,
    progress: bool = False,
    **options: float,
) -> FitResult:
    """Parameters at which the architecture predicts the process best.

    Parameters
    ----------
    arch, task, rng, n_starts, progress : object
        As for :func:`~capcore.verbs.fit`.
    method : str
        A dense one of those that are listed there. "auto", one descent: variable projection for recurrent models,
        Gauss–Newton for all others.
    start : str or (n_params,) array
        "tensor-train" (the TT-SVD of A*; disjoint supports only), "random", parameters, or "auto": for Gauss–Newton the
        tensor train if it exists, for variable projection the best optima with 1, 2, … channels in turn, for basin
        hopping near the identity, random otherwise. With several starts, all after the first are random.
    rebalance : bool
        Let Gauss–Newton rescale the layers from time to time (the coefficients do not change); needs an architecture
        with a ``rebalance`` method. L-BFGS-B ignores it.
    **options : float
        Passed to the minimiser: ``max_iterations``; ``tolerance``, ``floor``, ``acceleration`` (by default where
        dilations overlap) of :func:`~capcore.fitting.gauss_newton.minimise_gauss_newton`; ``ftol`` of
        :func:`~capcore.fitting.lbfgs.minimise_lbfgs`; ``n_hops`` of
        :func:`~capcore.fitting.basin_hopping.minimise_by_hopping`.

    Raises
    ------
    ValueError
        If an argument cannot be used.
    FloatingPointError
        If a start or the answer is not finite.
    TooLargeError
        At once if the fit would not fit into memory; the message names the function to use instead.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> fit(Hierarchical(channels=8, n_layers=6), PowerLaw()).loss < 1e-26
    True
    """
    check_fit(arch)
    one_of(method, "method", ("auto", *METHODS, PROJECTION))
    if method == "auto":
        method = dense_method(arch, None, options)  # without a start by name, one descent
    if method == "variable-projection" and not isinstance(arch, Recurrent):
        raise ValueError(f"method: found {method!r} for {arch!r}, expected a model with poles. Use 'auto'.")
    generator = np.random.default_rng(0 if rng is None else rng)
    n_starts = positive_integer(n_starts, "n_starts")
    if isinstance(start, str):
        one_of(start, "start", ("auto", "tensor-train", "random"))
    for key, value in options.items():
        one_of(key, f"option of {method}", METHODS.get(method, sorted(set().union(*METHODS.values()))))
        check_option(key, value)
    problem = Problem.of(arch, task)
    of_kind(problem.variance, "task", float | int | np.floating, WITH_A_TARGET)
    if method == PROJECTION:
        return _fit_by_projection(arch, problem)
    optima = []
    for i in range(n_starts):
        params = _start(arch, problem, "random" if i else start, method, generator)
        with tqdm(desc=f"{method}, start {i + 1}/{n_starts}", unit="it", disable=not progress) as bar:

            def tick(loss: float, bar: tqdm = bar) -> None:
                bar.set_postfix(loss=f"{loss:.2e}", refresh=False)
                bar.update()

            options["callback"] = tick if progress else None  # type: ignore[assignment]
            optima.append(_minimise(arch, problem, params, method, generator, rebalance, **options))
    losses = [optimum.history[-1] for optimum in optima]
    return _summary(arch, problem, optima[int(np.argmin(losses))], method, losses)


def check_option(name: str, value: object) -> None:
    """Raise ``ValueError`` or ``TypeError`` for what no option of this name can be."""
    if name == "acceleration":
        of_kind(value, name, bool)
    elif name in ("max_iterations", "n_hops"):
        positive_integer(value, name, 0)
    else:
        finite_number(value, name, "a number of at least 0", least=0)


def _start(
    arch: Architecture, problem: Problem, start: str | np.ndarray, method: str, rng: np.random.Generator
) -> np.ndarray | None:
    """(n_params,) parameters, or None where the fit begins with the optima of smaller models instead."""
    if not isinstance(start, str):
        return arch.checked(start, "start")
    if start == "auto" and method == "variable-projection":
        return None
    if start == "auto" and method == "basin-hopping" and isinstance(arch, Hierarchical):
        return start_near_identity(arch, rng)
    if start == "auto":
        train = method == "gauss-newton" and is_train(arch, one_component=False)
        start = "tensor-train" if train else "random"
    if start == "random":
        return arch.init(rng)
    if not isinstance(arch, Hierarchical):
        raise ValueError(f"start: found 'tensor-train', but {type(arch).__name__} has none. Use start='random'.")
    return arch.best_start(problem.target, rng)


def _minimise(
    arch: Any, problem: Problem, params: Any, method: str, rng: np.random.Generator, rebalance: bool, **options: Any
) -> Minimum:
    """The method's optimum from a start, whose loss has to be finite at both ends."""
    if params is not None:
        with np.errstate(all="ignore"):
            start_loss = problem.loss(arch.coefficients(params))
        if not np.isfinite(start_loss):
            raise FloatingPointError("fit: found a loss at the start that is not finite. Scale the start down.")
    if method == "basin-hopping":
        minimum = minimise_by_hopping(arch, problem, params, rng, rebalance, **options)
    elif method == "l-bfgs-b":
        minimum = minimise_lbfgs(arch, problem.target, problem.covariance, params, **options)
    elif params is None:
        path = projection_path(arch, [arch.channels], problem.target, problem.root, rng, **options)
        minimum = path[arch.channels]
    elif method == "variable-projection":
        minimum = minimise_poles(arch, problem.target, problem.root, arch.poles(params), **options)
    else:
        rescale = partial(arch.rebalance, rng=rng) if rebalance and isinstance(arch, Hierarchical) else None
        options = {"acceleration": not getattr(arch, "has_disjoint_supports", True), "rebalance": rescale, **options}
        minimum = minimise_gauss_newton(arch, problem.target, problem.root, params, **options)
    if not (np.isfinite(minimum.history[-1]) and np.isfinite(minimum.params).all()):
        raise FloatingPointError(f"fit: {method} ended at parameters that are not finite. Try another start or seed.")
    return minimum


def dense_method(arch: object, start: object, options: Mapping[str, object]) -> str:
    """The method for a kind of model at moderate size; the first that applies.

    Projection is for linear models, unless a start or options are given that it has no use for; basin
    hopping for stacks whose dilations overlap, which have many optima; variable projection for models with poles.
    """
    named = isinstance(start, str)
    if isinstance(arch, Hierarchical):
        hops = not arch.has_disjoint_supports and named and set(options) <= set(METHODS["basin-hopping"])
        return "basin-hopping" if hops else "gauss-newton"
    if isinstance(arch, Linear) and named and start == "auto" and not options:
        return PROJECTION
    return "variable-projection" if isinstance(arch, Recurrent) else "gauss-newton"


def _summary(arch: Architecture, problem: Problem, best: Minimum, method: str, losses: list[float]) -> FitResult:
    coefficients, pullback = arch.linearise(best.params)
    error = coefficients - problem.target
    residual = problem.root @ error
    loss = float(residual @ residual)
    tangents = np.hstack(list(arch.tangents(best.params).values()))
    movable, _, _ = column_space(compress_columns(problem.root @ tangents), tangents.shape)
    offset = float(np.linalg.norm(movable.T @ residual) / np.sqrt(loss)) if loss > 0 else 0.0
    converged, message = best.converged, best.message
    if method == "l-bfgs-b" and converged and offset > STATIONARY and loss > ROUNDING * problem.loss(0 * error):
        # SciPy's own tests look at the loss's last decrease, which also vanishes where a line search gets stuck.
        converged = False
        message += f", yet not stationary: the relative offset is {offset:.1e}, expected at most {STATIONARY:g}"
    return FitResult(
        params=best.params,
        coefficients=coefficients,
        loss=loss,
        variance=problem.variance + loss,
        gradient_norm=float(2 * np.linalg.norm(pullback(problem.covariance @ error))),
        relative_offset=offset,
        n_iterations=len(best.history) - 1,
        converged=converged,
        message=message,
        method=method,
        history=np.array(best.history),
        losses=np.array(losses),
    )


def _fit_by_projection(arch: Architecture, problem: Problem) -> FitResult:
    """The optimum of a model that is linear in its parameters."""
    if not isinstance(arch, Linear):
        raise ValueError(f"method: found {PROJECTION!r} for {arch!r}, expected a linear model. Use 'auto'.")
    basis = arch.jacobian(np.zeros(arch.n_params))
    params, _ = least_squares(problem.root @ basis, problem.root @ problem.target)
    history = [problem.loss(np.zeros(problem.target.size)), problem.loss(arch.coefficients(params))]
    end = Minimum(params, history, True, "projected: the model is linear in its parameters")
    return _summary(arch, problem, end, PROJECTION, history[-1:])
