"""Where a trained network spends its capacity: the response of its optimum to its targets.

Paper 1 without linearity. At an optimum of L(θ) = Σᵢ ℓ(f(xᵢ; θ), yᵢ) + R(θ) a small shift h of the targets moves the
outputs by J H⁻¹ Jᵀ h, with their Jacobian J (N·K, p) and the loss's Hessian H = JᵀWJ + Σ e ∇²f + ∇²R. In the metric of
the loss this is S = Rᵀ J H⁻¹ Jᵀ R, W = R Rᵀ: for squared loss (W = I) the response itself, and for cross-entropy
(W = diag(p) − ppᵀ) the hat matrix of logistic regression (Pregibon, 1981), whose trace is ∂probabilities/∂targets'.
A subspace of targets with orthonormal columns Z has the capacity tr ZᵀSZ. The total tr S is the effective number of
parameters: a projector's rank for linear models, MacKay's γ under the Gauss–Newton form.

Three things to know. In the Gauss–Newton form S is a contraction: its eigenvalues, and with them leverages and the
capacity of any direction, lie between 0 and 1. With the full Hessian they are not bounded: at a minimum with weak decay
outputs may move by several times what their targets did. For cross-entropy R is one root of W, diag(√p) − p√pᵀ; another
is R times a rotation of each example's outputs, which changes ``per_output`` and nothing else. And R(θ) is part of the
loss, so that weight decay means ½λ‖θ‖², whose optimum has ∇ℓ = −λθ. AdamW shrinks θ beside its adaptive step and ends
at another point, where ∇ℓ = −w(√v + ε)θ with v the mean squared gradient of each parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.allocation import CapacityWarning
from capcore.available_memory import arrays, fits, too_large
from capcore.gate import of_kind, plain_number, plain_seed, real, whole
from capcore.networks.problem import NetworkProblem
from capcore.networks.response import DenseModel, NegativeCurvatureError, Response, SketchedModel, dense_bytes
from capcore.networks.results import CONTRACTION, SLACK, NetworkAllocation, by_group, measure
from capcore.networks.sketch import estimate, leverage_of_a_few
from capcore.networks.subspaces import prepare
from capcore.validation import finite_number, one_of, positive_integer, warn

EPS = float(np.finfo(float).eps)
DENSE = 4096
"""Parameters up to which the dense route is taken, if it fits: its time grows with their cube."""
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
    curvature: str = "full",
    stopping_time: float | None = None,
    method: str = "auto",
    tolerance: float | None = None,
    probes: int = 16,
    max_steps: int = 2000,
    single: bool = False,
    rng: np.random.Generator | int | None = None,
    progress: bool = False,
) -> NetworkAllocation:
    """Where a trained network spends its capacity.

    Parameters
    ----------
    apply : callable
        (params, inputs) → outputs (N, K) or (N,), as JAX can trace it; or a module of PyTorch, Flax or Equinox, which
        is copied and put into evaluation mode. It must be deterministic and treat each example by itself.
    params : object
        Any pytree of real arrays, at an optimum; see :func:`~capcore.networks.polish.polish`. None for the parameters
        that a module has; the variables of a Linen module.
    inputs : (N, …) array_like
        The training inputs.
    targets : (N, K), or (N,) array_like
        The training targets; for cross-entropy labels (N,) or probabilities (N, K).
    loss : str
        "squared": ½‖f − y‖² an example; "cross-entropy": −Σ y log softmax(f).
    weight_decay : float, array, mapping or callable
        λ of ½λ‖θ‖² beside the **sum** of the losses; beside a mean loss, λ is N times its factor (for the squared loss
        as the mean over N·K numbers without ½, N·K/2 times). One value for each parameter, as (p,) or as a tree like
        ``params`` that is matched by name, or any function params → R(θ), can be given. This is the L2 penalty;
        AdamW's decay has another fixed point, see above.
    subspaces : dict, optional
        Name → :class:`~capcore.networks.subspaces.Functions`, or columns (N, m) of functions or (N·K, m) of targets,
        which count as one subspace. By default "inputs", the linear functions of every input, if there are fewer
        inputs than examples.
    layers : dict, optional
        Name → slice of the flat parameters, each of which is in exactly one; by default the modules that hold them,
        such as ``blocks.0.attn`` (:func:`~capcore.trees.layer_names`).
    curvature : str
        "full", or "gauss-newton" for S without the residual curvature.
    stopping_time : float, optional
        Steps × rate t of gradient descent on the sum of losses. The inverse 1/μ is replaced by (1 − e^{−tμ})/μ on the
        Gauss–Newton spectrum, so that a direction of J counts 1 − e^{−tσ²}: exact for the model linearised at
        ``params`` and trained from there with squared loss, and nothing more.
    method : str
        "dense" forms J and H; "sketch" estimates from products with them; "auto" is "dense" if it fits into memory.
    tolerance : float, optional
        Eigenvalues of H below this share of the largest are zero, and H⁻¹ a pseudo-inverse; by default rounding
        decides, as everywhere (:func:`~capcore.constraints.rank_tolerance`). For "sketch" the share of a capacity that
        a solve may still lack when it stops, by default 1e-4.
    probes : int, default 16
        Random vectors of "sketch", at least 2. Errors (half-widths of 95 % intervals) fall as the root of their number.
        Subspaces with at most so many columns are solved column by column.
    max_steps : int, default 2000
        Largest number of steps of a solve of "sketch".
    single : bool, default False
        Compute derivatives in single precision, which suffices for "sketch" if the condition number is below about 1e5.
    rng : numpy.random.Generator or int, default 0
        For "sketch".
    progress : bool
        Show a progress bar.

    Returns
    -------
    NetworkAllocation

    Warns
    -----
    CapacityWarning
        If parameters are not a minimum or leverages exceed 1, unless the Gauss–Newton form is asked for; if the Hessian
        is singular and outputs move along its null space; and if solves reached ``max_steps``.

    Raises
    ------
    ValueError
        If an argument cannot be used, or a network without regularisation can fit all targets: then S = I says nothing.
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
    plain_seed(rng)
    tolerance = plain_number(tolerance, "tolerance")
    stopping_time = plain_number(stopping_time, "stopping_time")
    real(tolerance, "tolerance", True)
    if tolerance is not None and not 0 <= tolerance < 1:
        raise ValueError(f"tolerance: found {tolerance!r}, expected a share from 0 to 1.")
    whole(max_steps, "max_steps")
    of_kind(subspaces, "subspaces", Mapping | None, "a mapping of names to functions")
    one_of(method, "method", ("auto", "dense", "sketch"))
    one_of(curvature, "curvature", ("full", "gauss-newton"))
    if stopping_time is not None and not finite_number(stopping_time, "stopping_time") > 0:
        raise ValueError(f"stopping_time: found {stopping_time!r}, expected a positive number.")
    if tolerance is not None and not 0 <= finite_number(tolerance, "tolerance") < 1:
        raise ValueError(f"tolerance: found {tolerance!r}, expected a share, at least 0 and below 1.")
    problem = NetworkProblem.of(apply, params, inputs, targets, loss, weight_decay, layers, single)
    if method == "auto":
        small = problem.derivatives.n_params <= DENSE and fits(dense_bytes(problem))
        method = "dense" if small or stopping_time is not None else "sketch"
    full = curvature == "full" and stopping_time is None
    if method == "dense":
        found, dropped = _dense(problem, subspaces, full, tolerance, stopping_time, progress)
    else:
        if stopping_time is not None:
            raise ValueError("stopping_time: found one with method 'sketch', expected none. Use method='dense'.")
        rng = np.random.default_rng(0 if rng is None else rng)
        probes = positive_integer(probes, "probes", 2)
        max_steps = positive_integer(max_steps, "max_steps")
        found = _sketched(problem, subspaces, full, tolerance or LACKING, probes, max_steps, rng, progress)
        dropped = 0.0
    _warn(found, dropped, full)
    return found


