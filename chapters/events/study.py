"""What capacity before foretells of the error after: the stored experiment, and its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from chapters.events import experiment
from chapters.kit.stored import stored
from chapters.shared.question import Question, criteria_of
from chapters.shared.rank_statistics import spearman

Cell = Mapping[str, Any]
SETTINGS, VALUES = (stored("events")[part] for part in ("settings", "values"))
CRITERIA = criteria_of(experiment.__doc__)
"""As a list in Markdown."""
SATURATED = 0.05
"""Share of its size that the worst event costs, below which a model has nothing to rank."""
FORETELL: dict[str, Callable[[Mapping[str, np.ndarray]], np.ndarray]] = {
    "capacity": lambda before: 1 - before["capacity"],
    "missed share": lambda before: before["missed"],
    "lag": lambda before: np.arange(len(before["capacity"])),
    "response": lambda before: -before["response"],
    "followed share": lambda before: 1 - before["followed"],
}
"""What is said to foretell an event's cost → larger where it is to cost more."""


def costs(cell: Cell, way: str) -> np.ndarray:
    """Extra errors in units of the event's size: in the ``series``, or in the ``target`` with a size such as "0.1"."""
    return np.array(cell["series"]) / cell["size"] if way == "series" else np.array(cell["target"][way]) / float(way)


def before(cell: Cell) -> dict[str, np.ndarray]:
    """What each lag has before, by name."""
    return {name: np.array(row) for name, row in cell["before"].items()}


def ranked(process: str, way: str) -> dict[str, dict[str, float]]:
    """Model → what foretells → Spearman's correlation with the costs, of models that are not saturated."""
    table = {}
    for name in SETTINGS["models"]:
        cell = VALUES[process][name]
        if costs(cell, way).max() >= SATURATED:
            table[name] = {key: spearman(values(before(cell)), costs(cell, way)) for key, values in FORETELL.items()}
    return table


def across(process: str) -> float:
    """Mean over lags of the correlation, over stacks of a size, of 1 − κ_k with the cost of an event there."""
    cells = [VALUES[process][name] for name in SETTINGS["of_a_size"]]
    capacities, after = (
        np.array([part(cell) for cell in cells])
        for part in (lambda cell: before(cell)["capacity"], lambda cell: costs(cell, "series"))
    )
    return float(np.mean([spearman(-capacities[:, k], after[:, k]) for k in range(capacities.shape[1])]))


def foretold(process: str, size: str) -> float:
    """Share of models and lags whose cost in the target is E_k/Σ_kk, to a quarter of it or to 2 %."""
    cells = [VALUES[process][name] for name in SETTINGS["models"]]
    return float(np.mean(np.concatenate([close(costs(cell, size), before(cell)["missed"]) for cell in cells])))


def added(process: str) -> float:
    """Share of models and pairs of events that cost the sum of what each costs, within the same bounds."""
    shares = []
    for name in SETTINGS["models"]:
        cell = VALUES[process][name]
        single = dict(zip(SETTINGS["lags"], cell["target"]["0.1"], strict=False))
        sums = np.array([sum(single[lag] for lag in pair) for pair in SETTINGS["pairs"]])
        shares.append(close(np.array(cell["pairs"]) / 0.1, sums / 0.1))
    return float(np.mean(shares))


def close(cost: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Whether costs are as expected, to a quarter or to 2 % of the event's size."""
    gap = np.abs(cost - expected)
    return (gap <= 0.25 * np.abs(expected)) | (gap <= 0.02)


def answers() -> pd.DataFrame:
    """The questions of :mod:`chapters.events.experiment`: measure, interval over processes, answer."""
    rows = {}

    def ask(question: Question, by_process: Mapping[str, float]) -> None:
        rows[question.asks] = {"processes": len(by_process), **question.judged([*by_process.values()])}

    for way, place in (("series", "in the series"), ("0.1", "in the target")):
        tables = {process: ranked(process, way) for process in SETTINGS["processes"]}
        tables = {process: table for process, table in tables.items() if table}
        means = {process: pd.DataFrame(table).T.mean() for process, table in tables.items()}
        for key in ("capacity", "missed share"):
            asks = f"Does {key} rank events {place}?"
            ask(Question(asks, "rank correlation", 0.8), {process: mean[key] for process, mean in means.items()})
        for key in ("lag", "response", "followed share"):
            asks = f"Does capacity rank events {place} better than the {key}?"
            gains = {process: mean["capacity"] - mean[key] for process, mean in means.items()}
            ask(Question(asks, "gain in rank correlation", 0.0), gains)
    by_process = {process: across(process) for process in SETTINGS["processes"]}
    ask(Question("Does it rank stacks of one size?", "rank correlation", 0.8), by_process)
    for size in map(str, SETTINGS["sizes"]):
        shares = {process: foretold(process, size) for process in SETTINGS["processes"]}
        ask(Question(f"Is the cost of an event of size {size} the missed share?", "share of cases", 0.9), shares)
    shares = {process: added(process) for process in SETTINGS["processes"]}
    ask(Question("Do two events cost the sum?", "share of cases", 0.9), shares)
    return pd.DataFrame(rows).T


def by_kind(way: str, key: str = "capacity") -> pd.DataFrame:
    """Rank correlations with the costs: kinds of models × processes, empty where there is nothing to rank."""
    found = {process: ranked(process, way) for process in SETTINGS["processes"]}
    columns = {process: {name: row[key] for name, row in rows.items()} for process, rows in found.items()}
    return pd.DataFrame(columns, index=SETTINGS["models"])


def overview(table: pd.DataFrame) -> str:
    """All answers as a Markdown table: a question a row, events in the target and in the series side by side."""
    ranks = [f"Does {key} rank events {{}}?" for key in ("capacity", "missed share")]
    ranks += [f"Does capacity rank events {{}} better than the {key}?" for key in ("lag", "response", "followed share")]
    words = ["Does capacity before rank events?", "Does the missed share?"]
    words += [f"Is capacity better than {key}?" for key in ("the lag", "the output's response", "the share followed")]
    rows = [
        [asked, *(with_answer(table.loc[asks.format(place)]) for place in ("in the target", "in the series"))]
        for asked, asks in zip(words, ranks, strict=True)
    ]
    rows.append(
        ["Does it rank seven stacks of 36 weights?", "", with_answer(table.loc["Does it rank stacks of one size?"])]
    )
    for size in SETTINGS["sizes"]:
        asks = f"Is the cost of an event of size {size} the missed share?"
        rows.append(
            [
                f"Share of cases in which size {size:g} costs the missed share",
                with_answer(table.loc[asks], "{:.0%}"),
                "",
            ]
        )
    two = with_answer(table.loc["Do two events cost the sum?"], "{:.0%}")
    rows.append(["Share of cases in which two events cost the sum", two, ""])
    head = ["question", "event in the target", "event in the series"]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * 3, *rows))


def with_answer(row: pd.Series, shape: str = "{:.2f}") -> str:
    """A mean with both ends of its interval, and the answer to the question."""
    mean, low, high = (shape.format(row[name]).replace("-", "−") for name in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]: *{row['answer']}*"
