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
at a minimum with weak decay outputs may move by several times what their targets did. ``report()`` of the result says
which of its numbers belongs to what.

For cross-entropy R is one root of W, diag(√p) − p√pᵀ; another is R times a rotation of each example's outputs, which
changes ``per_output`` and nothing else. And R(θ) is part of the loss, so that weight decay means ½λ‖θ‖², whose optimum
has ∇ℓ = −λθ. AdamW shrinks θ beside its adaptive step and ends at another point; what stands for its decay is in
:mod:`capcore.networks.decoupled_decay`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from capcore.capacity.allocation import CapacityWarning
from capcore.checks.arguments import (
    finite_number,
    of_kind,
    one_of,
    plain_fields,
    plain_seed,
    positive_integer,
    positive_number,
    warn,
)
from capcore.checks.memory import arrays, check_memory, fits
from capcore.checks.progress import tqdm
from capcore.networks.losses import to_metric
from capcore.networks.problem import NetworkProblem
from capcore.networks.products import SketchedModel
from capcore.networks.report import SLACK, cautions
from capcore.networks.response import EPS, Response
from capcore.networks.results import Details, NetworkAllocation, measure
from capcore.networks.sketch import estimate, leverage_of_a_few
from capcore.networks.subspaces import prepare

LACKING = 1e-4
OPTIMUM = 1e-8
"""The largest share of the loss that a Newton step may remove: outputs are then within about 1e-4 of the residuals."""


@dataclass(frozen=True)
class Options:
    """How :func:`allocate_network` computes; the defaults suit most networks.

    Attributes
    ----------
    tolerance : float, optional
        Eigenvalues of H below this share of the largest are zero, and H⁻¹ a pseudo-inverse; by default rounding
        decides, as everywhere (:func:`~capcore.architectures.columns.rank_tolerance`). For "sketch" the share of a
        capacity that a solve may still lack when it stops, by default 1e-4.
    probes : int
        Random vectors of "sketch", at least 2. Errors (half-widths of 95 % intervals) fall as the root of their number.
        Subspaces with at most so many columns are solved column by column.
    max_steps : int
        Largest number of steps of a solve of "sketch".
    single : bool
        Compute derivatives in single precision, which suffices for "sketch" if the condition number is below about 1e5.
    rng : numpy.random.Generator or int, default 0
        For "sketch".

    Examples
    --------
    >>> Options(probes=64).max_steps
    2000
    """

    tolerance: float | None = None
    probes: int = 16
    max_steps: int = 2000
    single: bool = False
    rng: np.random.Generator | int | None = None

    def __post_init__(self) -> None:
        plain_fields(self)
        if self.tolerance is not None and not 0 <= finite_number(self.tolerance, "tolerance") < 1:
            raise ValueError(f"tolerance: found {self.tolerance!r}, expected a share, at least 0 and below 1.")
        positive_integer(self.probes, "probes", 2)
        positive_integer(self.max_steps, "max_steps")
        of_kind(self.single, "single", bool)
        plain_seed(self.rng)


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
    progress: bool = False,
    options: Options | None = None,
) -> NetworkAllocation:
    """Where a trained network spends its capacity, and how many of its parameters count.

    Parameters
    ----------
    apply : callable
        (params, inputs) → outputs (N, K) or (N,), as JAX can trace it; or a module of PyTorch, Flax, Equinox or Keras,
        which is copied and put into evaluation mode. It must be deterministic and treat each example by itself.
    params : object
        Any pytree of real arrays: the trained parameters. None for those that a module has; the variables of a Linen
        module. Only ``curvature="full"`` wants an optimum.
    inputs : (N, …) array_like
        The training inputs.
    targets : (N, K), or (N,) array_like
        The training targets; for cross-entropy labels (N,) or probabilities (N, K).
    loss : str
        "squared": ½‖f − y‖² an example; "cross-entropy": −Σ y log softmax(f).
    weight_decay : float, array or mapping
        λ of ½λ‖θ‖² beside the **sum** of the losses; beside a mean loss, λ is N times its factor (for the squared loss
        as the mean over N·K numbers without ½, N·K/2 times). One value for each parameter can be given, as (p,) or as a
        tree like ``params`` that is matched by name. This is the L2 penalty; for AdamW's decay, give what
        :func:`~capcore.networks.decoupled_decay.decoupled_decay` returns.
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
        "dense" forms J and H; "sketch" estimates Gauss–Newton capacities from products with them. "auto" is "dense"
        if that fits into memory.
    progress : bool
        Show a progress bar.
    options : Options, optional
        How capacities are computed: see :class:`Options`.

    Returns
    -------
    NetworkAllocation

    Warns
    -----
    CapacityWarning
        If a leverage is numerically 1; if the Hessian is singular and outputs move along its null space; if solves
        reached ``max_steps``. With the full Hessian also if parameters are no minimum, and if leverages exceed 1.

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
    >>> allocation = allocate_network(lambda w, x: x @ w, np.linalg.lstsq(x, y)[0], x, y)
    >>> round(allocation.total, 9), allocation.per_example.shape, allocation.is_optimum
    (3.0, (20,), True)
    """
    options = Options() if options is None else options
    of_kind(options, "options", Options, "networks.Options(…)")
    of_kind(subspaces, "subspaces", Mapping | None, "a mapping of names to functions")
    one_of(method, "method", ("auto", "dense", "sketch"))
    one_of(curvature, "curvature", ("full", "gauss-newton"))
    time = None if stopping_time is None else positive_number(stopping_time, "stopping_time")
    full = curvature == "full" and time is None
    if full or time is not None:
        if method == "sketch":
            name, value = ("curvature", "'full'") if full else ("stopping_time", "one")
            raise ValueError(f"{name}: found {value} with method 'sketch', expected none. Use method='dense'.")
        method = "dense"
    problem = NetworkProblem.of(apply, params, inputs, targets, loss, weight_decay, layers, options.single)
    prepared = prepare(subspaces, problem)
    at = problem.value_and_gradient(problem.derivatives.params)
    if method == "dense" or (method == "auto" and fits(dense_bytes(problem))):
        allocation = _dense(problem, at, prepared, full, options.tolerance, time, progress)
    else:
        with tqdm(desc="capacity", unit="product", disable=not progress) as bar:
            allocation = _sketched(problem, at, prepared, options, bar)
    for caution in cautions(allocation):
        warn(caution, CapacityWarning)
    return allocation


