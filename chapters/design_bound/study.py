"""What the chapter computes beside its long experiments: ratios of losses, two scales."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

FLOOR = 1e-14  # of v*: below it losses are rounding
DRAWS = 10_000  # of the bootstrap


class Ratio(NamedTuple):
    """The design's loss over a search's: cells won, those that decide, the mean ratio and its interval."""

    won: int
    cells: int
    mean: float
    low: float
    high: float

    @property
    def share(self) -> float:
        """Of the cells that decide, those in which the design loses less."""
        return self.won / self.cells


def ratios(values: Mapping[str, Any], search: str) -> dict[str, np.ndarray]:
    """Process → (k,) ratios of the design's loss and the median of a search, in the cells that decide."""
    of_process = {}
    for name, process in values.items():
        cells = process["cells"].values()
        pairs = [(max(cell["design"], FLOOR), max(float(np.median(cell[search])), FLOOR)) for cell in cells]
        of_process[name] = np.array([ours / theirs for ours, theirs in pairs if max(ours, theirs) > FLOOR])
    return {name: quotients for name, quotients in of_process.items() if quotients.size}


def compared(values: Mapping[str, Any], search: str, seed: int = 0) -> Ratio:
    """The geometric mean of :func:`ratios`, each process once, with its 95 % bootstrap interval over processes.

    >>> cell = {"design": 1.0, "random": [2.0, 4.0, 8.0]}
    >>> compared({"a": {"cells": {"40": cell}}, "b": {"cells": {"40": cell}}}, "random")
    Ratio(won=2, cells=2, mean=0.25, low=0.25, high=0.25)
    """
    of_process = ratios(values, search)
    logs = np.array([np.log(quotients).mean() for quotients in of_process.values()])
    draws = np.random.default_rng(seed).choice(logs, size=(DRAWS, logs.size)).mean(axis=1)
    low, high = np.exp(np.quantile(draws, [0.025, 0.975])).tolist()
    every = np.concatenate(list(of_process.values()))
    return Ratio(int(np.sum(every < 1)), every.size, float(np.exp(logs.mean())), low, high)


def ahead(values: Mapping[str, Any], search: str) -> int:
    """Cells in which the design loses less than a search by a per cent or more: beyond the rounding of equal stacks."""
    return sum(int(np.sum(quotients < 0.99)) for quotients in ratios(values, search).values())


def two_scales(budget: int, values: Mapping[str, Any], bound: str = "bound") -> int:
    """In how many processes near taps and pools of a size lose less than a bound of stacks, fitted or "proven".

    >>> two_scales(8, {"a": {"cells": {"8": {"pools": 0.1, "bound": 0.2, "proven": 0.05}}}})
    1
    """
    cells = [process["cells"][str(budget)] for process in values.values()]
    return sum(cell["pools"] < cell[bound] for cell in cells)
