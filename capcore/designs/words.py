"""A design in plain words, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from capcore.designs.notes import cost
from capcore.results.notebook import line

if TYPE_CHECKING:
    from capcore.designs.results import Design

HEADINGS = ("", "model", "weights", "capacity", "loss/v*", "bound/v*", "costs", "error", "far")


def report(found: Design) -> str:
    """The answer, the table, and what to beware of."""
    return "\n".join([*_answer(found), "", *_aligned(_rows(found)), "", *_legend(found)])


def html(found: Design) -> str:
    """The same as paragraphs and a table."""
    heads, *rows = _rows(found)
    body = "".join(map(line, rows))
    table = f"<table class='dataframe'><thead>{line(heads, 'th')}</thead><tbody>{body}</tbody></table>"
    table = f"<div class='capcore-wide' style='overflow-x: auto'>{table}</div>"
    before, after = (f"<p>{'<br>'.join(map(escape, lines))}</p>" for lines in (_answer(found), _legend(found)))
    return before + table + after


def _answer(found: Design) -> list[str]:
    best = found.best
    given = f"estimated from {found.n_observed:,} values" if found.n_observed else "known exactly"
    price = f"; estimating its weights adds {cost(best, found.n_observed, found.n_fitted):.2g} times v*"
    return [
        f"Use {best.words}: {best.n_params} weights for the last {found.n_inputs:,} values ({given}).",
        f"Its error variance is {best.loss / found.variance:.2g} times v* above v*, that of the best linear forecast"
        f"{price if found.n_observed else ''}.",
        *_optimism(found),
        _field(found),
    ]


def _legend(found: Design) -> list[str]:
    return [
        "loss/v*: excess over the best linear forecast from all inputs. bound/v*: the model's fitted bound.",
        "costs: what estimating the weights adds, in v*. error: final prediction error. far: share of the older half.",
        *_wall(found),
        *(f"Note. {each}" for each in found.notes),
    ]


def _wall(found: Design) -> list[str]:
    """What stacks lose at least: which stacks, and by which bound."""
    if not found.wall:
        return []
    size, bound = found.wall[-1]
    if bound == 0:
        return [f"A stack of {size:,} weights or more may forecast as well as all inputs do."]
    lines = [
        f"Stacks without overlap or skip connections whose kernels multiply to {found.n_inputs:,}, of at most "
        f"{found.max_params:,} weights:",
        f"  by fits of two layers, which may be too high, they lose at least {bound / found.variance:.1e} v*.",
    ]
    if found.proven_wall:
        lines[1:] = [f"{lines[1][:-1]}; proven: {found.proven_wall[-1][1] / found.variance:.1e} v*."]
    return lines


def _field(found: Design) -> str:
    """What the receptive field has to hold."""
    told = 1 - found.variances[-1] / found.variances[0]
    near, far = found.reach(0.9), found.reach(0.99)
    if told < 0.01:
        return f"The past tells little: all {found.n_inputs:,} values explain {told:.1%} of the variance of the next."
    return (
        f"Receptive field: all {found.n_inputs:,} values explain {told:.0%} of the variance of the next; 90% of "
        f"that are in the last {near:,}, and 99% in the last {far:,}."
        + (f" An autoregression of more than {found.reach(1.0):,} lags gains nothing." if found.estimated else "")
    )


def _optimism(found: Design) -> list[str]:
    """How much of a loss may be noise, for a series."""
    if not found.estimated or not found.n_observed:
        return []
    share = found.n_inputs / (found.n_fitted or found.n_observed)
    return [f"v* was fitted to the same values with {found.n_inputs:,} weights: losses below {share:.2g} may be noise."]


def _rows(found: Design) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [HEADINGS]
    for each, row in zip(found.models, found.rows(), strict=True):
        bound = "–" if row["bound"] != row["bound"] else f"{row['bound']:.1e}"
        rows.append(
            (
                "*" if each is found.best else "",
                row["model"],
                f"{row['parameters']:,}",
                f"{row['capacity']:,}",
                f"{row['loss']:.1e}",
                bound,
                f"{row['cost']:.1e}" if found.n_observed else "–",
                f"{row['prediction_error']:.5g}",
                f"{row['far_share']:.0%}",
            )
        )
    return rows


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    return [
        "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