def _dense(
    problem: NetworkProblem, subspaces: Any, full: bool, tolerance: float | None, time: float | None, progress: bool
) -> tuple[NetworkAllocation, float]:
    """Capacities from eigenvectors; also the share of the Jacobian in singular directions."""
    model, (n, k) = DenseModel.of(problem, full, progress), problem.targets.shape
    approximate = Response.of(model.scaled, model.gauss_newton, tolerance, time)
    if time is None:
        problem.refuse_rank(int(approximate.kept.sum()))
    response = Response.of(model.scaled, model.full, tolerance) if full else approximate
    prepared = prepare(subspaces, problem)
    negative = response.kept & (response.eigenvalues < 0)
    sizes = np.abs(response.eigenvalues[response.kept])
    move = np.abs(response.gains) @ np.square(response.vectors.T @ model.gradient) / 2
    found = NetworkAllocation(
        **vars(measure(response, (n, k), prepared)),
        **_optimality(problem, model.gradient, float(move), bool(negative.any())),
        largest_leverage=_largest_leverage(response, (n, k)),
        gauss_newton_total=float(approximate.diagonal.sum()),
        eigenvalues=response.eigenvalues,
        n_negative=int(negative.sum()),
        n_singular=int((~response.kept).sum()),
        method="dense",
        error=float(EPS * sizes.max() / sizes.min()) if sizes.size else 0.0,
        errors=None,
        problem=problem,
        _response=response,
        _model=model,
        _options={"full": full, "tolerance": tolerance, "time": time},
        _subspaces=prepared,
    )
    return found, response.dropped if time is None else 0.0


