"""Where a trained network spends its capacity: how far its outputs follow its targets, at its parameters.

Paper 1 without linearity. At an optimum of L(θ) = Σᵢ ℓ(f(xᵢ; θ), yᵢ) + R(θ) a small shift h of the targets moves the
outputs by J H⁻¹ Jᵀ h, with their Jacobian J (N·K, p) and the loss's Hessian H = JᵀWJ + Σ e ∇²f + ∇²R. In the metric of
the loss this is S = Rᵀ J H⁻¹ Jᵀ R, W = R Rᵀ: for squared loss (W = I) the response itself, and for cross-entropy
(W = diag(p) − ppᵀ) the hat matrix of logistic regression (Pregibon, 1981), whose trace is ∂probabilities/∂targets'.
A subspace of targets with orthonormal columns Z has the capacity tr ZᵀSZ. The total tr S is the effective number of
parameters: a projector's rank for linear models, MacKay's γ under the Gauss–Newton form.

**Which number.** By default H is the Gauss–Newton form JᵀWJ + ∇²R. Then S belongs to the network linearised at θ, which
needs no optimum: it is defined at any parameters, also at those where AdamW or early stopping ended, and for networks
whose gradient jumps. S is a contraction: its eigenvalues, and with them leverages and the capacity of any direction,
lie between 0 and 1, and the total between 0 and p. This is the number to report. ``curvature="full"`` keeps the
residual curvature Σ e ∇²f and is for experts: it says how far outputs follow when the network is trained again with
slightly other targets, and only at an optimum, where :func:`~capcore.networks.polish.polish` ends. It is not bounded:
at a minimum with weak decay outputs may move by several times what their targets did. ``found.report()`` says which of
its numbers belongs to what.

For cross-entropy R is one root of W, diag(√p) − p√pᵀ; another is R times a rotation of each example's outputs, which
changes ``per_output`` and nothing else. And R(θ) is part of the loss, so that weight decay means ½λ‖θ‖², whose optimum
has ∇ℓ = −λθ. AdamW shrinks θ beside its adaptive step and ends at another point; what stands for its decay is in
:mod:`capcore.networks.decoupled_decay`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.capacity.allocation import CapacityWarning
from capcore.checks.arguments import (
    finite_number,
    of_kind,
    one_of,
    plain_number,
    plain_seed,
    positive_integer,
    real,
    warn,
    whole,
)
from capcore.checks.memory import arrays, fits, too_large
from capcore.networks import cost
from capcore.networks.capacities import measure
from capcore.networks.problem import NetworkProblem
from capcore.networks.products import NegativeCurvatureError, SketchedModel
from capcore.networks.report import SLACK, warnings_of
from capcore.networks.response import CholeskyResponse, DenseModel, Response, dense_bytes, respond
from capcore.networks.results import NetworkAllocation
from capcore.networks.sketch import columns_solved, estimate, leverage_of_a_few, within
from capcore.networks.subspaces import prepare

EPS = float(np.finfo(float).eps)
LACKING = 1e-4
OPTIMUM = 1e-8
"""The largest share of the loss that a Newton step may remove: outputs are then within about 1e-4 of the residuals."""


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
    curvature: str = "gauss-newton",
    stopping_time: float | None = None,
    method: str = "auto",
    tolerance: float | None = None,
    probes: int = 16,
    max_steps: int = 2000,
    single: bool = False,
    rng: np.random.Generator | int | None = None,
    seconds: float | None = None,
    progress: bool = False,
) -> NetworkAllocation:
    """Where a trained network spends its capacity, and how many of its parameters count.

    Parameters
    ----------
    apply : callable
        (params, inputs) → outputs (N, K) or (N,), as JAX can trace it; or a module of PyTorch, Flax or Equinox, which
        is copied and put into evaluation mode. It must be deterministic and treat each example by itself.
    params : object
        Any pytree of real arrays: the trained parameters. None for those that a module has; the variables of a Linen
        module. Only ``curvature="full"`` wants an optimum.
    inputs : (N, …) array_like
        The training inputs.
    targets : (N, K), or (N,) array_like
        The training targets; for cross-entropy labels (N,) or probabilities (N, K).
    loss : str
        "squared": ½‖f − y‖² an example; "cross-entropy": −Σ y log softmax(f).
    weight_decay : float, array, mapping or callable
        λ of ½λ‖θ‖² beside the **sum** of the losses; beside a mean loss, λ is N times its factor (for the squared loss
        as the mean over N·K numbers without ½, N·K/2 times). One value for each parameter, as (p,) or as a tree like
        ``params`` that is matched by name, or any function params → R(θ), can be given. This is the L2 penalty; for
        AdamW's decay, give what :func:`~capcore.networks.decoupled_decay.decoupled_decay` returns.
    subspaces : dict, optional
        Name → :class:`~capcore.networks.subspaces.Functions`, or columns (N, m) of functions or (N·K, m) of targets,
        which count as one subspace. By default "inputs", the linear functions of every input, if there are fewer
        inputs than examples.
    layers : dict, optional
        Name → slice of the flat parameters, each of which is in exactly one; by default the modules that hold them,
        such as ``blocks.0.attn`` (:func:`~capcore.architectures.trees.layer_names`).
    curvature : str
        "gauss-newton", or "full" for S with the residual curvature, at an optimum; see above.
    stopping_time : float, optional
        Steps × rate t of gradient descent on the sum of losses. The inverse 1/μ is replaced by (1 − e^{−tμ})/μ on the
        Gauss–Newton spectrum, so that a direction of J counts 1 − e^{−tσ²}: exact for the model linearised at
        ``params`` and trained from there with squared loss, and nothing more.
    method : str
        "dense" forms J and H; "sketch" estimates from products with them. "auto" is "dense" if that fits into memory
        and is thought to take less than a minute, or less than the sketch; :mod:`capcore.networks.cost` has the model.
    tolerance : float, optional
        Eigenvalues of H below this share of the largest are zero, and H⁻¹ a pseudo-inverse; by default rounding
        decides, as everywhere (:func:`~capcore.architectures.columns.rank_tolerance`). For "sketch" the share of a
        capacity that a solve may still lack when it stops, by default 1e-4.
    probes : int, default 16
        Random vectors of "sketch", at least 2. Errors (half-widths of 95 % intervals) fall as the root of their number.
        Subspaces with at most so many columns are solved column by column.
    max_steps : int, default 2000
        Largest number of steps of a solve of "sketch".
    single : bool, default False
        Compute derivatives in single precision, which suffices for "sketch" if the condition number is below about 1e5.
    rng : numpy.random.Generator or int, default 0
        For "sketch".
    seconds : float, optional
        A budget. "auto" then is "dense" if that is thought to take less; "dense" is refused if it is thought to take
        more. "sketch" takes no further probes or steps once it is spent, and reports the error that it reached: such a
        result depends on the machine, and is not reproducible.
    progress : bool
        Show a progress bar, with the time that is expected.

    Returns
    -------
    NetworkAllocation

    Warns
    -----
    CapacityWarning
        If a leverage is numerically 1; if the Hessian is singular and outputs move along its null space; if solves
        reached ``max_steps`` or the end of their budget. With the full Hessian also if parameters are no minimum, and
        if leverages exceed 1.

    Raises
    ------
    ValueError
        If an argument cannot be used, or a network without regularisation can fit all targets: then S = I says nothing.
        Also if the dense route would exceed the budget.
    TooLargeError
        If something would not fit into memory; raised before it is allocated.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(20, 3))
    >>> y = x @ np.ones(3)
    >>> found = allocate_network(lambda w, x: x @ w, np.linalg.lstsq(x, y)[0], x, y)
    >>> round(found.total, 9), found.per_example.shape, found.is_optimum
    (3.0, (20,), True)
    """
    begun = cost.clock()
    plain_seed(rng)
    tolerance = plain_number(tolerance, "tolerance")
    stopping_time = plain_number(stopping_time, "stopping_time")
    real(tolerance, "tolerance", True)
    if tolerance is not None and not 0 <= finite_number(tolerance, "tolerance") < 1:
        raise ValueError(f"tolerance: found {tolerance!r}, expected a share, at least 0 and below 1.")
    whole(max_steps, "max_steps")
    of_kind(subspaces, "subspaces", Mapping | None, "a mapping of names to functions")
    one_of(method, "method", ("auto", "dense", "sketch"))
    one_of(curvature, "curvature", ("full", "gauss-newton"))
    for name, value in (("stopping_time", stopping_time), ("seconds", seconds)):
        if value is not None and not finite_number(value, name) > 0:
            raise ValueError(f"{name}: found {value!r}, expected a positive number.")
    if stopping_time is not None and method == "sketch":
        raise ValueError("stopping_time: found one with method 'sketch', expected none. Use method='dense'.")
    probes = positive_integer(probes, "probes", 2)
    max_steps = positive_integer(max_steps, "max_steps")
    budget = cost.Budget(None if seconds is None else finite_number(seconds, "seconds"))
    problem = NetworkProblem.of(apply, params, inputs, targets, loss, weight_decay, layers, single)
    prepared = prepare(subspaces, problem)
    full = curvature == "full" and stopping_time is None
    at = problem.value_and_gradient(problem.derivatives.params)
    method, expected = _route(problem, prepared, method, full, stopping_time, probes, seconds, progress)
    title = "capacity" if expected is None else f"capacity, {cost.about(expected)}"
    if method == "dense":
        found = _dense(problem, at, prepared, full, tolerance, stopping_time, title if progress else "")
    else:
        rng = np.random.default_rng(0 if rng is None else rng)
        with tqdm(desc=title, unit="product", disable=not progress) as bar:
            found = _sketched(problem, at, prepared, full, tolerance or LACKING, probes, max_steps, rng, budget, bar)
    found = replace(found, seconds=float(cost.clock() - begun))
    for message in warnings_of(found):
        warn(message, CapacityWarning)
    return found


def _route(
    problem: NetworkProblem, prepared: Mapping[str, Any], method: str, full: bool, time: float | None, probes: int,
    seconds: float | None, progress: bool,
) -> tuple[str, float | None]:  # fmt: skip
    """The route, and the seconds that it is thought to take."""
    p, (n, k) = problem.derivatives.n_params, problem.targets.shape
    columns = sum(basis.shape[1] for basis, _, _ in prepared.values())
    dense = cost.dense_cost(n * k, p, k, full=full, stopped=time is not None, columns=columns)
    solves, _ = columns_solved(prepared, probes, full)
    return cost.chosen(
        "dense" if time is not None else method,
        dense,
        cost.sketch_cost(p, min(4 * probes, p // 2), solves, full=full),
        fits=fits(dense_bytes(problem)),
        known=dense.operations + 6.0 * dense.gradients * n * p,  # a gradient uses each parameter six times an example
        timed=lambda: cost.Speed.of(lambda: problem.value_and_gradient(problem.derivatives.params)),
        seconds=seconds,
        progress=progress,
    )


def _dense(
    problem: NetworkProblem, at: tuple[float, np.ndarray], prepared: Mapping[str, Any], full: bool,
    tolerance: float | None, time: float | None, title: str,
) -> NetworkAllocation:  # fmt: skip
    """Capacities from J and H; ``title`` is that of the progress bar, empty for none."""
    n, k = problem.targets.shape
    with tqdm(desc=title, total=3, unit="part", disable=not title) as bar:
        model = DenseModel.of(problem, at[1], full, bool(title))
        bar.update()
        approximate = respond(model.scaled, model.gauss_newton, tolerance, time)
        if time is None:
            problem.refuse_rank(problem.derivatives.n_params - approximate.n_singular)
        response = respond(model.scaled, model.full, tolerance) if full else approximate
        bar.update()
        capacities = measure(response, (n, k), prepared)
        leverages = _largest_leverages(response, (n, k))
        bar.update()
    return NetworkAllocation(
        **vars(capacities),
        **_optimality(problem, at, response.decrease(model.gradient), response.n_negative > 0),
        curvature="full" if full else "gauss-newton",
        largest_leverage=float(leverages.max()),
        gauss_newton_total=float(approximate.diagonal.sum()),
        n_negative=response.n_negative,
        n_singular=response.n_singular,
        method="dense",
        error=response.rounding,
        errors=None,
        problem=problem,
        _response=response,
        _model=model,
        _options={
            "full": full,
            "tolerance": tolerance,
            "time": time,
            "dropped": response.dropped if time is None else 0.0,
            "largest": int(leverages.argmax()),
            "fitted": int((leverages > 1 - SLACK).sum()),
        },
        _subspaces=dict(prepared),
    )


def _sketched(
    problem: NetworkProblem, at: tuple[float, np.ndarray], prepared: Mapping[str, Any], full: bool, tolerance: float,
    probes: int, max_steps: int, rng: Any, budget: cost.Budget, bar: Any,
) -> NetworkAllocation:  # fmt: skip
    """Capacities by Hutchinson's estimator: zᵀSz of random signs z, in all and for the columns of every subspace."""
    p, (n, k) = problem.derivatives.n_params, problem.targets.shape
    n_bytes = arrays(p, 11 * probes) + arrays(n * k, 6 * probes)
    if not fits(n_bytes):
        raise too_large(f"allocate_network: found {p:,} parameters, {probes} probes", n_bytes, "Use fewer probes.")
    problem.refuse_rank(p)
    try:
        model = SketchedModel.of(problem, full, min(4 * probes, p // 2), tolerance, max_steps, rng, bar, budget)
        found = estimate(model, prepared, probes, rng, budget)
        signs, images = found["signs"], found["images"]
        last = within(model, budget, 1.0)
        newton = last.solved(at[1][:, None])[0][:, 0]
        gap = (signs * (images - last.gauss_newton().applied(signs)[0])).sum() / signs.shape[1] if full else 0.0
        largest, leverage = leverage_of_a_few(last, images, found["means"].per_example)
    except NegativeCurvatureError:
        raise ValueError(
            "params: found negative curvature, expected a minimum. Train further, or use capcore.networks.polish; "
            "the Gauss–Newton form needs no minimum: curvature='gauss-newton'."
        ) from None
    return NetworkAllocation(
        **vars(found["means"]),
        **_optimality(problem, at, float(at[1] @ newton) / 2, False),
        curvature="full" if full else "gauss-newton",
        largest_leverage=leverage,
        gauss_newton_total=found["means"].total - float(gap),
        n_negative=-1,
        n_singular=-1,
        method="sketch",
        error=found["errors"].total,
        errors=found["errors"],
        problem=problem,
        _response=replace(model, tolerance=min(tolerance, 1e-12)),
        _model=None,
        _options={
            "lacking": found["lacking"],
            "tolerance": tolerance,
            "probes": signs.shape[1],
            "asked": probes,
            "spent": budget.spent(),
            "largest": largest,
            "fitted": int(leverage > 1 - SLACK),
        },
        _subspaces=dict(prepared),
    )


def _largest_leverages(response: Response | CholeskyResponse, shape: tuple[int, int]) -> np.ndarray:
    """(N,) largest eigenvalues of the (K, K) blocks of S; they do not depend on the root of W."""
    return np.linalg.eigvalsh(response.blocks(shape))[:, -1]


def _optimality(problem: NetworkProblem, at: tuple[float, np.ndarray], move: float, negative: bool) -> dict[str, Any]:
    value, gradient = at
    floor = (1e3 * EPS * float(np.linalg.norm(problem.targets))) ** 2
    return {
        "loss": problem.loss,
        "loss_value": value,
        "gradient_norm": float(np.linalg.norm(gradient)),
        "decrement": move / max(value, floor, float(np.finfo(float).tiny)),
        "is_optimum": move <= OPTIMUM * value + floor and not negative,
    }
