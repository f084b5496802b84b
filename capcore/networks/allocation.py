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
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from capcore.capacity.allocation import CapacityWarning
from capcore.checks.arguments import of_kind, one_of, positive_number, warn
from capcore.checks.memory import arrays, check_memory, fits, usable
from capcore.networks.dual import dual_bytes, gram, reduced
from capcore.networks.factors import jacobian
from capcore.networks.linearised import Linearised
from capcore.networks.losses import Loss
from capcore.networks.problem import NetworkProblem
from capcore.networks.report import SLACK, cautions
from capcore.networks.response import EPS, Response
from capcore.networks.results import NetworkAllocation, measure
from capcore.networks.subspaces import prepare

OPTIMUM = 1e-8
"""The largest share of the loss that a Newton step may remove: outputs are then within about 1e-4 of the residuals."""


def allocate_network(
    apply: Callable[[Any, Any], Any],
    params: Any,
    inputs: object,
    targets: object = None,
    *,
    loss: str | Loss = "squared",
    weight_decay: Any = 0.0,
    sample_weight: object = None,
    class_axis: int | None = None,
    trainable: Callable[[str], bool] | None = None,
    subspaces: Mapping[str, Any] | None = None,
    layers: Mapping[str, slice] | None = None,
    curvature: str = "gauss-newton",
    method: str = "auto",
    seconds: float | None = None,
    progress: bool = False,
) -> NetworkAllocation:
    """Where a trained network spends its capacity, and how many of its parameters count.

    Parameters
    ----------
    apply : callable
        (params, inputs) → outputs (N, K), (N,), or with a loss for each token or pixel (N, T, K), (N, H, W, K) or
        (N, K, H, W), as JAX can trace it; or a module of PyTorch, Flax, Equinox or Keras, which is copied and put into
        evaluation mode. It must be deterministic and treat each example by itself.
    params : object
        Any pytree of real arrays: the trained parameters. None for those that a module has; the variables of a Linen
        module. Only ``curvature="full"`` wants an optimum.
    inputs : (N, …) array_like
        The training inputs. With no targets, batches (inputs, targets), such as those of a ``DataLoader``: read once,
        and kept, which takes far less than the matrices of either method.
    targets : array_like, optional
        The training targets, in the shape of the outputs; for cross-entropy labels, (N,) or one for each position, or
        probabilities. Positions whose label is −100 do not count.
    loss : str or Loss
        "squared": ½‖f − y‖²; "cross-entropy": −Σ y log softmax(f); "binary cross-entropy" of one or several logits;
        "poisson" of log rates, as half the deviance; "huber", "quantile", with the parameters that
        :func:`~capcore.networks.losses.huber` and :func:`~capcore.networks.losses.quantile` take. Or your own, from
        its first two derivatives: :func:`~capcore.networks.losses.elementwise`.
    weight_decay : float, array or mapping
        λ of ½λ‖θ‖² beside the **sum** of the losses; beside a mean loss, λ is N times its factor (for the squared loss
        as the mean over N·K numbers without ½, N·K/2 times). One value for each parameter can be given, as (p,) or as a
        tree like ``params`` that is matched by name. This is the L2 penalty; for AdamW's decay, give what
        :func:`~capcore.networks.decoupled_decay.decoupled_decay` returns.
    sample_weight : array_like, optional
        Weights of examples (N,), of positions, such as a mask, or of terms. Class weights w (K,) are those of
        terms: ``w[None, None]`` for outputs (N, T, K).
    class_axis : int, optional
        The axis of the K outputs; by default the one that labels lack, and otherwise the last. One logit for each token
        is (N, T, 1).
    trainable : callable, optional
        Name of a parameter, such as "blocks.0.lora.weight" → whether it is trained; all others are constants, as are
        those of PyTorch without ``requires_grad``. A tied weight counts once.
    subspaces : dict, optional
        Name → :class:`~capcore.networks.subspaces.Functions`, or columns (N, m) of functions or (N·K, m) of targets,
        which count as one subspace. By default "inputs", the linear functions of every input, if there are fewer
        inputs than examples.
    layers : dict, optional
        Name → slice of the flat parameters, each of which is in exactly one; by default the modules that hold them,
        such as ``blocks.0.attn`` (:func:`~capcore.architectures.trees.layer_names`).
    curvature : str
        "gauss-newton", or "full" for S with the residual curvature, at an optimum; see above.
    method : str
        "dense" forms J and H, (p, p). "dual" gives the same for any number of parameters: its matrix is (N·K, N·K), and
        layers enter by what they read and what outputs gain by what they write. Parameters without decay enter it by
        their columns of J. "auto" is the one with fewer operations, of those that fit into memory.
    seconds : float, optional
        Refuse what would take longer here, by its number of operations, before it begins.
    progress : bool
        Show a progress bar of the full Hessian.

    Returns
    -------
    NetworkAllocation

    Warns
    -----
    CapacityWarning
        If a leverage is numerically 1; if the Hessian is singular and outputs move along its null space. With the full
        Hessian also if parameters are no minimum, and if leverages exceed 1.

    Raises
    ------
    ValueError
        If an argument cannot be used, or it would take more ``seconds``, or a network without regularisation can fit
        all targets: then S = I says nothing.
    TooLargeError
        If neither matrix would fit into memory; raised before it is allocated.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(20, 3))
    >>> y = x @ np.ones(3)
    >>> allocation = allocate_network(lambda w, x: x @ w, np.linalg.lstsq(x, y)[0], x, y)
    >>> round(allocation.total, 9), allocation.per_example.shape, allocation.is_optimum
    (3.0, (20,), True)
    """
    of_kind(subspaces, "subspaces", Mapping | None, "a mapping of names to functions")
    one_of(method, "method", ("auto", "dense", "dual"))
    one_of(curvature, "curvature", ("full", "gauss-newton"))
    full = curvature == "full"
    if full:
        one_of(method, "method of curvature='full'", ("auto", "dense"))
        method = "dense"
    problem = NetworkProblem.of(
        apply, params, inputs, targets, loss, weight_decay, layers, sample_weight, class_axis, trainable
    )
    method = affordable(problem, method, None if seconds is None else positive_number(seconds, "seconds"))
    allocation = _allocated(problem, prepare(subspaces, problem), method, full, progress)
    for caution in cautions(allocation):
        warn(caution, CapacityWarning)
    return allocation


