"""The chapter on mimicry by two routes, side by side: what the second confirms, and what it adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from capcore.complexity.mimicry_report import Difference
from capcore.studies.mimicry import STUDENT, TEACHER, comparisons, difference, measured
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

    @property
    def confirmed(self) -> bool:
        """Whether the second route confirms the first: decided alike, by intervals that overlap."""
        return self.decided_alike and self.overlap


def compared(content: Mapping[str, Any]) -> dict[str, Difference]:
    """The chapter's comparisons in accuracy, and last the one of checks of S4.10 that is in agreement."""
    return comparisons(content) | {FAITHFUL: difference(content, *FAITHFUL_ARMS, "agreement")}


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
    first, other = compared(content), compared({"values": second["values"][recipe]})
    return {name: BothRoutes(first[name], other[name], ALLOWED.get(name)) for name in first}


def all_routes(content: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, dict[str, Difference]]:
    """Route → what is compared → difference: the first route, then the second's draws of weights and its ten stages."""
    found = {name: by_both_routes(content, second, name) for name in second["values"]}
    draws = {name: f"weights {int(name.split()[1]) + 1}" for name in _draws(second)}
    names = {name: f"NumPy, {draws.get(name, name)}" for name in found}
    first = {key: each.first for key, each in next(iter(found.values())).items()}
    return {"JAX": first} | {names[name]: {key: each.second for key, each in found[name].items()} for name in found}


def mean_of_draws(second: Mapping[str, Any]) -> dict[str, Any]:
    """The second route with each arm's shares averaged over the draws of weights, split by split, as if stored."""
    draws = [second["values"][name]["arms"] for name in _draws(second)]
    arms = {
        arm: {name: np.mean([draw[arm][name] for draw in draws], axis=0) for name in ("accuracy", "agreement")}
        for arm in draws[0]
    }
    return {"values": {"arms": arms}}


def decided_otherwise(content: Mapping[str, Any], second: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """Two routes, by the names of :func:`all_routes` → comparisons of which they decide otherwise than each other."""
    routes = all_routes(content, second)
    return {
        (one, other): sum(
            not BothRoutes(routes[one][name], routes[other][name], ALLOWED.get(name)).decided_alike
            for name in routes[one]
        )
        for one, other in combinations(routes, 2)
    }


def confirmed(content: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, int]:
    """What is compared → the number of draws by which the second route confirms the first."""
    draws = [by_both_routes(content, second, name) for name in _draws(second)]
    return {name: sum(draw[name].confirmed for draw in draws) for name in draws[0]}


def averages(content: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """What is compared → column → text, for a table: JAX, the mean of the draws, and what confirms JAX."""
    counts, stages = confirmed(content, second), by_both_routes(content, second, STAGES)
    return {
        name: {
            "JAX": stages[name].first.text(2),
            "mean of the draws": mean.text(2),
            "draws that confirm": f"{counts[name]}",
            "ten stages confirm": "yes" if stages[name].confirmed else "no",
        }
        for name, mean in compared(mean_of_draws(second)).items()
    }


def in_words(content: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, str]:
    """What the chapter's text cites of the second route's draws."""
    counts = confirmed(content, second)
    names = _draws(second)
    compared_by = [by_both_routes(content, second, name) for name in names]
    met = {check: [each[check].second.low >= bound for each in compared_by] for check, bound in CHECKS.items()}
    then = {check: compared_by[0][check].first.low >= bound for check, bound in CHECKS.items()}
    means = compared(mean_of_draws(second))
    cited = {"premise": "deep − shallow, 400 labels", "premise_pool": "deep − shallow, pool's labels"}
    cited |= {"logits": "logits − hard labels", "students": "shallow − deep student"}
    return {
        "all": f"{sum(n == len(names) for n in counts.values())}",
        "of": f"{len(counts)}",
        "others": "; ".join(f"“{name}” by {n}" for name, n in counts.items() if n < len(names)),
        "checks": f"{sum(all(each == then[check] for each in found) for check, found in met.items())}",
        "of_checks": f"{len(CHECKS)}",
        "small": f"{sum(met['quarter-size student − teacher'])}",
        "draws": f"{len(names)}",
        **{key: means[name].text(2) for key, name in cited.items()},
        **_copies(content, second),
        **_stages(content, second),
    }


def _draws(second: Mapping[str, Any]) -> list[str]:
    """The second route's draws of weights, without its ten stages."""
    return [name for name in second["values"] if name.startswith("draw")]


def _copies(content: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, str]:
    """Shares of the teacher's answers: the deep student's, and the shallow one's as a control."""
    names = _draws(second)
    found = {}
    for key, arm in (("deep", "deep, logits on the pool"), ("shallow", STUDENT)):
        shares = [100 * measured({"values": second["values"][name]}, "agreement")[arm].mean() for name in names]
        found[f"{key}_first"] = f"{100 * measured(content, 'agreement')[arm].mean():.1f} %"
        found[key] = f"{min(shares):.1f} to {max(shares):.1f} %"
    return found


def _stages(content: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, str]:
    """How far ten stages are from the other routes, beside how far these are from each other."""
    counts, routes = decided_otherwise(content, second), list(all_routes(content, second))
    by_stages = by_both_routes(content, second, STAGES)
    first, *draws, last = routes
    against_draws = [counts[draw, last] for draw in draws]
    between = [counts[pair] for pair in combinations(draws, 2)]
    teachers = {
        name: measured({"values": value}, "accuracy")[TEACHER]
        for name, value in zip(routes, [content["values"], *second["values"].values()], strict=True)
    }
    ahead = {name: Difference.of(teachers[last] - teachers[name]) for name in [first, *draws]}
    on_average = Difference.of(teachers[last] - np.mean([teachers[draw] for draw in draws], axis=0))
    least, most = (choose((ahead[draw] for draw in draws), key=lambda each: each.mean) for choose in (min, max))
    return {
        "stages_confirmed": f"{sum(each.confirmed for each in by_stages.values())}",
        "stages": f"{counts[first, last]}",
        "stages_draws": f"{min(against_draws)} to {max(against_draws)}",
        "draws_first": ", ".join(f"{counts[first, draw]}" for draw in draws),
        "draws_apart": f"{min(between)} to {max(between)}",
        "stages_teacher": ahead[first].text(2),
        "stages_teacher_mean": on_average.text(2),
        "stages_teacher_least": least.text(2),
        "stages_teacher_most": most.text(2),
    }
