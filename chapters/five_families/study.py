"""Statements of the main line as questions to every model of the sweep, and the share of models in which each holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from chapters.five_families.experiment import settings_of

SAME = 1e-6
"""Losses of two starts that differ by less, relative to the smaller, count as the same: far above rounding."""


@dataclass(frozen=True)
class Statement:
    """What is said and in which chapter, the models of which it can be asked, and those in which it holds."""

    text: str
    chapter: str
    asked: Callable[[pd.DataFrame], pd.Series]
    holds: Callable[[pd.DataFrame], pd.Series]


def partial(table: pd.DataFrame) -> pd.Series:
    """Models that cannot take all inputs, so that something is left to allocate."""
    return table["total"] < 2 ** table["n_layers"]


def same_loss(table: pd.DataFrame) -> pd.Series:
    """Models whose start ended where the best start of the same model did."""
    groups = table.groupby(["process", "value", "n_layers", "channels"])["loss"]
    return (table["attained"] == 1) | (table["loss"] <= groups.transform("min") * (1 + SAME))


STATEMENTS = (
    Statement(
        "capacity = generic count", "hierarchical", lambda t: t["total"] > 0, lambda t: t["total"] == t["generic"]
    ),
    Statement("more on the recent half", "hierarchical", partial, lambda t: t["recent"] > 0.5),
    Statement(
        "smoother along eigenvectors", "hierarchical", partial, lambda t: t["rough_eigenvectors"] < t["rough_inputs"]
    ),
    Statement("all starts, one loss", "hierarchical_errors", lambda t: t["attained"] == 0, same_loss),
)


def table_of(content: Mapping[str, Any]) -> pd.DataFrame:
    """Settings and findings of all models of a stored sweep, one row each."""
    return pd.DataFrame(list(settings_of(content["settings"]))).assign(**content["values"])


def shares(table: pd.DataFrame, statement: Statement) -> pd.DataFrame:
    """Share of the models in which a statement holds, by process and channels, with its 95 % interval.

    Seeds are no new models: Wilson's interval counts parameters and depths. ``n`` is their number; where the statement
    cannot be asked of any model there is no row.
    """
    asked = table[statement.asked(table)].assign(holds=statement.holds(table))
    cells = asked.groupby(["process", "channels", "value", "n_layers"], sort=False)["holds"].mean()
    rows = []
    for (process, channels), found in cells.groupby(["process", "channels"], sort=False):
        share = float(found.mean())
        interval = binomtest(round(share * len(found)), len(found)).proportion_ci(method="wilson")
        rows.append((process, channels, share, interval.low, interval.high, len(found)))
    return pd.DataFrame(rows, columns=["process", "channels", "share", "low", "high", "n"])


def exceptions(table: pd.DataFrame, statement: Statement, below: float = 0.95) -> list[tuple[str, int, float]]:
    """Process, channels and share where a statement holds in less than so many models, the lowest first."""
    found = shares(table, statement)
    found = found[found["share"] < below].sort_values("share", kind="stable")
    return [(row.process, int(row.channels), float(row.share)) for row in found.itertuples()]


def largest_gap(stored: pd.DataFrame, live: pd.DataFrame) -> float:
    """Largest relative difference of the mean lags of models that both tables have; NaN where there are none."""
    keys = ["process", "value", "n_layers", "channels", "seed"]
    both = stored.merge(live, on=keys, suffixes=("", "_live"))
    return float(np.max(np.abs(both["mean_lag_live"] / both["mean_lag"] - 1))) if len(both) else float("nan")
