"""What the stored run says: regrets of each estimate with intervals, and the number that each question asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from chapters.kit.stored import stored
from chapters.your_trained_network.decay_questions import QUESTIONS

RESAMPLES = 4000
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


def resampled(shape: tuple[int, int], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Indices of data sets (B, D, 1), and of splits (B, D, S) within each."""
    d, s = shape
    return rng.integers(d, size=(RESAMPLES, d, 1)), rng.integers(s, size=(RESAMPLES, d, s))


def interval(values: np.ndarray) -> tuple[float, float, float]:
    """Mean of (data sets, splits) values, and both ends of its bootstrap interval.

    >>> interval(np.ones((3, 4)))
    (1.0, 1.0, 1.0)
    """
    means = values[resampled(values.shape, np.random.default_rng(0))].mean(axis=(1, 2))
    low, high = np.quantile(means, [0.025, 0.975])
    return float(values.mean()), float(low), float(high)


def regret(cells: Cells, task: str, name: str, other: str | None = None) -> tuple[float, float, float]:
    """Mean regret of an estimate, or its difference from another's, and its interval, in points."""
    chosen = [cell for cell in cells if name in cell[task][0]]
    values = by_split(chosen, lambda row: row[name] - (row[other] if other else 0.0), task)
    return interval(100 * values)


def size_of_optimism(cells: Cells, name: str) -> tuple[float, float, float]:
    """Mean optimism by an estimate over that on the tests, and its interval."""
    said = by_split(cells, lambda row: row[name], "optimism")
    true = by_split(cells, lambda row: row["tests"], "optimism")
    which = resampled(said.shape, np.random.default_rng(0))
    ratios = said[which].mean(axis=(1, 2)) / true[which].mean(axis=(1, 2))
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(said.mean() / true.mean()), float(low), float(high)


def ranks(cells: Cells, name: str, other: str | None = None) -> tuple[float, float, float]:
    """Mean rank correlation with the optimism, or its difference from another's, and its interval."""
    return interval(by_split(cells, lambda row: row[name] - (row[other] if other else 0.0), "ranks"))


def numbers(cells: Cells) -> dict[str, float]:
    """Question → the number that decides it."""
    by = {each: [cell for cell in cells if cell["optimiser"] == each] for each in ("Adam", "AdamW")}
    found = {
        **{task: regret(cells, task, "alo", "cv")[2] for task in ("decay", "width", "both", "stop")},
        **{f"decay {each}": regret(of_one, "decay", "alo", "cv")[2] for each, of_one in by.items()},
        **{f"gcv {task}": regret(cells, task, "gcv", "cv")[2] for task in ("decay", "both")},
        "curve": regret(cells, "decay", "curve", "cv")[2],
        **{name: regret(cells, "decay", "alo", name)[2] for name in ("holdout", "evidence", "tic")},
        "as is": regret(cells, "decay", "alo", "alo as is")[2],
        "total": ranks(cells, "total")[1],
        "total beyond": ranks(cells, "total", "train")[1],
    }
    low, high = size_of_optimism(cells, "alo")[1:]
    found["size"] = max(high, 1 / low) if low > 0 else float("inf")
    return {name: found[name] for name in QUESTIONS}
