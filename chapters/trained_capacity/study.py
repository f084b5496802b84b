"""What the stored experiments say: the number that each question asks for, and its answer."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from chapters.kit.stored import stored
from chapters.shared.rank_statistics import spearman
from chapters.trained_capacity.questions import QUESTIONS

LIKE = 0.9  # a correlation of profiles that counts as the same place
RESULTS = {"stacks": "trained_stacks", "digits": "trained_digits"}
MAPS = ("receptive field", "saliency", "permutation", "ablation")
READERS = ("fully connected", "convolutional")


@cache
def results() -> dict[str, Any]:
    """Experiment → its stored values."""
    return {name: stored(file)["values"] for name, file in RESULTS.items()}


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Pearson's.

    >>> round(correlation([1, 2, 3], [2, 4, 7]), 2)
    0.99
    """
    return float(np.corrcoef(a, b)[0, 1])


def predicted(case: Mapping[str, Any], units: str) -> float:
    """Correlation of the lowest optimum's linear profile with the linear stack's."""
    return correlation(case[units][0]["linear"], case["profile"])


def agreeing(cases: Sequence[Mapping[str, Any]], units: str, lowest: bool = True) -> list[bool]:
    """Whether the lowest optimum, or any, has the linear stack's profile: in each case in which one was found.

    That is a correlation of at least ``LIKE``, and more than 95 % of those at random weights.
    """
    some = [(case, case[units][:1] if lowest else case[units]) for case in cases if case[units]]
    return [
        max(correlation(each["linear"], case["profile"]) for each in optima)
        >= max(LIKE, float(np.quantile(case["random"], 0.95)))
        for case, optima in some
    ]


def of_stacks(found: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of question 1 that the stacks decide."""
    cases = [case for case in found["cases"] if case["tanh"]]
    ranks = [(case["tanh"][0]["total"], sum(case["profile"])) for case in cases]
    branches = [correlation(a["linear"], b["linear"]) for case in cases for a in case["tanh"] for b in case["tanh"]]
    return {
        "where tanh": float(np.mean(agreeing(cases, "tanh"))),
        "where gated": float(np.mean(agreeing(cases, "gated"))),
        "how much": float(np.mean([abs(total / rank - 1) <= 0.1 for total, rank in ranks])),
        "branches": min(branches),
        "series": predicted(found["series"], "tanh"),
    }


def agreements(found: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Map → (n_readers · n_seeds,) Spearman's correlation over the pixels that vary with capacity per pixel."""

    def of_one(network: Mapping[str, Any], name: str) -> float:
        pixels = np.array(network["pixels"])
        live = pixels > 1e-6
        return spearman(pixels[live], np.array(network["maps"][name])[live])

    return {name: np.array([of_one(each, name) for reader in READERS for each in found[reader]]) for name in MAPS}


def of_digits(found: Mapping[str, Any]) -> dict[str, float]:
    """The numbers that the readers of digits decide."""
    failing = found["failing"]
    return {
        "importance": min(float(each.min()) for each in agreements(found).values()),
        "saturated": float(np.mean([each["few"]["1e-06"][1] for each in failing])),
        "Gauss-Newton": max(max(each["Gauss-Newton"]["between"]) for each in failing),
    }


@cache
def numbers() -> dict[str, float]:
    """Question → the number that decides it."""
    found = results()
    return {**of_stacks(found["stacks"]), **of_digits(found["digits"])}


def answers() -> list[list[str]]:
    """Rows of the chapter's table: question, measure, what "yes" needs, what was found, the answer."""
    found = numbers()
    return [each.row(found[name]) for name, each in QUESTIONS.items()]
