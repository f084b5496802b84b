"""What a network's allocation says about examples that it has not seen, with arrays from the network's derivatives.

:mod:`capcore.networks.leave_one_out` and :mod:`capcore.networks.decay_curve` have the mathematics.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from capcore.checks.arguments import finite_array, finite_number, plain_number, plain_seed, positive_integer
from capcore.networks.capacities import half_widths
from capcore.networks.decay_curve import DecayCurve, decay_curve
from capcore.networks.lanczos import quadrature
from capcore.networks.leave_one_out import LeaveOneOut, leave_one_out
from capcore.networks.linearised import generalised
from capcore.networks.problem import NetworkProblem

if TYPE_CHECKING:
    from capcore.networks.results import NetworkAllocation

GRID = 10.0 ** np.arange(-2, 2.1, 0.5)
"""Multiples of the weight decay that are tried by default."""


def left_out(found: NetworkAllocation) -> LeaveOneOut:
    """Every example left out, as ``found.leave_one_out()`` gives it: by Gauss–Newton, whatever the allocation has.

    Raises
    ------
    ValueError
        If the weight decay is a function with a negative curvature.
    AttributeError
        For a sketch, which has no blocks, and for an allocation with ``stopping_time``.
    TooLargeError
        If arrays would not fit into memory.

    Examples
    --------
    >>> import capcore as cc
    >>> x, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]]), np.array([0.0, 1.0, 1.0, 2.0])
    >>> found = cc.allocate_network(lambda w, x: x @ w, np.linalg.lstsq(x, y)[0], x, y)
    >>> round(found.leave_one_out().mean_loss, 6), round(found.gcv, 6)
    (0.073696, 0.1)
    """
    found.dense("leave_one_out")
    _of_an_optimum(found, "leave_one_out")
    problem, w = found.problem, found.problem.derivatives.params
    jacobian, outputs = _derivatives(problem)
    added = problem.penalty(w, np.eye(w.size)) if problem.decay is None else problem.decay
    return leave_one_out(jacobian, outputs, problem.targets, added, problem.penalty(w)[1], problem.loss)


def cross_validated(found: NetworkAllocation) -> float:
    """Generalised cross-validation ½·mean‖ē‖²/(1 − total/(N·K))² at the optimum nearby, as ``found.gcv`` gives it.

    A sketch has it as well, as exactly as it has its total.

    Raises
    ------
    AttributeError
        For cross-entropy, and for a sketch with the full Hessian.
    """
    problem, w = found.problem, found.problem.derivatives.params
    if problem.loss != "squared":
        raise AttributeError(
            "gcv: found cross-entropy, expected squared loss, for which it is defined. Use leave_one_out(), which "
            "serves both."
        )
    if found.method == "dense":
        return float(left_out(found).gcv or 0.0)
    if found._response.errors.any():
        raise AttributeError(
            "gcv: found a sketch of the whole Hessian, expected the Gauss–Newton form. Use "
            "allocate_network(…, curvature='gauss-newton')."
        )
    step = found._response.solve(problem.value_and_gradient(w)[1][:, None])
    errors = problem.errors(problem.derivatives.outputs(w))[0] - problem.derivatives.jvp(w, step.T)[0]
    return generalised(errors, found.total)


def curve(
    found: NetworkAllocation, decays: Any = None, noise: Any = None, probes: int = 8, steps: int = 48, rng: Any = None
) -> DecayCurve:
    """What other weight decays would give, as ``found.decay_curve()`` gives it.

    Parameters
    ----------
    found : NetworkAllocation
        A dense one; of a sketch there are the totals alone.
    decays : (m,) array_like, optional
        Positive values of λ; or multiples of the weight decay, if parameters have different ones. By default nine
        values about it, from a hundredth to a hundred times. Parameters without decay stay without, unless all are.
    noise : float, optional
        Variance of the targets about what could be known, for squared loss; by default from the residuals.
    probes, steps : int
        For a sketch: random vectors, and products with each.
    rng : numpy.random.Generator or int, default 0
        For a sketch.

    Raises
    ------
    ValueError
        If an argument cannot be used.
    AttributeError
        If the weight decay is a function, or the allocation has a ``stopping_time``; and for a sketch in which
        parameters have no decay.
    TooLargeError
        If arrays would not fit into memory.

    Examples
    --------
    >>> import capcore as cc
    >>> found = cc.allocate_network(lambda w, x: x @ w, np.full(2, 0.5), np.eye(2), np.ones(2), weight_decay=1.0)
    >>> found.decay_curve([1.0, 3.0]).totals.round(9).tolist()
    [1.0, 0.5]
    """
    problem = found.problem
    _of_an_optimum(found, "decay_curve")
    noise = plain_number(noise, "noise")
    if noise is not None and not finite_number(noise, "noise") > 0:
        raise ValueError(f"noise: found {noise!r}, expected a positive variance of the targets.")
    if problem.decay is None:
        raise AttributeError(
            "decay_curve: found a function as weight_decay, expected a number, or one for each parameter: only these "
            "can be multiplied without solving anew."
        )
    decay = problem.decay if problem.regularised else np.ones_like(problem.decay)
    unit, factors = _factors(problem, decays)
    if found.method == "dense":
        jacobian, outputs = _derivatives(problem)
        w = problem.derivatives.params
        drawn = decay_curve(jacobian, outputs, problem.targets, decay, w, problem.loss, factors, noise)
    else:
        probes, steps = positive_integer(probes, "probes", 2), positive_integer(steps, "steps")
        plain_seed(rng)
        drawn = _totals(problem, decay, factors, noise, probes, steps, np.random.default_rng(0 if rng is None else rng))
    return replace(drawn, decays=unit * factors if unit else factors, relative=not unit)


def _of_an_optimum(found: NetworkAllocation, name: str) -> None:
    if found._options.get("time") is not None:
        raise AttributeError(
            f"{name}: found an allocation with stopping_time, expected one with weight_decay: a network without an "
            "example is taken to end at an optimum as well."
        )


def _derivatives(problem: NetworkProblem) -> tuple[np.ndarray, np.ndarray]:
    """J (N, K, p) and outputs (N, K)."""
    w = problem.derivatives.params
    return problem.derivatives.jacobian(w).reshape(*problem.targets.shape, w.size), problem.derivatives.outputs(w)


def _factors(problem: NetworkProblem, decays: Any) -> tuple[float, np.ndarray]:
    """The weight decay of factor 1, or 0 if it is not one number; and the factors (m,)."""
    assert problem.decay is not None
    sizes = np.unique(problem.decay[problem.decay > 0])
    unit = float(sizes[0]) if len(sizes) == 1 else float(not len(sizes))
    if decays is None:
        if not len(sizes):
            raise ValueError(
                "decays: found none, and an allocation without weight_decay, expected some values, such as "
                "numpy.geomspace(0.001, 10, 9)."
            )
        return unit, GRID
    values = finite_array(decays, "decays", (0, 1)).ravel()
    if not values.min() > 0:
        raise ValueError(f"decays: found {values.min():.3g}, expected positive numbers.")
    return unit, values / (unit or 1.0)


def _totals(
    problem: NetworkProblem, decay: np.ndarray, factors: np.ndarray, noise: float | None, probes: int, steps: int,
    rng: np.random.Generator,
) -> DecayCurve:  # fmt: skip
    """Totals alone, by stochastic Lanczos quadrature of D^(−½)JᵀWJD^(−½)."""
    if not decay.all():
        raise AttributeError(
            "decay_curve: found a sketch, and parameters without weight decay, expected a decay of each. Give them a "
            "small one, or use allocate_network(…, method='dense')."
        )
    derivatives, root = problem.derivatives, np.sqrt(decay)
    w = derivatives.params
    errors, roots, means = problem.errors(derivatives.outputs(w))

    def product(v: np.ndarray) -> np.ndarray:
        return derivatives.hvp(w, v / root, 0 * errors, roots, means) / root

    spectrum = quadrature(product, w.size, probes, steps, rng)
    bounds = [spectrum.totals(float(s)) for s in factors]
    totals = np.array([(lower + upper).mean() / 2 for lower, upper in bounds])
    gaps = np.array([(upper - lower).mean() / 2 for lower, upper in bounds])
    widths = gaps + [float(half_widths((lower + upper) / 2, quadratic=True)) for lower, upper in bounds]
    if problem.loss == "cross-entropy":
        noise = 1.0
    none, n = np.empty(0), len(errors)
    return DecayCurve(
        decays=factors,
        relative=False,
        totals=totals,
        errors=widths,
        training_losses=none,
        leave_one_out=none,
        standard_errors=none,
        trusted=none,
        gcv=none,
        optimism=none if noise is None else noise * totals / n,
        noise=noise,
        loss=problem.loss,
        method="sketch",
    )
