"""What the stored experiments say: the number that each question asks for, and its answer."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from chapters.kit.stored import stored
from chapters.shared.rank_statistics import rank_statistics, spearman
from chapters.trained_capacity.along import half_times
from chapters.trained_capacity.questions import QUESTIONS

LIKE = 0.9  # a correlation of profiles that counts as the same place
RESULTS = {
    "stacks": "trained_stacks",
    "digits": "trained_digits",
    "along": "capacity_along_training",
    "labels": "changed_labels",
    "copying": "copying_transformer",
}
SIMPLER = ("gradient norm", "residual", "saliency", "distance")
MAPS = ("receptive field", "saliency", "permutation", "ablation")
READERS = ("fully connected", "convolutional")


@cache
def results() -> dict[str, Any]:
    """Experiment → its stored values."""
    return {name: stored(file)["values"] for name, file in RESULTS.items()}


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Pearson's.

    >>> round(correlation([1, 2, 3], [2, 4, 7]), 2)
    0.99
    """
    return float(np.corrcoef(a, b)[0, 1])


def predicted(case: Mapping[str, Any], units: str) -> float:
    """Correlation of the lowest optimum's linear profile with the linear stack's."""
    return correlation(case[units][0]["linear"], case["profile"])


def agreeing(cases: Sequence[Mapping[str, Any]], units: str, lowest: bool = True) -> list[bool]:
    """Whether the lowest optimum, or any, has the linear stack's profile: in each case in which one was found.

    That is a correlation of at least ``LIKE``, and more than 95 % of those at random weights.
    """
    some = [(case, case[units][:1] if lowest else case[units]) for case in cases if case[units]]
    return [
        max(correlation(each["linear"], case["profile"]) for each in optima)
        >= max(LIKE, float(np.quantile(case["random"], 0.95)))
        for case, optima in some
    ]


