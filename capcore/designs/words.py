"""A design in plain words, for a terminal and for a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from capcore.results.notebook import line
from capcore.results.text_table import text_table

if TYPE_CHECKING:
    from capcore.designs.results import Design

HEADINGS = ("", "model", "weights", "capacity", "loss/v*", "bound/v*", "costs", "error", "far")
LEGEND = (
    "loss/v*: excess over the best linear forecast from all inputs. bound/v*: the model's fitted bound.",
    "costs: what estimating the weights adds, in v*. error: final prediction error. far: share of the older half.",
)


def report(design: Design) -> str:
    """The answer, the table, and what to beware of."""
    return "\n".join([*_answer(design), "", text_table(_rows(design), HEADINGS, "<<>"), "", *_legend(design)])


def html(design: Design) -> str:
    """The same as paragraphs and a table."""
    body = "".join(map(line, _rows(design)))
    table = f"<table class='dataframe'><thead>{line(HEADINGS, 'th')}</thead><tbody>{body}</tbody></table>"
    before, after = (f"<p>{'<br>'.join(map(escape, lines))}</p>" for lines in (_answer(design), _legend(design)))
    return f"{before}<div class='capcore-wide' style='overflow-x: auto'>{table}</div>{after}"


def _answer(design: Design) -> list[str]:
    best, n, price = design.best, design.n_inputs, ""
    given = f"estimated from {design.n_observed:,} values" if design.n_observed else "known exactly"
    explained = 1 - design.variances[-1] / design.variances[0]
    field = f"The past tells little: all {n:,} values explain {explained:.1%} of the variance of the next."
    if explained >= 0.01:
        field = (
            f"Receptive field: all {n:,} values explain {explained:.0%} of the variance of the next; 90% of that are "
            f"in the last {design.reach(0.9):,}, and 99% in the last {design.reach(0.99):,}."
        )
    noise = []
    if design.n_observed:
        price = f"; estimating its weights adds {best.cost:.2g} times v*"
    if design.n_fitted:
        share = n / design.n_fitted
        noise = [f"v* was fitted to the same values with {n:,} weights: losses below {share:.2g} may be noise."]
        if explained >= 0.01:
            field += f" An autoregression of more than {design.reach(1.0):,} lags gains nothing."
    return [
        f"Use {best.words}: {best.n_params} weights for the last {n:,} values ({given}).",
        f"Its error variance is {best.loss / design.variance:.2g} times v* above v*, that of the best linear forecast"
        f"{price}.",
        *noise,
        field,
    ]


def _legend(design: Design) -> list[str]:
    bound = []
    if design.wall:
        size, least = design.wall[-1]
        certain = "".join(f"; proven: {loss / design.variance:.1e} v*" for _, loss in design.proven_wall[-1:])
        bound = [
            f"Stacks without overlap or skip connections whose kernels multiply to {design.n_inputs:,}, of at most "
            f"{design.max_params:,} weights:",
            "  by fits of two layers, which may be too high, they lose at least "
            f"{least / design.variance:.1e} v*{certain}.",
        ]
        if least == 0:
            bound = [f"A stack of {size:,} weights or more may forecast as well as all inputs do."]
    return [*LEGEND, *bound, *(f"Note. {note}" for note in design.notes)]


def _rows(design: Design) -> list[list[str]]:
    return [
        [
            "*" if one is design.best else "",
            one.words,
            f"{one.n_params:,}",
            f"{one.capacity:,}",
            f"{one.loss / design.variance:.1e}",
            "–" if one.bound != one.bound else f"{one.bound / design.variance:.1e}",
            f"{one.cost:.1e}" if design.n_observed else "–",
            f"{one.prediction_error:.5g}",
            f"{one.far_share:.0%}",
        ]
        for one in design.models
    ]
