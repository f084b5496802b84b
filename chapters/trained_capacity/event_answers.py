"""What the stored experiment on events says: rank correlations, and the answers to its questions."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from chapters.events.study import SATURATED, close
from chapters.kit.stored import stored
from chapters.shared.question import Question, criteria_of
from chapters.shared.rank_statistics import spearman
from chapters.trained_capacity import trained_events

DESIGN = "\n\n".join((trained_events.__doc__ or "").split("\n\n")[1:5])
CRITERIA = criteria_of(trained_events.__doc__)
"""What was done, and the criteria as a list in Markdown."""
Cell = Mapping[str, Any]
FORETELL: dict[str, Callable[[Cell], np.ndarray]] = {
    "missed share": lambda cell: np.array(cell["missed"]),
    "capacity": lambda cell: 1 - np.array(cell["capacity"]),
    "occlusion": lambda cell: -np.array(cell["occlusion"]),
    "gradient": lambda cell: -np.array(cell["gradient"]),
    "leverage": lambda cell: -np.array(cell["leverage"]),
    "lag": lambda cell: np.arange(len(cell["cost"])),
}
"""What is said to foretell an event's cost → larger where it is to cost more."""


@cache
def settings() -> dict[str, Any]:
    """Of the stored run."""
    return dict(stored("trained_events")["settings"])


def cells(network: str, name: str) -> list[Cell]:
    """The stored networks of a kind and a series, a seed each."""
    return [*stored("trained_events")["values"][network][name].values()]


def pairs() -> Iterator[tuple[str, str]]:
    """Networks and series of the stored run."""
    yield from product(settings()["networks"], settings()["series"])


def ranks(outcome: str = "cost") -> pd.DataFrame:
    """Rank correlations with an outcome: networks and series × what foretells; of seeds that are not saturated."""
    rows = {}
    for pair in pairs():
        ranking = [cell for cell in cells(*pair) if max(cell["cost"]) >= SATURATED]
        rows[", ".join(pair)] = {
            name: np.mean([spearman(of(cell), np.array(cell[outcome])) for cell in ranking]) if ranking else np.nan
            for name, of in FORETELL.items()
        }
    return pd.DataFrame(rows).T.dropna()


def excess() -> float:
    """Median, over all events, of the cost over the missed share."""
    return float(np.median([np.divide(cell["cost"], cell["missed"]) for pair in pairs() for cell in cells(*pair)]))


def near(cell: Cell) -> float:
    """Share of the lags at which the cost is the missed share, within a quarter of it or within 2 %."""
    return float(np.mean(close(np.array(cell["cost"]), np.array(cell["missed"]))))


def answers() -> pd.DataFrame:
    """The questions of :mod:`chapters.trained_capacity.trained_events`: interval over pairs, answer."""
    table = ranks()
    asked = {f"Does {name} rank events?": (0.8, table[name]) for name in FORETELL}
    for name in [*FORETELL][1:]:
        asked[f"Does the missed share rank them better than {name}?"] = 0.0, table["missed share"] - table[name]
    shares = [np.mean([near(cell) for cell in cells(*pair)]) for pair in pairs()]
    asked["Is the cost the missed share?"] = 0.9, pd.Series(shares)
    rows = {text: Question(text, "", bound).judged(values) for text, (bound, values) in asked.items()}
    return pd.DataFrame(rows).T
