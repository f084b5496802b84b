"""Which number of an allocation to report and why, what the gradient means for it, and what to beware of, in words.

Three numbers can be had for one trained network, and they belong to different things. The Gauss–Newton total at the
trained weights belongs to the network linearised there, and needs no optimum. The total with the full Hessian belongs
to an optimum: at other weights it describes nothing. And what is computed after polishing belongs to the polished
network, another one than was trained. The report says which of them it has in hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from capcore.networks.capacities import by_group

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


@dataclass(frozen=True)
class Caution:
    """Something to beware of, and whether it is also given as a warning."""

    text: str
    warned: bool = True


def number(found: NetworkAllocation) -> str:
    """The number to report, with the half-width of its interval where it is estimated."""
    error = f" ± {found.error:.2g}" if found.method == "sketch" else ""
    return _shown(found.gauss_newton_total) + error


def report(found: NetworkAllocation) -> str:
    """The report of an allocation: paragraphs of at most a hundred characters a line."""
    p = found.problem.derivatives.n_params
    stopped = found._options.get("time") is not None
    parts = [
        f"Report {number(found)}: so many of the {p:,} parameters count.",
        "It is the trace of the Gauss–Newton response at these weights, that of the network linearised there"
        + (", after the stopping time that was given. " if stopped else ", with the weight decay that was given. ")
        + "It needs no optimum, lies between 0 and the number of parameters, and gives each output of an example a "
        f"leverage between 0 and 1: MacKay's number of well-determined parameters.{_interval(found)}",
        _full(found) if found.curvature == "full" else _gauss_newton(found),
        _where(found),
    ]
    parts += [f"Beware. {each.text}" for each in cautions(found)]
    return "\n\n".join(fill(part, WIDTH) for part in parts)


def _interval(found: NetworkAllocation) -> str:
    if found.method == "dense":
        return ""
    return f" It is estimated from {found._options['probes']} probes, with half of a 95 % interval beside it."


def _gauss_newton(found: NetworkAllocation) -> str:
    """What the gradient means for the Gauss–Newton total."""
    if found.is_optimum:
        return (
            f"These weights are where training ends: the gradient norm is {found.gradient_norm:.2g}, and a "
            f"Gauss–Newton step would take a share {found.decrement:.1g} off the loss. So the response to retraining "
            "is defined as well. It needs the full Hessian, curvature='full', and is another number wherever residuals "
            "are large."
        )
    return (
        f"These weights are no optimum of the loss with this weight decay: the gradient norm is "
        f"{found.gradient_norm:.2g}, and a Gauss–Newton step would take a share {found.decrement:.1g} off the loss. "
        "The number above stands, because it belongs to these weights and needs no optimum. Two other numbers belong "
        "to something else. The total with the full Hessian, curvature='full', is the response of an optimum, so at "
        "these weights it describes nothing. The same after capcore.networks.polish describes the polished network, "
        "which is another network: it fits more closely than yours. If the gradient surprises you, look at the weight "
        "decay. It counts beside the sum of the losses, and that of AdamW is capcore.networks.decoupled_decay."
    )


def _full(found: NetworkAllocation) -> str:
    """What the total with the full Hessian belongs to."""
    total = _shown(found.total)
    if not found.is_optimum:
        return (
            f"Do not report {total}, the total with the full Hessian: it is the response of an optimum, and these "
            f"weights are none. {_missing(found)} Outputs would not follow retraining by this response. Either leave "
            "curvature='full' away, or train on with capcore.networks.polish: that total belongs to the polished "
            "network then, not to this one."
        )
    if abs(found.total - found.gauss_newton_total) <= ROUNDING * found.total + (found.error if found.errors else 0.0):
        return "With the full Hessian the total is the same: the residual curvature is too small to matter here."
    return (
        f"The total with the full Hessian, {total}, is another quantity: the response to retraining with slightly "
        f"other targets. It is defined because these weights are an optimum: the gradient norm is "
        f"{found.gradient_norm:.2g}, and a Newton step would take a share {found.decrement:.1g} off the loss. The two "
        "differ by the residual curvature, which lets outputs follow by more than their targets moved, so that "
        "leverages are no shares. If the weights were polished, both numbers belong to the polished network: for the "
        "one that was trained, report the Gauss–Newton total at its own weights."
    )


def _missing(found: NetworkAllocation) -> str:
    negative = f"{found.n_negative:,} negative curvatures, " if found.n_negative > 0 else ""
    return (
        f"There are {negative}a gradient of norm {found.gradient_norm:.2g}, and a Newton step would take a share "
        f"{found.decrement:.1g} off the loss."
    )


def _where(found: NetworkAllocation) -> str:
    """Where the capacity goes."""
    n, k = found.problem.targets.shape
    shares = [f"{name!r} has {_shown(float(np.sum(values)))}" for name, values in found.per_subspace.items()]
    subspaces = f" Of the subspaces, {', '.join(shares)}." if shares else ""
    least = "at least " if found.method == "sketch" else ""
    return (
        f"There are {n:,} examples of {k:,} output{'s' if k > 1 else ''}. The largest leverage is {least}"
        f"{found.largest_leverage:.3g}, of example {found._options['largest']:,}.{subspaces}"
    )


def warnings_of(found: NetworkAllocation) -> list[str]:
    """What is given as a warning."""
    return [each.text for each in cautions(found) if each.warned]


def cautions(found: NetworkAllocation) -> list[Caution]:
    """All that is to beware of, the most serious first."""
    return [*_optimum(found), *_leverage(found), *_unfinished(found), *_singular(found), *_crowded(found)]


def _optimum(found: NetworkAllocation) -> list[Caution]:
    if found.curvature != "full" or found.is_optimum:
        return []
    why = f"{found.n_negative} negative curvatures, " if found.n_negative > 0 else ""
    return [
        Caution(
            f"params: found no minimum: {why}gradient norm {found.gradient_norm:.2g}, and a Newton step would take "
            f"a share {found.decrement:.1g} off the loss. S then does not describe retraining. These need no optimum: "
            "the Gauss–Newton form (curvature='gauss-newton'), that of the linearised model, and paper_metric. "
            "Train further, or use capcore.networks.polish."
        )
    ]


def _leverage(found: NetworkAllocation) -> list[Caution]:
    full = found.curvature == "full"
    if full and not found.is_optimum:
        return []
    if full and (above := _above_one(found)):
        return [Caution(f"leverage: found {above}, expected at most 1. {CONTRACTION}")]
    count = found._options["fitted"]
    if not count:
        return []
    examples = "an example" if count == 1 else f"{count:,} examples"
    least = "at least " if found.method == "sketch" else ""
    return [
        Caution(
            f"leverage: found {least}{examples} with a leverage of 1, such as example {found._options['largest']:,}, "
            "expected less: the network fits such an example whatever its target is, so its residual says nothing. "
            "Raise weight_decay, or leave it out where errors are estimated."
        )
    ]


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


def _unfinished(found: NetworkAllocation) -> list[Caution]:
    options = found._options
    if found.method == "dense":
        return []
    cautions = []
    if options["lacking"] > options["tolerance"]:
        name, advice = ("seconds", "Raise seconds") if options["spent"] else ("max_steps", "Raise max_steps")
        cautions.append(
            Caution(
                f"{name}: found solves that stopped with a share of {options['lacking']:.1g} of a capacity "
                f"missing, expected at most {options['tolerance']:g}. {advice}, or weight_decay."
            )
        )
    if options["probes"] < options["asked"]:
        text = f"seconds: found a budget for {options['probes']} of {options['asked']} probes. The errors are those "
        cautions.append(Caution(text + "that these reached; another machine would reach others.", warned=False))
    return cautions


def _singular(found: NetworkAllocation) -> list[Caution]:
    dropped = found._options.get("dropped", 0.0)
    if dropped <= 1e-12:
        return []
    return [
        Caution(
            f"params: found {found.n_singular} singular directions of the Hessian, with a share {dropped:.1g} of the "
            "squared Jacobian: outputs move along them and the loss does not fix them, so S is not defined there and "
            "they were left out. Add weight_decay, or set tolerance."
        )
    ]


def _crowded(found: NetworkAllocation) -> list[Caution]:
    """Many parameters for the examples that there are. Probabilities sum to 1: of K targets K − 1 are free."""
    n, k = found.problem.targets.shape
    size = n * (k if found.loss == "squared" else k - 1)
    share = found.gauss_newton_total / size
    if share <= HALF:
        return []
    return [
        Caution(
            f"total: found {share:.0%} of the {size:,} directions that targets have, expected at most {HALF:.0%}. "
            "Error estimates that divide by 1 − leverage, such as leave-one-out and generalised cross-validation, "
            "overstate then. Use held-out examples.",
            warned=False,
        )
    ]


def _shown(value: float) -> str:
    """A number in three digits.

    >>> _shown(50.6412), _shown(1234.5), _shown(0.01234)
    ('50.6', '1,234', '0.0123')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
