"""What the chapter says of its stored experiments, and what it draws of them: sentences and series with their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chapters.trained_capacity.networks import Params, stack_params
from chapters.trained_capacity.sources import PROCESSES, windows
from chapters.trained_capacity.study import LIKE, components, correlation, foretold

PREDICTORS = {
    "capacity": "capacity",
    "Gauss-Newton": "capacity, Gauss–Newton",
    "gradient norm": "gradient norm",
    "residual": "residual",
    "saliency": "saliency",
    "distance": "distance from class mean",
}
BANDS = ("lowest", "low", "high", "highest")
TASKS = {"linear": "as it is", "warped": "warped"}


def shown(found: Mapping[str, Any], process: str = "power law", seed: int = 1) -> dict[str, dict[str, np.ndarray]]:
    """Title → lines of one process's two tasks, for ``figures.plot_lags``."""
    cases = {case["task"]: case for case in found["cases"] if (case["process"], case["seed"]) == (process, seed)}
    return {
        f"{process}, {text}": {
            "linear theory": np.array(cases[task]["profile"]),
            **{units: np.array(cases[task][units][0]["linear"]) for units in ("tanh", "gated")},
        }
        for task, text in TASKS.items()
    }


def rows(cases: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[float]]]:
    """Process and task → kind of stack → correlations with the linear stack's profile, over the samples."""
    found: dict[str, dict[str, list[float]]] = {}
    for task, text in TASKS.items():
        for process in dict.fromkeys(case["process"] for case in cases):
            some = [case for case in cases if (case["process"], case["task"]) == (process, task)]
            found[f"{process}, {text}"] = {
                "random weights": [correlation(each, case["profile"]) for case in some for each in case["random"]],
                **{units: [foretold(case, units)[0] for case in some if case[units]] for units in ("tanh", "gated")},
            }
    return found


def agreeing(cases: Sequence[Mapping[str, Any]], task: str, units: str, lowest: bool = True) -> tuple[int, int]:
    """In how many cases of a task the lowest optimum, or any, has a linear profile like the linear stack's; of how many."""
    some = [case for case in cases if case["task"] == task and case[units]]
    found = 0
    for case in some:
        best = [correlation(each["linear"], case["profile"]) for each in case[units]]
        found += (best[0] if lowest else max(best)) >= max(LIKE, foretold(case, units)[1])
    return found, len(some)


def recent(profile: Sequence[float]) -> float:
    """Share of a profile in the more recent half of its inputs."""
    return float(np.sum(profile[: len(profile) // 2]) / np.sum(profile))


def of_theory(found: Mapping[str, Any]) -> list[str]:
    """Question 1, on stacks."""
    cases = found["cases"]
    counts = {(task, units): agreeing(cases, task, units) for task in TASKS for units in ("tanh", "gated")}
    some = agreeing(cases, "linear", "tanh", lowest=False)
    totals = [case["tanh"][0]["total"] for case in cases if case["tanh"]]
    ranks = sorted({round(sum(case["profile"])) for case in cases})
    shares = np.array([[recent(case["tanh"][0]["other"]), recent(case["profile"])] for case in cases if case["tanh"]])
    narrow = [foretold(case, "tanh")[0] for case in found["others"] if case.get("channels") == 1 and case["tanh"]]
    series = [foretold(found["series"], units)[0] for units in ("tanh", "gated")]
    return [
        f"As the process is, {counts['linear', 'tanh'][0]} of {counts['linear', 'tanh'][1]} tanh cases and",
        f"{counts['linear', 'gated'][0]} of {counts['linear', 'gated'][1]} gated ones agree with the linear stack.",
        f"In {some[0]} of {some[1]} tanh cases some optimum agrees; it is not always the lowest.",
        f"Warped, {counts['warped', 'tanh'][0]} and {counts['warped', 'gated'][0]} of {counts['warped', 'tanh'][1]} agree,",
        f"though with one channel both tasks do (correlations from {min(narrow):.2f}).",
        "\n\nHow much there is, the linear stack does not say:",
        f"its rank is {' or '.join(map(str, ranks))}, the totals of the tanh stacks are {min(totals):.0f} to {max(totals):.0f}.",
        f"What is not linear sits nearer to now: {np.mean(shares[:, 0]):.0%} of it in the recent half of the inputs,",
        f"where the linear stack has {np.mean(shares[:, 1]):.0%}.",
        f"A measured series, Google's daily volume of trade, is foretold neither for tanh nor for gates ({series[0]:.2f} and {series[1]:.2f}).",
    ]


def live(process: str, warped: bool, units: str, n_examples: int, seed: int) -> tuple[np.ndarray, np.ndarray, Params]:
    """Windows (n_examples, 16), next values (n_examples, 1), and a start of a stack with two channels."""
    rng = np.random.default_rng([seed, 4])
    x, y = windows(PROCESSES[process], "warped" if warped else "linear", n_examples, 16, rng)
    return x, y, stack_params(units, 2, 4, rng)


def band_courses(found: Mapping[str, Any], kind: str, name: str) -> dict[str, np.ndarray]:
    """Band of frequencies → mean capacity of a mode, of one of ten outputs, over the steps; mean over seeds."""
    values = np.mean([each[name] for each in found["digits"][kind]["bands"]], axis=0) / 10
    return dict(zip(BANDS, values.T, strict=True))


def groups(found: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Kind of labels → (n_seeds, 8) capacities of groups of components."""
    names = {"true": "true labels", "shuffled": "shuffled, equal weight decay", "equal": "shuffled, equal total"}
    return {text: components(found, kind) for kind, text in names.items()}
