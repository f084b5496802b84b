"""What the stored run says: regrets of each estimate with intervals, and the interval that each question asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import nct
from scipy.stats import t as student

from chapters.kit.stored import stored
from chapters.shared.intervals import Interval
from chapters.your_trained_network.decay_questions import POINTS, QUESTIONS

Cells = Sequence[Mapping[str, Any]]


@cache
def cells() -> tuple[Mapping[str, Any], ...]:
    """Every data set, architecture and optimiser of the stored run."""
    return tuple(stored("decay_choice")["values"]["cells"])


def by_split(cells: Cells, value: Callable[[Mapping[str, Any]], float], group: str) -> np.ndarray:
    """(data sets, splits) means over architectures and optimisers of a value of a cell's ``group``, such as a task."""
    names = list(dict.fromkeys(cell["data"] for cell in cells))
    found = [[[value(row) for row in cell[group]] for cell in cells if cell["data"] == name] for name in names]
    return np.array([np.mean(each, axis=0) for each in found])


def interval(values: np.ndarray) -> tuple[float, float, float]:
    """Mean of (data sets, splits) values, and both ends of Student's interval over data sets.

    >>> interval(np.ones((3, 4)))
    (1.0, 1.0, 1.0)
    """
    over_data = Interval.of(values.mean(axis=1))
    return over_data.mean, over_data.low, over_data.high


def regret(cells: Cells, task: str, name: str, other: str | None = None) -> tuple[float, float, float]:
    """Mean regret of an estimate, or its difference from another's, and its interval, in points."""
    chosen = [cell for cell in cells if name in cell[task][0]]
    values = by_split(chosen, lambda row: row[name] - (row[other] if other else 0.0), task)
    return interval(100 * values)


def size_of_optimism(cells: Cells, name: str) -> tuple[float, float, float]:
    """Mean optimism by an estimate over that on the tests, and its interval."""
    said = by_split(cells, lambda row: row[name], "optimism")
    true = by_split(cells, lambda row: row["tests"], "optimism")
    ratio = said.mean() / true.mean()
    return interval(ratio + (said - ratio * true) / true.mean())  # to first order, a ratio of means is a mean


def chance_of_yes(cells: Cells, task: str) -> float:
    """How often an estimate would be said to choose as well as cross-validation if its regret were equal to it.

    Data sets are taken to scatter about zero as they do about their mean, by a normal law.
    """
    means = 100 * by_split(cells, lambda row: row["alo"] - row["cv"], task)
    spread = Interval.of(means.mean(axis=1)).half_width
    degrees = len(means) - 1
    needed = student.ppf(0.975, degrees)
    return float(nct.sf(needed, degrees, POINTS * needed / spread)) if spread else 1.0


def numbers(cells: Cells) -> dict[str, tuple[float, ...]]:
    """Question → both ends of the interval that decides it."""
    ends = {
        **{task: regret(cells, task, "alo", "cv") for task in ("decay", "width", "both", "stop")},
        **{name: regret(cells, "decay", "alo", name) for name in ("holdout", "tic")},
    }
    _, low, high = size_of_optimism(cells, "alo")
    factors = (max(low, 1 / high, 1.0), max(high, 1 / low) if low > 0 else np.inf)
    return {name: factors if name == "size" else ends[name][1:] for name in QUESTIONS}
