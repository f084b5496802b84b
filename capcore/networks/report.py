"""Which number of an allocation to report and why, what the gradient means for it, and what to beware of, in words.

Three numbers can be had for one trained network, and they belong to different things. The Gauss–Newton total at the
trained weights belongs to the network linearised there, and needs no optimum. The total with the full Hessian belongs
to an optimum: at other weights it describes nothing. And what is computed after polishing belongs to the polished
network, another one than was trained. The report says which of them it has in hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from capcore.networks.results import NetworkAllocation

SLACK = 1e-6
"""Excess over 1 that a leverage may have: more than rounding times the condition number of usual optima."""
ROUNDING = 1e-6
"""Relative difference of two totals that are called the same."""
HALF = 0.5
"""Share of all target directions from which estimates that divide by 1 − leverage overstate."""
WIDTH = 80
CONTRACTION = (
    "At an optimum of weak decay the residual curvature lets outputs move by more than their targets did, so that "
    "leverages are no shares. The Gauss–Newton form has none above 1: curvature='gauss-newton'."
)


def report(allocation: NetworkAllocation) -> str:
    """The report of an allocation: paragraphs of at most eighty characters a line."""
    details, decay = allocation.details, "with the weight decay that was given."
    total, size = digits(allocation.gauss_newton_total), allocation.problem.decay.size
    paragraphs = [
        f"{total} of {size:,} parameters count; report this number.",
        "It is the trace of the Gauss–Newton response at these weights, that of the network linearised there, "
        f"{decay if details.time is None else 'after the stopping time that was given.'} It needs no optimum, lies "
        "between 0 and the number of parameters, and gives each output of an example a leverage between 0 and 1: "
        "MacKay's number of well-determined parameters.",
        (_full if allocation.curvature == "full" else _gauss_newton)(allocation),
        _where(allocation),
        *(f"Beware. {caution}" for caution in [*cautions(allocation), *remarks(allocation)]),
    ]
    return "\n\n".join(fill(paragraph, WIDTH) for paragraph in paragraphs)


def _gradient(allocation: NetworkAllocation) -> str:
    """The gradient, and what a step would gain."""
    step = "Newton" if allocation.curvature == "full" else "Gauss–Newton"
    return (
        f"the gradient norm is {allocation.gradient_norm:.2g}, and a {step} step would take a share "
        f"{allocation.decrement:.1g} off the loss."
    )


def _gauss_newton(allocation: NetworkAllocation) -> str:
    """What the gradient means for the Gauss–Newton total."""
    if allocation.is_optimum:
        return (
            f"These weights are where training ends: {_gradient(allocation)} So the response to retraining is defined "
            "as well, another number wherever residuals are large: curvature='full'."
        )
    return (
        f"These weights are no optimum of the loss with this weight decay: {_gradient(allocation)} The number above "
        "stands, because it belongs to these weights and needs no optimum. Two other numbers belong to something else. "
        "The total with the full Hessian, curvature='full', is the response of an optimum, so at these weights it "
        "describes nothing. The same after capcore.networks.polish describes the polished network, which is another "
        "network: it fits more closely than yours. If the gradient surprises you, look at the weight decay. It counts "
        "beside the sum of the losses, and that of AdamW is capcore.networks.decoupled_decay."
    )


def _full(allocation: NetworkAllocation) -> str:
    """What the total with the full Hessian belongs to."""
    total = allocation.total
    if not allocation.is_optimum:
        return (
            f"Do not report {digits(total)}, the total with the full Hessian: it is the response of an optimum, and "
            "these weights are none. Leave curvature='full' away, or train on with capcore.networks.polish."
        )
    if abs(total - allocation.gauss_newton_total) <= ROUNDING * total:
        return "With the full Hessian the total is the same: the residual curvature is too small to matter here."
    return (
        f"The total with the full Hessian, {digits(total)}, is another quantity: the response to retraining with "
        f"slightly other targets. It is defined because these weights are an optimum: {_gradient(allocation)} If the "
        "weights were polished, both numbers belong to the polished network."
    )


def _where(allocation: NetworkAllocation) -> str:
    """Where the capacity goes."""
    n, k, size = len(allocation.per_position), len(allocation.per_output), allocation.per_position.size
    of = f"{size // n:,} positions with " if size > n else ""
    shares = [f"{name!r} has {digits(float(np.sum(values)))}" for name, values in allocation.per_subspace.items()]
    subspaces = f" Of the subspaces, {', '.join(shares)}." if shares else ""
    return (
        f"There are {n:,} examples of {of}{k:,} output{'s' if k > 1 else ''}. The largest leverage of one output is "
        f"{allocation.largest_leverage:.3g}, in example {allocation.details.largest:,}.{subspaces}"
    )


def cautions(allocation: NetworkAllocation) -> Iterator[str]:
    """What is given as warnings too, the most serious first."""
    details, full, largest = allocation.details, allocation.curvature == "full", allocation.largest_leverage
    if full and not allocation.is_optimum:
        negative = f"{allocation.n_negative:,} negative curvatures; " if allocation.n_negative > 0 else ""
        yield (
            f"params: found no minimum: {negative}{_gradient(allocation)} S then does not describe retraining. The "
            "Gauss–Newton form (curvature='gauss-newton') needs no optimum. Train further, or use "
            "capcore.networks.polish."
        )
    elif full and largest > 1 + SLACK:
        yield f"leverage: found {largest:.3g} of an example, expected at most 1. {CONTRACTION}"
    elif details.fitted:
        examples = "an example" if details.fitted == 1 else f"{details.fitted:,} examples"
        yield (
            f"leverage: found {examples} with a leverage of 1, such as example "
            f"{details.largest:,}, expected less: the network fits such an example whatever its target is, "
            "so its residual says nothing. Raise weight_decay, or leave it out where errors are estimated."
        )
    if details.dropped > 1e-12:
        yield (
            f"params: found {allocation.n_singular} singular directions of the Hessian, with a share "
            f"{details.dropped:.1g} of the squared Jacobian: outputs move along them and the loss does not fix them, "
            "so S is not defined there and they were left out. Add weight_decay, or set tolerance."
        )


def remarks(allocation: NetworkAllocation) -> Iterator[str]:
    """What is only said: many parameters for the examples that there are."""
    size = allocation.problem.n_fitted
    if allocation.gauss_newton_total > HALF * size:
        yield (
            f"total: found {allocation.gauss_newton_total / size:.0%} of the {size:,} directions that targets have, "
            f"expected at most {HALF:.0%}. Error estimates that divide by 1 − leverage, such as leave-one-out, "
            "overstate then. Use held-out examples."
        )


def digits(value: float) -> str:
    """A number in three digits.

    >>> digits(50.6412), digits(1234.5), digits(0.01234)
    ('50.6', '1,234', '0.0123')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