def dense_bytes(problem: NetworkProblem) -> float:
    """Bytes that J, H and the eigenvectors of both forms take; less where a Cholesky root suffices."""
    p = problem.derivatives.n_params
    return arrays(problem.targets.size, p, copies=4) + arrays(p, p, copies=9)


def _dense(
    problem: NetworkProblem, at: tuple[float, np.ndarray], prepared: Mapping[str, Any], full: bool,
    tolerance: float | None, time: float | None, progress: bool,
) -> NetworkAllocation:  # fmt: skip
    """Capacities from J and H."""
    derivatives, shape, w = problem.derivatives, problem.targets.shape, problem.derivatives.params
    size = f"allocate_network: found {w.size:,} parameters and {problem.targets.size:,} outputs on the data"
    check_memory(dense_bytes(problem), size, "Use method='sketch' with the Gauss–Newton form, or fewer examples.")
    errors, roots, means = problem.at(w)
    jacobian = derivatives.jacobian(w)
    if not np.isfinite(jacobian).all():
        raise ValueError("apply: found derivatives that are NaN or infinite, expected finite ones at these params.")
    scaled = to_metric(jacobian, roots, means, out=jacobian)
    product = derivatives.gauss_newton(w, roots, means)
    hessian = problem.gauss_newton(scaled if product is None else scaled[:0])
    if product is not None:
        hessian += product
    approximate = response = Response.of(scaled, hessian, tolerance, time)
    if time is None:
        problem.refuse_rank(w.size - approximate.inverse.null.shape[1])
    if full:
        hessian = hessian + problem.residual(w, errors, progress)
        response = Response.of(scaled, hessian, tolerance)
    inverse = response.inverse
    leverages = np.linalg.eigvalsh(response.blocks(shape))[:, -1]  # they do not depend on the root of W
    fitted, dropped = int((leverages > 1 - SLACK).sum()), response.dropped if time is None else 0.0
    details = Details(int(leverages.argmax()), fitted, tolerance, time, dropped)
    half = inverse.half(at[1])
    return NetworkAllocation(
        **vars(measure(response, shape, prepared)),
        **_common(problem, prepared, full, at, float(half @ half) / 2, inverse.n_negative > 0),
        largest_leverage=float(leverages.max()),
        gauss_newton_total=float(approximate.diagonal.sum()),
        n_negative=inverse.n_negative,
        n_singular=inverse.null.shape[1],
        method="dense",
        error=EPS * inverse.condition,
        details=details,
        _response=response,
        _dense=(scaled, hessian),
    )


def _sketched(
    problem: NetworkProblem, at: tuple[float, np.ndarray], prepared: Mapping[str, Any], options: Options, bar: Any,
) -> NetworkAllocation:  # fmt: skip
    """Capacities by Hutchinson's estimator: zᵀSz of random signs z, in all and for the columns of every subspace."""
    p, probes, tolerance = problem.derivatives.n_params, options.probes, options.tolerance or LACKING
    n_bytes = arrays(p, 11 * probes) + arrays(problem.targets.size, 6 * probes)
    check_memory(n_bytes, f"allocate_network: found {p:,} parameters, {probes} probes", "Use fewer probes.")
    problem.refuse_rank(p)
    rng = np.random.default_rng(0 if options.rng is None else options.rng)
    model = SketchedModel.of(problem, min(4 * probes, p // 2), tolerance, options.max_steps, rng, bar)
    estimates = estimate(model, prepared, probes, rng)
    newton = model.solved(at[1][:, None])[0][:, 0]
    largest, leverage = leverage_of_a_few(model, estimates.images, estimates.means.per_example)
    fitted = int(leverage > 1 - SLACK)
    details = Details(largest, fitted, tolerance, lacking=estimates.lacking, probes=probes)
    return NetworkAllocation(
        **vars(estimates.means),
        **_common(problem, prepared, False, at, float(at[1] @ newton) / 2),
        largest_leverage=leverage,
        gauss_newton_total=estimates.means.total,
        method="sketch",
        error=estimates.errors.total,
        errors=estimates.errors,
        details=details,
        _response=replace(model, tolerance=min(tolerance, 1e-12)),
    )


def _common(
    problem: NetworkProblem, prepared: Mapping[str, Any], full: bool, at: tuple[float, np.ndarray], move: float,
    negative: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """What both routes report alike; ``move`` is what a Newton step would take off the loss."""
    value, gradient = at
    floor = (1e3 * EPS * float(np.linalg.norm(problem.targets))) ** 2
    return {
        "problem": problem,
        "subspaces": prepared,
        "curvature": "full" if full else "gauss-newton",
        "loss": problem.loss,
        "loss_value": value,
        "gradient_norm": float(np.linalg.norm(gradient)),
        "decrement": move / max(value, floor, float(np.finfo(float).tiny)),
        "is_optimum": move <= OPTIMUM * value + floor and not negative,
    }