def _sketched(
    problem: NetworkProblem, subspaces: Any, full: bool, tolerance: float, probes: int, max_steps: int, rng: Any,
    progress: bool,
) -> NetworkAllocation:  # fmt: skip
    """Capacities by Hutchinson's estimator: zᵀSz of random signs z, in all and for the columns of every subspace."""
    p, (n, k) = problem.derivatives.n_params, problem.targets.shape
    n_bytes = arrays(p, 11 * probes) + arrays(n * k, 6 * probes)
    if not fits(n_bytes):
        raise too_large(f"allocate_network: found {p:,} parameters, {probes} probes", n_bytes, "Use fewer probes.")
    problem.refuse_rank(p)
    prepared = prepare(subspaces, problem)
    gradient = problem.value_and_gradient(problem.derivatives.params)[1]
    with tqdm(desc="capacity", unit="product", disable=not progress) as bar:
        try:
            model = SketchedModel.of(problem, full, min(4 * probes, p // 2), tolerance, max_steps, rng, bar)
            found = estimate(model, prepared, probes, rng)
            newton = model.solved(gradient[:, None])[0][:, 0]
            signs, images = found["signs"], found["images"]
            gap = (signs * (images - model.gauss_newton().applied(signs)[0])).sum() / probes if full else 0.0
            leverage = leverage_of_a_few(model, images, found["means"].per_example)
        except NegativeCurvatureError:
            raise ValueError(
                "params: found negative curvature, expected a minimum. Train further, or use capcore.networks.polish; "
                "the Gauss–Newton form needs no minimum: curvature='gauss-newton'."
            ) from None
    return NetworkAllocation(
        **vars(found["means"]),
        **_optimality(problem, gradient, float(gradient @ newton) / 2, False),
        largest_leverage=leverage,
        gauss_newton_total=found["means"].total - float(gap),
        eigenvalues=np.empty(0),
        n_negative=-1,
        n_singular=-1,
        method="sketch",
        error=found["errors"].total,
        errors=found["errors"],
        problem=problem,
        _response=replace(model, tolerance=min(tolerance, 1e-12)),
        _model=None,
        _options={"lacking": found["lacking"], "tolerance": tolerance},
        _subspaces=prepared,
    )


def _largest_leverage(response: Response, shape: tuple[int, int]) -> float:
    """Largest eigenvalue of the (K, K) blocks of S; it does not depend on the root of W."""
    rows = response.factor.reshape(*shape, -1)
    return max(float(np.linalg.eigvalsh((each * response.gains) @ each.T)[-1]) for each in rows)


def _optimality(problem: NetworkProblem, gradient: np.ndarray, move: float, negative: bool) -> dict[str, Any]:
    value, _ = problem.value_and_gradient(problem.derivatives.params)
    floor = (1e3 * EPS * float(np.linalg.norm(problem.targets))) ** 2
    return {
        "loss": problem.loss,
        "loss_value": value,
        "gradient_norm": float(np.linalg.norm(gradient)),
        "decrement": move / max(value, floor, float(np.finfo(float).tiny)),
        "is_optimum": move <= OPTIMUM * value + floor and not negative,
    }


def _warn(found: NetworkAllocation, dropped: float, full: bool) -> None:
    if full and not found.is_optimum:
        why = f"{found.n_negative} negative curvatures, " if found.n_negative > 0 else ""
        warn(
            f"params: found no minimum: {why}gradient norm {found.gradient_norm:.2g}, and a Newton step would take "
            f"a share {found.decrement:.1g} off the loss. S then does not describe retraining. These need no optimum: "
            "the Gauss–Newton form (curvature='gauss-newton'), that of the linearised model, and paper_metric. "
            "Train further, or use capcore.networks.polish.",
            CapacityWarning,
        )
    elif full and (above := _above_one(found)):
        warn(f"leverage: found {above}, expected at most 1. {CONTRACTION}", CapacityWarning)
    if found.method == "sketch" and found._options["lacking"] > found._options["tolerance"]:
        warn(
            f"max_steps: found solves that stopped with a share of {found._options['lacking']:.1g} of a capacity "
            f"missing, expected at most {found._options['tolerance']:g}. Raise max_steps, or weight_decay.",
            CapacityWarning,
        )
    if dropped > 1e-12:
        warn(
            f"params: found {found.n_singular} singular directions of the Hessian, with a share {dropped:.1g} of the "
            "squared Jacobian: outputs move along them and the loss does not fix them, so S is not defined there and "
            "they were left out. Add weight_decay, or set tolerance.",
            CapacityWarning,
        )


def _above_one(found: NetworkAllocation) -> str:
    """In words, which leverages exceed 1: of examples, and of a subspace's groups, averaged over directions."""
    said = [f"{found.largest_leverage:.3g} of an example"] if found.largest_leverage > 1 + SLACK else []
    for name, (_, labels, form) in found._subspaces.items():
        sizes = by_group(np.ones(len(labels)), labels, form)
        values = np.ravel(found.per_subspace[name])
        if found.errors is not None:
            values = values - 3 * np.ravel(found.errors.per_subspace[name])  # groups can be many: no false alarms
        largest = float((values / np.maximum(sizes, 1)).max(initial=0.0))
        said += [f"{largest:.3g} a direction in subspaces[{name!r}]"] if largest > 1 + SLACK else []
    return " and ".join(said)
