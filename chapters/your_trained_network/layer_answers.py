"""What the stored run of layers says: rank correlations with intervals, and the number that each question asks for."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from chapters.kit.stored import stored
from chapters.shared.rank_statistics import spearman
from chapters.your_trained_network.decay_answers import interval
from chapters.your_trained_network.layer_questions import COSTS, OTHERS, QUESTIONS

Networks = Mapping[str, Sequence[Mapping[str, Any]]]


@cache
def networks() -> Networks:
    """Name of a data set → its networks, of the stored run."""
    return dict(stored("layer_costs")["values"]["data"])


def correlations(data: Networks, cost: str, score: str) -> np.ndarray:
    """(data sets, splits) rank correlations of a score with the cost in training loss, over the layers of a network."""

    def of_one(network: Mapping[str, Any]) -> float:
        costs = network[cost]["training"]
        return spearman(network["scores"][score][-len(costs) :], costs)

    return np.array([[of_one(network) for network in each] for each in data.values()])


def chosen(data: Networks, cost: str, score: str) -> tuple[float, float, float]:
    """Cost in test loss of the layer of the least score less the mean of all layers, in points; and its interval."""
    found = []
    for each in data.values():
        costs = np.array([network[cost]["tests"] for network in each]) / [[network["baseline"]] for network in each]
        values = np.array([network["scores"][score][-costs.shape[1] :] for network in each])
        picked = np.take_along_axis(costs, values.argmin(axis=1)[:, None], axis=1)[:, 0]
        found.append(picked - costs.mean(axis=1))
    return interval(100 * np.array(found))


def numbers(data: Networks) -> dict[str, tuple[float, ...]]:
    """Question → both ends of the interval that decides it."""
    found: dict[str, tuple[float, ...]] = {}
    for cost in COSTS:
        marginal = correlations(data, cost, "marginal")
        others = [interval(marginal - correlations(data, cost, other))[1:] for other in OTHERS]
        found[cost] = interval(marginal)[1:]
        found[f"{cost} better"] = tuple(map(min, zip(*others, strict=True)))
        found[f"{cost} chosen"] = chosen(data, cost, "marginal")[1:]
    return {name: found[name] for name in QUESTIONS}
