"""What the chapter says of its stored experiments, and what it draws of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from chapters.events.study import with_answer
from chapters.trained_capacity.event_answers import FORETELL
from chapters.trained_capacity.study import READERS, agreeing, predicted

TASKS = {"linear": "as it is", "warped": "warped"}


def rows(cases: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[float]]]:
    """Process and task → kind of stack → correlations with the linear stack's profile, over the samples."""
    found: dict[str, dict[str, list[float]]] = {}
    for task, text in TASKS.items():
        for process in dict.fromkeys(case["process"] for case in cases):
            some = [case for case in cases if (case["process"], case["task"]) == (process, task)]
            found[f"{process}, {text}"] = {
                "random weights": [each for case in some for each in case["random"]],
                **{units: [predicted(case, units) for case in some if case[units]] for units in ("tanh", "gated")},
            }
    return found


def of_theory(found: Mapping[str, Any]) -> list[str]:
    """Question 1, on stacks."""
    cases = found["cases"]
    by_task = [[case for case in cases if case["task"] == task] for task in TASKS]
    lines = {"tanh": ("tanh", True), "tanh, some optimum": ("tanh", False), "gated": ("gated", True)}
    agreed = {name: [agreeing(some, *line) for some in by_task] for name, line in lines.items()}
    totals = [case["tanh"][0]["total"] for case in cases if case["tanh"]]
    ranks = sorted({round(sum(case["profile"])) for case in cases})
    series = [predicted(found["series"], units) for units in ("tanh", "gated")]
    return [
        "Cases in which the correlation with the linear stack's profile is at least 0.9, and higher than for 95 % of "
        "random stacks. One of the starts is the linear optimum, which favours *some optimum*:",
        table(TASKS.values(), {name: [f"{sum(one)} of {len(one)}" for one in both] for name, both in agreed.items()}),
        "The linear stack does not predict the total:",
        f"its rank is {' or '.join(map(str, ranks))}, while tanh stacks have {min(totals):.0f} to {max(totals):.0f}.",
        "A measured series, Google's daily volume of trade, is predicted neither for tanh nor for gates:",
        f"the correlations are {series[0]:.2f} and {series[1]:.2f}.",
    ]


def table(columns: Iterable[str], rows: Mapping[str, Iterable[str]]) -> str:
    """Markdown of a table with named rows.

    >>> table(["a", "b"], {"row": ["1", "2"]}).strip().splitlines()
    ['| | a | b |', '|---|---|---|', '| row | 1 | 2 |']
    """
    head = ["", *columns]
    lines = [f"| {' | '.join([name, *cells])} |" for name, cells in rows.items()]
    return "\n".join(["\n", f"|{' | '.join(head)} |", "|---" * len(head) + "|", *lines, "\n"])


def of_events(answers: pd.DataFrame) -> str:
    """The questions on events as a table: a row for each number that is to foretell costs."""
    rows: dict[str, list[str]] = {}
    for name in FORETELL:
        better = f"Does the missed share rank them better than {name}?"
        asked = [f"Does {name} rank events?", *([better] if better in answers.index else [])]
        rows[name] = [with_answer(answers.loc[each]) for each in asked]
        rows[name] += [""] * (2 - len(asked))
    return table(["does it rank events?", "is the missed share better?"], rows)


def of_answers(answers: pd.DataFrame, in_training: float, extra: float, excess: float) -> list[str]:
    """The three answers on events, what the test could have found, and correlations with two other outcomes."""
    missed, gradient, near = (
        answers.loc[each]
        for each in ("Does missed share rank events?", "Does gradient rank events?", "Is the cost the missed share?")
    )
    gain = answers.loc["Does the missed share rank them better than gradient?"]
    needed = missed["bound"] + missed["high"] - missed["mean"]
    return [
        f"- **Which event?** *{missed['answer'].capitalize()}.* The missed share ranks costs with {missed['mean']:.2f} "
        f"on average. For a yes the interval had to lie above {missed['bound']:g}.\n",
        f"- **Better than simpler numbers?** *{gain['answer'].capitalize()}.* The gradient, which needs no capacity, "
        f"ranks them with {gradient['mean']:.2f}.\n",
        f"- **How much?** *{near['answer'].capitalize()}.* "
        f"The cost is the missed share in {near['mean']:.0%} of cases, and typically {excess:.1f} times as large.\n\n",
        f"With this spread, a yes would have needed a mean of {needed:.2f}, which no correlation reaches.",
        "On the training values, however, the missed share ranks what stays of the events with",
        f"{in_training:.2f}, as we saw after the run; with the plain excess of the error on new values it is",
        f"{extra:.2f}. So it says what a network learns, and less how well that carries over.",
    ]


def of_importance(agreements: Mapping[str, np.ndarray]) -> list[str]:
    """Question 2."""
    halves = {name: values.reshape(2, -1).mean(axis=1) for name, values in agreements.items()}
    return [
        "In convolutional networks capacity per pixel is not importance.",
        "These are its mean rank correlations with four measures of importance:",
        table(READERS, {name: [f"{x:.2f}" for x in pair] for name, pair in halves.items()}),
    ]


def of_failing(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Question 3."""
    strong, weak = (np.mean([each["few"][decay] for each in found], axis=0) for decay in ("1.0", "1e-06"))
    misses = np.array([each["Gauss-Newton"]["retrained"] for each in found]).T
    leverage = "leverage of an output, mean ± standard deviation"
    missed = f"error against retraining, median and largest of {len(found)} networks"
    rows = {
        "40 images, strong weight decay": (leverage, f"{strong[0]:.2f} ± {strong[1]:.2f}"),
        "40 images, weakest weight decay": (leverage, f"{weak[0]:.2f} ± {weak[1]:.2f}"),
        "a small move, by the whole Hessian": (missed, f"{np.median(misses[0]):.1%}; {misses[0].max():.1%}"),
        "the same, by Gauss–Newton": (missed, f"{np.median(misses[1]):.0%}; {misses[1].max():.0%}"),
    }
    return [table(["what is seen", "how much"], rows)]
