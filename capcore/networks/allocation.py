"""Where a trained network spends its capacity: the response of its optimum to its targets.

Paper 1 without linearity. At an optimum of L(θ) = Σᵢ ℓ(f(xᵢ; θ), yᵢ) + R(θ) a small shift h of the targets moves the
outputs by J H⁻¹ Jᵀ h, with their Jacobian J (N·K, p) and the loss's Hessian H = JᵀWJ + Σ e ∇²f + ∇²R. In the metric of
the loss this is S = Rᵀ J H⁻¹ Jᵀ R, W = R Rᵀ: for squared loss (W = I) the response itself, and for cross-entropy
(W = diag(p) − ppᵀ) the hat matrix of logistic regression (Pregibon, 1981), whose trace is ∂probabilities/∂targets'.
A subspace of targets with orthonormal columns Z has the capacity tr ZᵀSZ. The total tr S is the effective number of
parameters: a projector's rank for linear models, MacKay's γ under the Gauss–Newton form.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from capcore.allocation import CapacityWarning
from capcore.memory import arrays, fits
from capcore.networks.dense import DenseModel, Response
from capcore.networks.problem import NetworkProblem, to_metric
from capcore.networks.subspaces import Functions, _orthonormal
from capcore.networks.subspaces import inputs as linear_functions
from capcore.validation import finite_array, finite_number, one_of

EPS = float(np.finfo(float).eps)
OPTIMUM = 1e-8
"""A Newton step may take this share off the loss at most: outputs are then within about 1e-4 of the residuals."""


@dataclass(frozen=True, eq=False)
class Capacities:
    """The capacities of one response operator.

    Attributes
    ----------
    total : float
        tr S.
    per_output : (K,) array
        Sums to ``total``.
    per_example : (N,) array
        Leverages; sums to ``total``.
    per_subspace : dict
        Name → array of the subspace's groups, or a number.
    """

    total: float
    per_output: np.ndarray = field(repr=False)
    per_example: np.ndarray = field(repr=False)
    per_subspace: dict[str, Any] = field(repr=False)

    def __sub__(self, other: Capacities) -> Capacities:
        mine, theirs = self.per_subspace, other.per_subspace
        return Capacities(
            self.total - other.total,
            self.per_output - other.per_output,
            self.per_example - other.per_example,
            {name: mine[name] - theirs[name] for name in mine},
        )


@dataclass(frozen=True, eq=False)
class NetworkLayer:
    """Capacities of one group of parameters, seen in the four ways of :class:`~capcore.allocation.LayerAllocation`.

    Attributes
    ----------
    independent : Capacities
        As if all other layers were constants.
    forward : Capacities
        Given all layers before it.
    backward : Capacities
        Given all layers after it.
    marginal : Capacities
        Given all other layers.
    """

    independent: Capacities
    forward: Capacities
    backward: Capacities
    marginal: Capacities

    def totals(self) -> dict[str, float]:
        """The four totals."""
        return {name: view.total for name, view in vars(self).items()}


@dataclass(frozen=True, eq=False)
class NetworkAllocation(Capacities):
    """Where a network at given parameters spends its capacity, and how much of an optimum it is.

    Attributes
    ----------
    gauss_newton_total : float
        tr S without the residual curvature Σ e ∇²f.
    loss : str
    loss_value : float
        L(θ), R included.
    gradient_norm : float
        ‖∇L‖.
    decrement : float
        ½∇LᵀH⁻¹∇L over L: the share of the loss that a Newton step would take off.
    is_optimum : bool
        Whether ``decrement`` is below 1e-8 and no curvature is negative.
    eigenvalues : (p,) array
        Of H, ascending; empty for "sketch".
    n_negative, n_singular : int
        Eigenvalues below zero, and numerically zero; −1 for "sketch".
    method : str
        "dense" or "sketch".
    error : float
        Standard error of ``total``; for "dense" what rounding may do, relatively.
    errors : Capacities or None
        Standard errors of all of them, for "sketch".
    """

    gauss_newton_total: float
    loss: str
    loss_value: float
    gradient_norm: float
    decrement: float
    is_optimum: bool
    eigenvalues: np.ndarray = field(repr=False)
    n_negative: int
    n_singular: int
    method: str
    error: float
    errors: Capacities | None = field(repr=False)
    problem: NetworkProblem = field(repr=False)
    _response: Any = field(repr=False)
    _model: Any = field(repr=False)
    _options: dict[str, Any] = field(repr=False)
    _subspaces: dict[str, Any] = field(repr=False)

    def dense(self, name: str) -> DenseModel:
        """J and H; refused for what was sketched."""
        if self.method != "dense":
            raise AttributeError(f"{name}: found a result of method 'sketch'. Use allocate_network(…, method='dense').")
        return self._model

    def capacity(self, columns: object) -> float:
        """tr ZᵀSZ of the subspace that columns (N·K, k) span, example by example, in units of the outputs."""
        array = finite_array(columns, "columns", (1, 2)).reshape(len(np.asarray(columns)), -1)
        basis = _in_metric(array, self.problem)
        if basis.shape[1] == 0:
            raise ValueError("columns: found dimension 0, expected at least one that is not zero.")
        return float(np.einsum("im,im->", basis, self._response.apply(basis)))

    def response(self, shift: object) -> np.ndarray:
        """(N, K) change of the outputs, to first order, after the targets moved by ``shift`` (N, K): J H⁻¹ Jᵀ h."""
        h = finite_array(shift, "shift", (1, 2))
        shape = self.problem.targets.shape
        if h.size != np.prod(shape):
            raise ValueError(f"shift: found shape {h.shape}, expected {shape}, that of the targets.")
        derivatives = self.problem.derivatives
        gradient = derivatives.vjp(derivatives.params, h.reshape(1, *shape))
        return derivatives.jvp(derivatives.params, self._response.solve(gradient.T).T)[0]

    @cached_property
    def layers(self) -> dict[str, NetworkLayer]:
        """Name of a group of parameters → its capacities, in the order of the parameters.

        Only the group responds, with all others constant ("independent"); the rest are differences of such responses.
        """
        model, options = self.dense("layers"), self._options
        parts = {name: np.r_[part] for name, part in self.problem.layers.items()}
        names = list(parts)

        def of(chosen: list[str]) -> Capacities:
            columns = np.concatenate([parts[name] for name in chosen]) if chosen else np.empty(0, dtype=int)
            return measure(model.restricted(columns, **options), self.problem.targets.shape, self._subspaces)

        ahead = [of(names[:i]) for i in range(len(names))] + [self]
        behind = [self] + [of(names[i:]) for i in range(1, len(names) + 1)]
        found = {}
        for i, name in enumerate(names):
            rest = of(names[:i] + names[i + 1 :])
            found[name] = NetworkLayer(of([name]), ahead[i + 1] - ahead[i], behind[i] - behind[i + 1], self - rest)
        return found


def allocate_network(
    apply: Callable[[Any, Any], Any],
    params: Any,
    inputs: object,
    targets: object,
    *,
    loss: str = "squared",
    weight_decay: Any = 0.0,
    subspaces: Mapping[str, Any] | None = None,
    layers: Mapping[str, slice] | None = None,
    curvature: str = "full",
    stopping_time: float | None = None,
    method: str = "auto",
    tolerance: float | None = None,
    progress: bool = False,
) -> NetworkAllocation:
    """Where a trained network spends its capacity.

    Parameters
    ----------
    apply : callable
        (params, inputs) → outputs (N, K) or (N,), as JAX can trace it; or that of
        :func:`~capcore.networks.derivatives.from_torch`. Deterministic, each example by itself.
    params : object
        Any pytree of real arrays; those of an optimum, see :func:`~capcore.networks.polish.polish`.
    inputs : (N, …) array_like
        The training inputs.
    targets : (N, K), or (N,) array_like
        The training targets; for cross-entropy labels (N,) or probabilities (N, K).
    loss : str
        "squared": ½‖f − y‖² an example; "cross-entropy": −Σ y log softmax(f).
    weight_decay : float, array, pytree or callable
        λ of ½λ‖θ‖² beside the **sum** of the losses; beside a mean loss, λ is N times its factor (for the squared loss
        as the mean over N·K numbers without ½, N·K/2 times). One value for each parameter, or any function
        params → R(θ), can be given.
    subspaces : dict, optional
        Name → :class:`~capcore.networks.subspaces.Functions`, or columns (N, m) of functions or (N·K, m) of targets,
        which count as one subspace. By default the linear functions of every input.
    layers : dict, optional
        Name → slice of the flat parameters; by default the entries at the top of the tree.
    curvature : str
        "full", or "gauss-newton" for S without the residual curvature.
    stopping_time : float, optional
        Steps × rate t of gradient descent on the sum of losses. In place of 1/μ the inverse is (1 − e^{−tμ})/μ on the
        Gauss–Newton spectrum, so that a direction of J counts 1 − e^{−tσ²}: exact for the model linearised at
        ``params`` and trained from there with squared loss, and nothing more.
    method : str
        "dense" forms J and H; "sketch" estimates from products with them; "auto" the first where it fits.
    tolerance : float, optional
        Eigenvalues of H below this share of the largest are zero, and H⁻¹ a pseudo-inverse; by default rounding
        decides, as everywhere (:func:`~capcore.constraints.rank_tolerance`).
    progress : bool
        Show a progress bar.

    Returns
    -------
    NetworkAllocation

    Warns
    -----
    CapacityWarning
        For parameters that are no minimum, and for a singular Hessian along whose null space outputs move.

    Raises
    ------
    ValueError
        For arguments that cannot be used, and for a network without regularisation that can fit all targets: there
        S = I says nothing.
    TooLargeError
        Before anything is allocated that would not fit.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(20, 3))
    >>> y = x @ np.ones(3)
    >>> found = allocate_network(lambda w, x: x @ w, np.linalg.lstsq(x, y)[0], x, y)
    >>> round(found.total, 9), found.per_example.shape, found.is_optimum
    (3.0, (20,), True)
    """
    one_of(method, "method", ("auto", "dense", "sketch"))
    one_of(curvature, "curvature", ("full", "gauss-newton"))
    if stopping_time is not None and not finite_number(stopping_time, "stopping_time") > 0:
        raise ValueError(f"stopping_time: found {stopping_time!r}, expected a positive number.")
    problem = NetworkProblem.of(apply, params, inputs, targets, loss, weight_decay, layers)
    n, k = problem.targets.shape
    model = DenseModel.of(problem, progress)
    prepared = prepare(_default_subspaces(problem) if subspaces is None else subspaces, problem)
    full = curvature == "full" and stopping_time is None
    options: dict[str, Any] = {"full": full, "tolerance": tolerance, "time": stopping_time}
    approximate = Response.of(model.scaled, model.gauss_newton, tolerance, stopping_time)
    rows = n * (k if loss == "squared" else k - 1)
    if not problem.regularised and stopping_time is None and approximate.kept.sum() >= rows:
        raise ValueError(
            f"inputs: found {n:,} examples that a network of {problem.derivatives.n_params:,} parameters can fit with "
            "any targets, expected more: S = I says nothing. Give the weight_decay or stopping_time that was used, or "
            "more examples than parameters."
        )
    response = Response.of(model.scaled, model.full, tolerance) if full else approximate
    value, _ = problem.value_and_gradient(problem.derivatives.params)
    move = np.abs(response.gains) @ np.square(response.vectors.T @ model.gradient) / 2
    floor = (1e3 * EPS * np.linalg.norm(problem.targets)) ** 2
    negative = response.kept & (response.eigenvalues < 0)
    sizes = np.abs(response.eigenvalues[response.kept])
    found = NetworkAllocation(
        **vars(measure(response, (n, k), prepared)),
        gauss_newton_total=float(approximate.diagonal.sum()),
        loss=loss,
        loss_value=value,
        gradient_norm=float(np.linalg.norm(model.gradient)),
        decrement=float(move / max(value, floor)),
        is_optimum=bool(move <= OPTIMUM * value + floor and not negative.any()),
        eigenvalues=response.eigenvalues,
        n_negative=int(negative.sum()),
        n_singular=int((~response.kept).sum()),
        method="dense",
        error=float(EPS * sizes.max() / sizes.min()) if sizes.size else 0.0,
        errors=None,
        problem=problem,
        _response=response,
        _model=model,
        _options=options,
        _subspaces=prepared,
    )
    _warn(found, response.dropped if stopping_time is None else 0.0, stopping_time is not None)
    return found


def measure(response: Any, shape: tuple[int, int], prepared: Mapping[str, Any]) -> Capacities:
    """The capacities of a dense response."""
    leverage = response.diagonal.reshape(shape)
    per_subspace = {
        name: _grouped(response.along(basis), labels, form) for name, (basis, labels, form) in prepared.items()
    }
    return Capacities(float(leverage.sum()), leverage.sum(axis=0), leverage.sum(axis=1), per_subspace)


def _grouped(values: np.ndarray, labels: np.ndarray, form: tuple[int, ...]) -> Any:
    sums = np.bincount(labels, values, minlength=int(np.prod(form))).reshape(form)
    return sums if form else float(sums)


def prepare(subspaces: Mapping[str, Any], problem: NetworkProblem) -> dict[str, Any]:
    """Name → orthonormal columns (N·K, M) in the metric of the loss, their groups (M,), and the shape of the groups."""
    _, roots, means = problem.errors(problem.derivatives.outputs(problem.derivatives.params))
    found = {}
    for name, given in subspaces.items():
        if isinstance(given, Functions):
            found[name] = (*given.basis(roots, means), given.shape)
            continue
        array = finite_array(given, f"subspaces[{name!r}]", (1, 2)).reshape(len(np.asarray(given)), -1)
        if len(array) == len(roots) and roots.shape[1] > 1:
            basis, labels = Functions(array, np.zeros(array.shape[1], dtype=int), (1,), "span").basis(roots, means)
        else:
            basis = _in_metric(array, problem)
            labels = np.zeros(basis.shape[1], dtype=int)
        found[name] = (basis, labels, ())
    return found


def _in_metric(columns: np.ndarray, problem: NetworkProblem) -> np.ndarray:
    """An orthonormal basis, in the metric of the loss, of columns (N·K, m) in units of the outputs."""
    _, roots, means = problem.errors(problem.derivatives.outputs(problem.derivatives.params))
    if len(columns) != roots.size:
        raise ValueError(f"columns: found {len(columns)} rows, expected {roots.size}: {roots.shape[1]} an example.")
    return _orthonormal(to_metric(columns, roots, means))


def _default_subspaces(problem: NetworkProblem) -> dict[str, Functions]:
    """Linear functions of every input, where there are fewer than examples."""
    points, k = problem.derivatives.inputs, problem.targets.shape[1]
    columns = points[0].size
    if points.dtype.kind != "f" or columns >= len(points) or not fits(arrays(len(points) * k, columns * k, copies=4)):
        return {}
    return {"inputs": linear_functions(points)}


def _warn(found: NetworkAllocation, dropped: float, stopped: bool) -> None:
    if not (stopped or found.is_optimum):
        why = f"{found.n_negative} negative curvatures, " if found.n_negative > 0 else ""
        warnings.warn(
            f"params: found no minimum: {why}gradient norm {found.gradient_norm:.2g}, and a Newton step would take "
            f"a share {found.decrement:.1g} off the loss. S is then not what retraining does. What needs no optimum: "
            "the Gauss–Newton form (curvature='gauss-newton'), which is the linearised model's, and paper_metric. "
            "Train on, or use capcore.networks.polish.",
            CapacityWarning,
            stacklevel=3,
        )
    if dropped > 1e-12:
        warnings.warn(
            f"params: found {found.n_singular} singular directions of the Hessian, with a share {dropped:.1g} of the "
            "squared Jacobian: outputs move along them and the loss does not hold them, so S is not defined there and "
            "they were left out. Add weight_decay, or set tolerance.",
            CapacityWarning,
            stacklevel=3,
        )
