"""Which number of an allocation to report and why, what the gradient means for it, and what to beware of, in words."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from capcore.networks.results import NetworkAllocation

SLACK = 1e-6
"""Excess over 1 that a leverage may have: more than rounding times the condition number of usual optima."""
WIDTH = 80


def report(allocation: NetworkAllocation) -> str:
    """The report of an allocation: paragraphs of at most eighty characters a line."""
    total, size = digits(allocation.gauss_newton_total), allocation.problem.decay.size
    paragraphs = [
        f"{total} of {size:,} parameters count; report this number.",
        "It is the trace of the Gauss–Newton response at these weights, that of the network linearised there, "
        "with the weight decay that was given. It needs no optimum, lies between 0 and the number of parameters, and "
        "gives each output of an example a leverage between 0 and 1: MacKay's number of well-determined parameters.",
        _at_weights(allocation),
        _where(allocation),
        *(f"Beware. {caution}" for caution in cautions(allocation)),
    ]
    return "\n\n".join(fill(paragraph, WIDTH) for paragraph in paragraphs)


def _gradient(allocation: NetworkAllocation) -> str:
    """The gradient, and what a step would gain."""
    return (
        f"the gradient norm is {allocation.gradient_norm:.2g}, and a Newton step would take a share "
        f"{allocation.decrement:.1g} off the loss."
    )


def _at_weights(allocation: NetworkAllocation) -> str:
    """What the gradient means, and what the total with the full Hessian belongs to."""
    if not allocation.is_optimum:
        return (
            f"These weights are no optimum of the loss with this weight decay: {_gradient(allocation)} The number "
            "above stands, because it needs no optimum. If the gradient surprises you, look at the weight decay. It "
            "counts beside the sum of the losses, and that of AdamW is capcore.networks.decoupled_decay."
        )
    total = f"{digits(allocation.total)}: " if allocation.curvature == "full" else ""
    return (
        f"These weights are where training ends: {_gradient(allocation)} So the response to retraining with slightly "
        f"other targets is defined as well, another number wherever residuals are large: {total}curvature='full'."
    )


def _where(allocation: NetworkAllocation) -> str:
    """Where the capacity goes."""
    n, k, size = len(allocation.per_position), len(allocation.per_output), allocation.per_position.size
    of = f"{size // n:,} positions with " if size > n else ""
    shares = [f"{name!r} has {digits(float(np.sum(values)))}" for name, values in allocation.per_subspace.items()]
    subspaces = f" Of the subspaces, {', '.join(shares)}." if shares else ""
    return (
        f"There are {n:,} examples of {of}{k:,} output{'s' if k > 1 else ''}. The largest leverage of one output is "
        f"{allocation.largest_leverage:.3g}, in example {allocation._largest:,}.{subspaces}"
    )


def cautions(allocation: NetworkAllocation) -> Iterator[str]:
    """What is given as warnings too, the most serious first."""
    full, largest, fitted = allocation.curvature == "full", allocation.largest_leverage, allocation._fitted
    if full and not allocation.is_optimum:
        negative = f"{allocation.n_negative:,} negative curvatures; " if allocation.n_negative > 0 else ""
        yield (
            f"params: found no minimum: {negative}{_gradient(allocation)} The total with the full Hessian, "
            f"{digits(allocation.total)}, then does not describe retraining. Leave curvature='full' away, or train "
            "further, as capcore.networks.polish does."
        )
    elif full and largest > 1 + SLACK:
        yield (
            f"leverage: found {largest:.3g} of an example, expected at most 1: outputs move by more than their targets "
            "did. Raise weight_decay, or leave curvature='full' away."
        )
    elif fitted:
        examples = "an example" if fitted == 1 else f"{fitted:,} examples"
        yield (
            f"leverage: found {examples} with a leverage of 1, such as example "
            f"{allocation._largest:,}, expected less: the network fits such an example whatever its target is, "
            "so its residual says nothing. Raise weight_decay, or leave it out where errors are estimated."
        )
    if (dropped := allocation._response.dropped) > 1e-12:
        yield (
            f"params: found {allocation.n_singular} singular directions of the Hessian, with a share "
            f"{dropped:.1g} of the squared Jacobian: outputs move along them and the loss does not fix them, "
            "so S is not defined there and they were left out. Add weight_decay."
        )


def digits(value: float) -> str:
    """A number in three digits.

    >>> digits(50.6412), digits(1234.5), digits(0.01234)
    ('50.6', '1,234', '0.0123')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
