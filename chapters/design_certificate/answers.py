"""What the stored experiments on real series say: wins and losses by peer, and what ranks networks before training."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from chapters.kit.stored import stored
from chapters.shared.rank_statistics import spearman

DRAWS, SEEN = 10_000, 2.8
"""Draws of the bootstrap; standard errors at which a difference is seen with a chance of four in five."""
Cell = Mapping[str, Any]


def outcome(gap: Mapping[str, float], n: int) -> str:
    """Win, tie or loss of a difference of n errors.

    >>> outcome({"mean": -0.1, "error": 0.01}, 50), outcome({"mean": 0.1, "error": 0.2}, 50)
    ('win', 'tie')
    """
    width = float(student.ppf(0.975, n - 1)) * gap["error"]
    return "win" if gap["mean"] < -width else "loss" if gap["mean"] > width else "tie"


class Tally(NamedTuple):
    """Of the capacity-chosen model against one peer: counts, the ratio of errors with its interval, what ties hide."""

    losses: int
    ties: int
    wins: int
    ratio: float
    low: float
    high: float
    unseen: float

    @property
    def answer(self) -> str:
        """Better, worse or undecided, by the interval of the ratio."""
        return "better" if self.high < 1 else "worse" if self.low > 1 else "undecided"


def tally(values: Mapping[str, Cell], peer: str, errors: str = "absolute") -> Tally:
    """Over all series, by absolute or by squared errors; ``unseen`` is the median least difference that a test sees."""
    gaps = [(each["methods"][peer][errors], each["held out"]) for each in values.values()]
    outcomes = [outcome(*gap) for gap in gaps]
    logs = np.log1p([gap["mean"] for gap, _ in gaps])
    draws = np.random.default_rng(0).choice(logs, (DRAWS, len(logs))).mean(axis=1)
    low, high = np.exp(np.quantile(draws, [0.025, 0.975])).tolist()
    counts = [outcomes.count(each) for each in ("loss", "tie", "win")]
    unseen = SEEN * float(np.median([gap["error"] for gap, _ in gaps]))
    return Tally(*counts, float(np.exp(logs.mean())), low, high, unseen)


KNOWN: dict[str, Callable[[Cell], float]] = {
    "twin": lambda cell: cell["twin"],
    "best linear": lambda cell: cell["best linear"],
    "receptive field": lambda cell: -cell["receptive field"],
    "capacity": lambda cell: -cell["capacity"],
    "weights": lambda cell: -cell["weights"],
}
"""What is known of a network before it is trained → larger where it is to forecast worse."""


def saturated(cell: Cell) -> bool:
    """Whether the twin is any linear model of its receptive field."""
    return bool(cell["capacity"] == cell["receptive field"])


def ranks(values: Mapping[str, Mapping[str, Cell]], free: bool = False) -> pd.DataFrame:
    """Series × what is known: Spearman's correlation with held-out errors, of all networks or those not saturated."""
    rows = {}
    for name, networks in values.items():
        cells = [cell for cell in networks.values() if not (free and saturated(cell))]
        errors = [np.mean(cell["errors"]) for cell in cells]
        rows[name] = {known: spearman([of(cell) for cell in cells], errors) for known, of in KNOWN.items()}
        halves = [[np.mean(cell["errors"][part::2]) for cell in cells] for part in (0, 1)]
        rows[name]["other seeds"] = spearman(*halves)
    return pd.DataFrame(rows).T


@cache
def compared() -> dict[str, Cell]:
    """Series → the stored comparison with peers."""
    return dict(stored("peers")["values"])


@cache
def trained() -> dict[str, Any]:
    """The stored networks: series → network → what was known before, and errors; series → that of the linear model."""
    return dict(stored("small_networks")["values"])