def of_stacks(found: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of question 1 that the stacks decide."""
    cases = [case for case in found["cases"] if case["tanh"]]
    ranks = [(case["tanh"][0]["total"], sum(case["profile"])) for case in cases]
    rest = [correlation(case["tanh"][0]["other"], case["profile"]) for case in cases]
    branches = [correlation(a["linear"], b["linear"]) for case in cases for a in case["tanh"] for b in case["tanh"]]
    return {
        "where tanh": float(np.mean(agreeing(cases, "tanh"))),
        "where gated": float(np.mean(agreeing(cases, "gated"))),
        "how much": float(np.mean([abs(total / rank - 1) <= 0.1 for total, rank in ranks])),
        "rest": float(np.mean(np.array(rest) >= LIKE)),
        "branches": min(branches),
        "series": predicted(found["series"], "tanh"),
    }


def in_order(course: object, steps: list[int]) -> bool:
    """Whether each column of (len(steps), m) reaches half of its last value after the one before it."""
    return bool(np.all(np.diff(half_times(np.array(course), steps)) > 0))


def of_training(found: Mapping[str, Any]) -> dict[str, float]:
    """The numbers on the order in which capacity comes."""
    steps, runs = found["steps"], [run for kind in found["digits"].values() for run in kind["bands"]]
    parts = ("linear", "products", "rest")
    orders = [np.transpose([run["orders"][part] for part in parts]) for run in found["orders"]]
    return {
        "span first": float(sum(in_order(run["modes"], steps["digits"]) for run in runs)),
        "whitened first": float(sum(in_order(run["whitened modes"], steps["digits"]) for run in runs)),
        "singles first": float(sum(in_order(course, steps["orders"]) for course in orders)),
    }


def components(found: Sequence[Mapping[str, Any]], kind: str) -> np.ndarray:
    """(n_seeds, 8) mean capacity of each group of principal components."""
    return np.array([each[kind]["components"] for each in found])


def agreements(found: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Map → (n_readers · n_seeds,) Spearman's correlation over the pixels that vary with capacity per pixel."""

    def of_one(network: Mapping[str, Any], name: str) -> float:
        pixels = np.array(network["true"]["pixels"])
        live = pixels > 1e-6
        return spearman(pixels[live], np.array(network["maps"][name])[live])

    return {name: np.array([of_one(each, name) for reader in READERS for each in found[reader]]) for name in MAPS}


def stopping_error(failing: Sequence[Mapping[str, Any]], share: str) -> float:
    """Largest relative error of the total where training stopped at a share of its first gradient."""
    return max(abs(early / end - 1) for early, end, _ in (each["stopped"][share] for each in failing))


def of_digits(found: Mapping[str, Any]) -> dict[str, float]:
    """The numbers that the readers of digits decide."""
    moved = components(found[READERS[0]], "equal") - components(found[READERS[0]], "true")
    failing = found["failing"]
    return {
        "shuffled": float(np.abs(moved.mean(axis=0)).max()),
        "importance": min(float(each.min()) for each in agreements(found).values()),
        "saturated": float(np.mean([each["few"]["1e-06"][1] for each in failing])),
        "stopped": stopping_error(failing, "0.01"),
        "Gauss-Newton": max(max(each["Gauss-Newton"]["0.0"]["between"]) for each in failing),
    }


def rank_sizes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(draws,) sizes of Spearman's correlations of the rows of x and y (draws, m); a constant has 0 with all.

    >>> rank_sizes(np.array([[1.0, 2, 3], [1, 1, 1]]), np.array([[9.0, 4, 1], [1, 2, 3]])).tolist()
    [1.0, 0.0]
    """
    return np.abs(np.nan_to_num(rank_statistics(x, y)))


def predictions(found: Mapping[str, Sequence[float]], outcome: str, n_draws: int = 2000) -> dict[str, np.ndarray]:
    """Predictor → Spearman's correlation with what happened, in size, and its 95 % bootstrap interval over the groups.

    "chance" is the 95 % quantile of the size when the outcomes are shuffled; "margin" is capacity's less the best of
    those that need no Hessian.
    """
    rng = np.random.default_rng(15)
    truth, names = np.array(found[outcome]), ("capacity", "Gauss-Newton", *SIMPLER)
    columns = np.array([found[name] for name in names])

    def sizes(at: np.ndarray) -> np.ndarray:
        """(draws, predictors and margin) of the outcomes ``at`` (draws, m), all draws at once."""
        rows = np.array([rank_sizes(each[at], truth[at]) for each in columns])
        return np.vstack([rows, rows[0] - rows[2:].max(axis=0)]).T

    everywhere = np.arange(len(truth))
    draws = sizes(np.array([rng.choice(everywhere, len(truth)) for _ in range(n_draws)]))
    ends = np.quantile(draws, [0.025, 0.975], axis=0)
    values = dict(zip((*names, "margin"), np.vstack([sizes(everywhere[None]), ends]).T, strict=True))
    shuffled = np.array([rng.permutation(truth) for _ in range(n_draws)])
    chance = rank_sizes(np.broadcast_to(columns[0], shuffled.shape), shuffled)
    return values | {"chance": np.array([np.quantile(chance, 0.95)])}


@cache
def foretold(outcome: str = "again") -> dict[str, np.ndarray]:
    """:func:`predictions` of the stored groups, trained on (``again``) or from ``scratch``."""
    return predictions(results()["labels"], outcome)


@cache
def numbers() -> dict[str, float]:
    """Question → the number that decides it."""
    found, again, scratch = results(), foretold(), foretold("scratch")
    return {
        **of_stacks(found["stacks"]),
        "copied lag": float(sum(int(np.argmax(each["trained"])) == 3 for each in found["copying"])),
        **of_training(found["along"]),
        **of_digits(found["digits"]),
        "prediction": float(again["capacity"][0]),
        "margin": float(again["margin"][1]),
        "scratch": float(scratch["capacity"][0]),
    }


def answers() -> list[list[str]]:
    """Rows of the chapter's table: question, measure, what "yes" needs, what was found, the answer."""
    found = numbers()
    return [each.row(found[name]) for name, each in QUESTIONS.items()]


def explored() -> dict[str, Any]:
    """What the explorer shows of digits along training, for each output: maps are the mean over seeds and outputs."""
    along, labels = results()["along"], {}
    for kind, values in along["digits"].items():
        maps = {name: np.divide(each, 10).round(3).tolist() for name, each in values["maps"].items()}
        labels[f"{kind} labels"] = {"error": values["error"], "maps": maps}
    return {"steps": along["steps"]["digits"], "labels": labels}
