"""What to beware of in a design, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from capcore.designs.candidates import best_of_each
from capcore.designs.stability import UNLIKELY

if TYPE_CHECKING:
    from capcore.designs.candidates import Candidate
    from capcore.designs.families import Task


def warnings_of(candidates: list[Candidate], task: Task, agreement: float | None) -> Iterator[str]:
    """What is urgent enough for a warning; ``agreement`` is the p-value of equal halves of the series, if any."""
    if task.max_params >= task.n_inputs:
        yield (
            f"max_params: found {task.max_params:,}, expected fewer than the {task.n_inputs:,} inputs: as many taps "
            "leave no loss, so that larger budgets show nothing. Use fewer parameters, or more inputs."
        )
    if agreement is not None and agreement < UNLIKELY:
        yield (
            f"process: found two halves of the series with different autoregressions (p = {agreement:.0e}), expected a "
            "stationary series. Final prediction errors can then rank models wrongly: compare models on held-out data."
        )
    attained = min((one for one in candidates if one.loss == 0), key=lambda one: one.n_params, default=None)
    singular = [one for one in candidates if one.total < one.capacity]
    if attained is not None and attained.n_params < min(task.max_params, task.n_inputs):
        yield (
            f"process: found one that {attained.words} forecast(s) without loss, expected one that no small model "
            "attains. Larger models have singular optima, whose capacity depends on where a fit ends. Use it."
        )
    elif singular:
        yield (
            f"process: found optima of {len(singular)} model(s) that use fewer degrees of freedom than they have, such "
            f"as {singular[0].words} ({singular[0].total} of {singular[0].capacity}), expected regular ones: the "
            "target is simpler than they are. Use fewer channels."
        )
    if all(np.isinf(one.prediction_error) for one in candidates):
        yield "No model has fewer degrees of freedom than there are values: observe more, or allow fewer."


def remarks_of(candidates: list[Candidate], best: Candidate, task: Task) -> Iterator[str]:
    """What a reader of the table should know."""
    firsts = best_of_each(candidates).values()
    lowest, *_ = firsts
    if lowest is not best:
        yield (
            f"A simpler family is as good: {best.words}. The gain of {lowest.words} is within the error of the "
            "comparison."
        )
    losses = [one.loss / task.problem.variance for one in firsts]
    gap, price = max(losses) - min(losses), min(one.cost for one in firsts)
    if len(losses) > 1 and gap < price:
        yield (
            f"The best of the families differ by {gap:.1%} of v*, less than it costs to estimate any of them from "
            f"{task.n_observed:,} values ({price:.1%}): choose by simplicity."
        )
