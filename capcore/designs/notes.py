"""What to beware of in a design, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from capcore.designs.candidates import best_of_each
from capcore.designs.stability import UNLIKELY

if TYPE_CHECKING:
    from capcore.designs.candidates import Candidate
    from capcore.designs.families import Task


def cost(candidate: Candidate, n_observed: int | None) -> float:
    """What estimating a model adds to its prediction variance, relative: 2κ/(m − κ); 0 if m is not known.

    >>> from types import SimpleNamespace as S
    >>> cost(S(capacity=10), 110)
    0.2
    """
    if n_observed is None:
        return 0.0
    room = n_observed - candidate.capacity
    return 2 * candidate.capacity / room if room > 0 else float("inf")


def notes(candidates: list[Candidate], best: Candidate, task: Task, agreement: float | None) -> list[tuple[str, bool]]:
    """Sentences, and whether each is urgent enough for a warning.

    Parameters
    ----------
    candidates : list of Candidate
    best : Candidate
        The recommended one.
    task : Task
    agreement : float, optional
        p-value of the hypothesis that the halves of the series agree.
    """
    found: list[tuple[str, bool]] = []
    variance = task.problem.variance
    if task.max_params >= task.n_inputs:
        found.append(
            (
                f"max_params: found {task.max_params:,}, expected fewer than the {task.n_inputs:,} inputs: as many "
                "taps leave no loss, so that larger budgets show nothing. Use fewer parameters, or more inputs.",
                True,
            )
        )
    if agreement is not None and agreement < UNLIKELY:
        found.append(
            (
                f"process: found two halves of the series with different autoregressions (p = {agreement:.0e}), "
                "expected a stationary series. Final prediction errors can then rank models wrongly: compare models on "
                "held-out data.",
                True,
            )
        )
    attained = min((each for each in candidates if each.loss == 0), key=lambda each: each.n_params, default=None)
    singular = [each for each in candidates if each.total < each.capacity]
    if attained is not None and attained.n_params < min(task.max_params, task.n_inputs):
        found.append(
            (
                f"process: found one that {attained.words} forecast(s) without loss, expected one that no small model "
                "attains. Larger models have singular optima, whose capacity depends on where a fit ends. Use it.",
                True,
            )
        )
    elif singular:
        found.append(
            (
                f"process: found optima of {len(singular)} model(s) that use fewer degrees of freedom than they have, "
                f"such as {singular[0].words} ({singular[0].total} of {singular[0].capacity}), expected regular ones: "
                "the target is simpler than they are. Use fewer channels.",
                True,
            )
        )
    lowest = min(candidates, key=lambda each: each.prediction_error)
    if lowest is not best:
        found.append(
            (
                f"A simpler family is as good: {best.words}. The gain of {lowest.words} is within the error of the "
                "comparison.",
                False,
            )
        )
    kept = best_of_each(candidates).values()
    gap = (max(each.loss for each in kept) - min(each.loss for each in kept)) / variance
    price = min(cost(each, task.n_observed) for each in kept)
    if task.n_observed is not None and len(kept) > 1 and gap < price:
        found.append(
            (
                f"The best of the families differ by {gap:.1%} of v*, less than it costs to estimate any of them from "
                f"{task.n_observed:,} values ({price:.1%}): choose by simplicity.",
                False,
            )
        )
    if np.isinf(lowest.prediction_error):
        found.append(
            ("No model has fewer degrees of freedom than there are values: observe more, or allow fewer.", True)
        )
    return found
