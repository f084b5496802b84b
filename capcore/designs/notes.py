"""What to beware of in a design, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from capcore.designs.bonds import MOST_CHANNELS
from capcore.designs.candidates import best_of_each, final_prediction_error, values_behind
from capcore.designs.stability import UNLIKELY
from capcore.designs.walls import first_beyond

if TYPE_CHECKING:
    from capcore.designs.candidates import Candidate
    from capcore.designs.families import Task


def cost(candidate: Candidate, n_observed: int | None, n_fitted: int | None = None) -> float:
    """What estimating a model from N values adds to its error variance, relative; 0 if N is not known.

    κ/N for a known process; for one that was fitted to the same N values 2κ/(N − κ), since its variance is too low.

    >>> from types import SimpleNamespace as S
    >>> round(cost(S(capacity=10), 100), 9), round(cost(S(capacity=10), 110, 110), 9), cost(S(capacity=10), None)
    (0.1, 0.2, 0.0)
    """
    return final_prediction_error(1.0, candidate.capacity, n_observed, n_fitted) - 1


def notes(
    candidates: list[Candidate], best: Candidate, task: Task, agreement: float | None, lowered: int = 0
) -> list[tuple[str, bool]]:
    """Sentences, and whether each is urgent enough for a warning.

    Parameters
    ----------
    candidates : list of Candidate
    best : Candidate
        The recommended one.
    task : Task
    agreement : float, optional
        p-value of the hypothesis that the halves of the series agree.
    lowered : int
        Entries of the bond table that a stack's fit has lowered.
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
    price = min(cost(each, task.n_observed, values_behind(task.process)) for each in kept)
    if task.n_observed is not None and len(kept) > 1 and gap < price:
        found.append(
            (
                f"The best of the families differ by {gap:.1%} of v*, less than it costs to estimate any of them from "
                f"{task.n_observed:,} values ({price:.1%}): choose by simplicity.",
                False,
            )
        )
    if lowered:
        found.append(
            (
                f"{lowered} entries of the bond table were local optima: a deeper stack lost less. They were lowered "
                "to its loss; others may still be too high.",
                False,
            )
        )
    if any(each.family == "stacks" for each in candidates):
        beyond = first_beyond(task.table, task.max_params)
        if beyond is not None:
            found.append(
                (
                    f"From {beyond:,} weights on, stacks can have more than {MOST_CHANNELS} channels, which the bond "
                    "table does not hold: none of them was tried, and the bound counts their cuts as free.",
                    False,
                )
            )
    if np.isinf(lowest.prediction_error):
        found.append(
            ("No model has fewer degrees of freedom than there are values: observe more, or allow fewer.", True)
        )
    return found