def affordable(problem: NetworkProblem, method: str, seconds: float | None) -> str:
    """The method, or for "auto" the one with fewer operations of those that fit into memory; refuses what does not.

    "dense" takes 2·N·K·p² + p³ operations. "dual" takes 4·(N·K)³, and 2·(N·K)² for each number that its layers have to
    be multiplied by: all p, but for dense layers with one position as many as they write, for each value of the decay.
    """
    w, size = problem.derivatives.params, problem.targets.size
    p, width = w.size, problem.derivatives.width(w, problem.decay)
    operations = {"dense": 2.0 * size * p**2 + p**3, "dual": 2.0 * size**2 * width + 4.0 * size**3}
    n_bytes = {"dense": arrays(size, p, copies=4) + arrays(p, p, copies=9), "dual": dual_bytes(problem)}
    if method == "auto":
        method = min((way for way in n_bytes if fits(n_bytes[way])), key=operations.__getitem__, default="dual")
    sizes = f"allocate_network: found {size:,} outputs on the data and {p:,} parameters"
    most = f"{(usable() / 72) ** 0.5:,.0f}"
    check_memory(n_bytes[method], sizes, f"{most} outputs or as many parameters fit: use fewer examples, or fix some.")
    if seconds is not None and (needed := operations[method] / operations_a_second()) > seconds:
        raise ValueError(
            f"seconds: found about {needed:.2g} for {operations[method]:.1g} operations of method {method!r}, "
            f"expected at most {seconds:g}. Use fewer examples, or give more."
        )
    return method


@cache
def operations_a_second() -> float:
    """Floating-point operations that products of matrices reach here."""
    matrix = np.ones((512, 512))
    start = perf_counter()
    for _ in range(4):
        matrix @ matrix
    return 8 * 512.0**3 / (perf_counter() - start)


def _allocated(
    problem: NetworkProblem, prepared: Mapping[str, Any], method: str, full: bool, progress: bool
) -> NetworkAllocation:
    """Capacities from J and H, of the parameters or of fewer coordinates."""
    w = problem.derivatives.params
    value, gradient = problem.value_and_gradient(w)
    errors, roots, means = problem.at(w)
    factors = problem.derivatives.factors(w) if method == "dense" else []
    if factors:
        model = Linearised(jacobian(factors, np.ones(w.size, dtype=bool)), problem.decay, w)
    else:
        (matrix,), columns, moved = gram(problem)
        model = reduced(matrix, columns, moved, float(problem.decay @ w**2))
    if not np.isfinite(model.jacobian).all():
        raise ValueError("apply: found derivatives that are NaN or infinite, expected finite ones at these params.")
    scaled, hessian = model.system(roots, means, factors)
    approximate = response = Response.of(scaled, hessian)
    problem.refuse_rank(len(hessian) - approximate.inverse.null.shape[1] - (method == "dual"))
    if full:
        hessian = hessian + problem.residual(w, errors, progress)
        response = Response.of(scaled, hessian)
    inverse = response.inverse
    half = inverse.half(model.jacobian.T @ errors.ravel() + model.decay * model.params)
    move = float(half @ half) / 2  # what a Newton step would take off the loss
    leverages = np.linalg.eigvalsh(response.blocks(means.shape))[:, -1]  # they do not depend on the root of W
    leverages = leverages.reshape(len(errors), -1).max(1)
    floor = (1e3 * EPS * float(np.linalg.norm(problem.targets))) ** 2
    return NetworkAllocation(
        **vars(measure(response, problem, prepared)),
        gauss_newton_total=float(approximate.diagonal.sum()),
        curvature="full" if full else "gauss-newton",
        loss=problem.loss.name,
        loss_value=value,
        gradient_norm=float(np.linalg.norm(gradient)),
        decrement=move / max(abs(value), floor, float(np.finfo(float).tiny)),
        is_optimum=move <= OPTIMUM * abs(value) + floor and not inverse.n_negative,
        largest_leverage=float(leverages.max()),
        method=method,
        error=EPS * inverse.condition,
        n_negative=inverse.n_negative,
        n_singular=inverse.null.shape[1],
        problem=problem,
        subspaces=prepared,
        _largest=int(leverages.argmax()),
        _fitted=int((leverages > 1 - SLACK).sum()),
        _model=model,
        _hessian=hessian,
        _response=response,
    )
