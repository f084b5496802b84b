"""Statements of the main line as questions to every model of the sweep, and the share of models in which each holds."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from chapters.five_families.experiment import settings_of
from chapters.shared.process_names import NAMES

SAME = 1e-6
"""Losses of two starts that differ by less, relative to the smaller, count as the same: far above rounding."""
MODEL = ["architecture", "process", "value", "n_layers", "channels"]
"""What the starts of one model share."""
MOST = 0.5
"""Of the capacity on those lags, in the reading of claim P1.24."""


class Statement(NamedTuple):
    """What is said and in which chapter, the models of which it can be asked, and those in which it holds."""

    text: str
    asked: Callable[[pd.DataFrame], pd.Series]
    holds: Callable[[pd.DataFrame], pd.Series]
    architecture: str = "Hierarchical"

    def of(self, table: pd.DataFrame) -> pd.DataFrame:
        """The models of which it is asked, with ``holds``."""
        table = table[table["architecture"] == self.architecture]
        return table[self.asked(table)].assign(holds=self.holds(table))


def partial(table: pd.DataFrame) -> pd.Series:
    """Models that cannot take all inputs, so that something is left to allocate."""
    return table["total"] < 2 ** table["n_layers"]


def unattained(table: pd.DataFrame) -> pd.Series:
    """Models of which at least one start leaves an error."""
    return table.groupby(MODEL)["attained"].transform("min") == 0


def at_the_best(table: pd.DataFrame) -> pd.Series:
    """Starts that ended where the best one of their model did."""
    best = table.groupby(MODEL)["loss"].transform("min")
    return (table["attained"] == 1) | (table["loss"] <= best * (1 + SAME))


def same_loss(table: pd.DataFrame) -> pd.Series:
    """Models all of whose starts ended where the best one did."""
    return at_the_best(table).groupby([table[name] for name in MODEL]).transform("all")


def ranges(table: pd.DataFrame) -> pd.DataFrame:
    """Model → least and largest κ of its starts with the best loss; those whose least is below the generic one."""
    models = table[at_the_best(table)].groupby(MODEL, sort=False)
    ends = models["total"].agg(["min", "max"]).join(models["generic"].first())
    return ends[ends["min"] < ends["generic"]]


def all_of_them(table: pd.DataFrame) -> pd.Series:
    """Every model."""
    return table["total"] > 0


def counted(table: pd.DataFrame) -> pd.Series:
    """Models whose numerical dimension is the exact one."""
    return table["total"] == table["generic"]


STATEMENTS = (
    Statement("capacity = generic count", all_of_them, counted),
    Statement("more on the recent half", partial, lambda t: t["recent"] > 0.5),
    Statement("smoother along eigenvectors", partial, lambda t: t["rough_eigenvectors"] < t["rough_inputs"]),
    Statement("lower layers hold recent lags", partial, lambda t: t["lower_layers"] >= MOST),
    Statement("upper layers hold older lags", partial, lambda t: t["upper_layers"] >= MOST),
    Statement("correlation errs least at short lags", lambda t: t["short_lags"].notna(), lambda t: t["short_lags"] < 1),
    Statement("all starts, one loss", unattained, same_loss),
    Statement("recurrent: capacity = generic count", all_of_them, counted, "Recurrent"),
    Statement("recurrent: more on the recent half", partial, lambda t: t["recent"] > 0.5, "Recurrent"),
    Statement("recurrent: all starts, one loss", unattained, same_loss, "Recurrent"),
)


def table_of(content: Mapping[str, Any]) -> pd.DataFrame:
    """Settings and findings of all models of a stored sweep, one row each."""
    runs = pd.DataFrame(list(settings_of(content["settings"]))).assign(**content["values"])
    maybe = ["lower_layers", "upper_layers", "short_lags"]
    return runs.assign(**runs[maybe].astype(float))


def shares(table: pd.DataFrame, statement: Statement) -> pd.DataFrame:
    """Share of the models in which a statement holds, by process and channels, with its 95 % interval.

    Seeds are no new models: Wilson's interval counts parameters and depths. ``n`` is their number; where the statement
    cannot be asked of any model there is no row.
    """
    cells = statement.of(table).groupby(["process", "channels", "value", "n_layers"], sort=False)["holds"].mean()
    found = cells.groupby(["process", "channels"], sort=False).agg(share="mean", n="size").reset_index()
    counts = (found["share"] * found["n"]).round().astype(int)
    ends = [binomtest(*pair).proportion_ci(method="wilson") for pair in zip(counts, found["n"], strict=True)]
    return found.assign(low=[each.low for each in ends], high=[each.high for each in ends])


def exceptions(table: pd.DataFrame, statement: Statement) -> dict[str, list[int]]:
    """Process → numbers of channels with which a statement holds in less than 95 % of the models."""
    shared = shares(table, statement)
    shared = shared[shared["share"] < 0.95]
    return {process: [int(c) for c in rows["channels"]] for process, rows in shared.groupby("process", sort=False)}


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Statement → share of models in which it holds, the mean over processes and widths, and exceptions in words."""
    rows = []
    for statement in STATEMENTS:
        exceptional = exceptions(table, statement)
        less = [f"{NAMES.get(name, name)} with {', '.join(map(str, widths))}" for name, widths in exceptional.items()]
        rows.append((statement.text, f"{shares(table, statement)['share'].mean():.0%}", "; ".join(less)))
    names = ["statement", "holds in", "channels with which it holds in less than 95 %"]
    return pd.DataFrame(rows, columns=names).set_index("statement")


def largest_gap(stored: pd.DataFrame, live: pd.DataFrame) -> float:
    """Largest relative difference of the mean lags of models that both tables have; NaN where there are none.

    Left out are models that attain their target with less than their generic capacity: their optimum is one of many of
    loss zero and different capacities, and which one a fit ends in is decided by rounding.
    """
    both = stored.merge(live, on=[*MODEL, "seed"], suffixes=("", "_live"))
    both = both[(both["attained"] == 0) | (both["total"] == both["generic"])]
    return float(np.max(np.abs(both["mean_lag_live"] / both["mean_lag"] - 1))) if len(both) else float("nan")
