"""The chapter on mimicry by two routes, side by side: what the second confirms, and what it adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from capcore.complexity.mimicry_report import Difference
from capcore.studies.mimicry import STUDENT, TEACHER, comparisons, difference, measured, over_seeds
from capcore.studies.mimicry_second_route import STAGES

FAITHFUL = "teacher's answer, logits − true labels"
FAITHFUL_ARMS = (STUDENT, "shallow, true labels on the pool")
CHECKS = {
    "student − teacher": -0.01,
    "quarter-size student − teacher": -0.01,
    "logits − hard labels": 0.0,
    "pool − the 400 alone": 0.0,
    "deep − shallow, 400 labels": 0.0,
    FAITHFUL: 0.0,
}
"""Comparisons that claim S4.10 checks → what the lower end of the interval must be at least."""


ALLOWED = {name: bound for name, bound in CHECKS.items() if bound < 0}
"""Comparisons of which the claim allows that the interval reaches below zero, and how far."""


@dataclass(frozen=True)
class BothRoutes:
    """One comparison by the stored experiment, in JAX, and by its second route, in NumPy.

    Attributes
    ----------
    first, second : differences. allowed : what the lower end is held against; None where the claim asks for no margin.
    """

    first: Difference
    second: Difference
    allowed: float | None = None

    @property
    def decided_alike(self) -> bool:
        """Whether both intervals are above zero, or both below, or both hold it; and on one side of what is allowed."""
        within = [self.allowed is None or route.low >= self.allowed for route in (self.first, self.second)]
        return self.first.sign == self.second.sign and within[0] == within[1]

    @property
    def overlap(self) -> bool:
        """Whether the intervals have a point in common."""
        return self.first.overlaps(self.second)


def by_both_routes(
    content: Mapping[str, Any], second: Mapping[str, Any], recipe: str = "draw 0"
) -> dict[str, BothRoutes]:
    """What is compared → both routes' differences; the last is in agreement with the teacher, not in accuracy.

    A comparison is confirmed if it is decided alike and the intervals overlap, for every one of the draws of weights.
    That was set before they were trained.

    Parameters
    ----------
    content : ``stored("mimicry")``. second : ``stored("mimicry_second_route")``.
    recipe : of the second route, see :mod:`capcore.studies.mimicry_second_route`.
    """
    routes = (content, {"values": second["values"][recipe]})
    first, other = [comparisons(each) | {FAITHFUL: difference(each, *FAITHFUL_ARMS, "agreement")} for each in routes]
    return {name: BothRoutes(first[name], other[name], ALLOWED.get(name)) for name in first}


def all_routes(content: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, dict[str, Difference]]:
    """Route → what is compared → difference: the first route, then the second's draws of weights and its ten stages."""
    found = {name: by_both_routes(content, second, name) for name in second["values"]}
    names = {
        name: f"NumPy, weights {int(name.split()[1]) + 1}" if name.startswith("draw") else f"NumPy, {name}"
        for name in found
    }
    first = {key: each.first for key, each in next(iter(found.values())).items()}
    return {"JAX": first} | {names[name]: {key: each.second for key, each in found[name].items()} for name in found}


def over_draws(second: Mapping[str, Any], one: str, other: str) -> Difference:
    """Accuracy of one arm minus that of another by the second route, paired by seed, each the mean of its draws."""
    draws = [value["arms"] for name, value in second["values"].items() if name.startswith("draw")]
    means = [np.mean([draw[arm]["accuracy"] for draw in draws], axis=0) for arm in (one, other)]
    return over_seeds(means[0] - means[1])


def confirmed(content: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, int]:
    """What is compared → the number of draws by which the second route confirms the first."""
    draws = [by_both_routes(content, second, name) for name in second["values"] if name.startswith("draw")]
    return {name: sum(draw[name].decided_alike and draw[name].overlap for draw in draws) for name in draws[0]}


def in_words(content: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, str]:
    """What the chapter's text cites of the second route."""
    counts, stages = confirmed(content, second), by_both_routes(content, second, STAGES)
    draws = {name: value for name, value in second["values"].items() if name.startswith("draw")}
    lows = {
        check: [by_both_routes(content, second, name)[check].second.low >= bound for name in draws]
        for check, bound in CHECKS.items()
    }
    then = {check: by_both_routes(content, second)[check].first.low >= bound for check, bound in CHECKS.items()}
    copies = [measured({"values": value}, "agreement")["deep, logits on the pool"].mean() for value in draws.values()]
    first = measured(content, "agreement")["deep, logits on the pool"].mean()
    teachers = [measured(each, "accuracy")[TEACHER] for each in ({"values": second["values"][STAGES]}, content)]
    small = "quarter-size student − teacher"
    return {
        "all": f"{sum(n == len(draws) for n in counts.values())}",
        "of": f"{len(counts)}",
        "others": "; ".join(f"“{name}” by {n}" for name, n in counts.items() if n < len(draws)),
        "checks": f"{sum(all(met == then[check] for met in each) for check, each in lows.items())}",
        "of_checks": f"{len(CHECKS)}",
        "small": f"{sum(lows[small])}",
        "draws": f"{len(draws)}",
        "premise": str(over_draws(second, TEACHER, "shallow, 400 labels")),
        "logits": str(over_draws(second, STUDENT, "shallow, hard labels on the pool")),
        "deep_first": f"{100 * first:.0f} %",
        "deep": f"{100 * np.mean(copies):.0f} %",
        "stages": f"{sum(not each.decided_alike for each in stages.values())}",
        "stages_teacher": str(over_seeds(teachers[0] - teachers[1])),
    }
