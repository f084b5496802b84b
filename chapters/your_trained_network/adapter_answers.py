"""What the stored run on a fine-tuned transformer says: the answers to its questions, and what the page shows of it."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pandas as pd

from chapters.kit.stored import stored
from chapters.shared.intervals import Interval, student_interval
from chapters.shared.question import Question, RatioQuestion
from chapters.your_trained_network.adapter import first_params

COIN, FACTOR = np.log(2), 1.25  # loss of a coin; of an optimism that is as predicted
SURE = ("yes", "no")
KINDS = {"head": "head alone", "adapter": "with adapter"}


def seeds() -> list[dict[str, Any]]:
    """What is stored of each seed."""
    return list(stored("adapter")["values"]["seeds"].values())


def precisions() -> pd.DataFrame:
    """Share of the flipped labels that each score finds: seeds × scores, mean of the shares that were flipped."""
    return pd.DataFrame([pd.DataFrame(seed["flipped"]).mean(axis=1) for seed in seeds()])


def by_decay(kind: str, name: str) -> np.ndarray:
    """(seeds, decays) a number of the networks of a kind."""
    return np.array([[each[kind][name] for each in seed["decays"].values()] for seed in seeds()])


def optimism(kind: str) -> np.ndarray:
    """(seeds,) predicted over measured: what leave-one-out adds to the training loss, over what the tests add to it."""
    training, left, tests = (by_decay(kind, name).mean(axis=1) for name in ("training", "left out", "tests"))
    return (left - training) / (tests - training)


def regret(kind: str) -> np.ndarray:
    """(seeds,) loss on tests at the decay of the least loss left out, less the mean over decays, in points."""
    tests, chosen = by_decay(kind, "tests"), by_decay(kind, "left out").argmin(axis=1)
    return 100 * (tests[np.arange(len(tests)), chosen] - tests.mean(axis=1)) / COIN


def asked() -> Iterator[tuple[Question, np.ndarray]]:
    """The questions with one value a seed."""
    found, points = precisions(), "test accuracy, percentage points"
    for name in ("loss left out", "leave-one-out change", "leverage"):
        asks = f"Does the {name} find flipped labels better than the loss?"
        yield Question(asks, "precision, percentage points", 0.0), 100 * (found[name] - found["loss"]).to_numpy()
    kept, again = (100 * np.array([seed[name] for seed in seeds()]) for name in ("kept", "trained"))
    full = 100 * by_decay("adapter", "accuracy")[:, settings()["decays"].index(settings()["decay"])]
    asks = "Are the three layers of least capacity missed less than three others, taken out (mean of four draws)?"
    yield Question(asks, points, 0.0), kept[:, 0] - kept[:, 1:].mean(axis=1)
    yield (
        Question("Does accuracy fall by at most one point without them?", points, 1.0, at_least=False),
        full - kept[:, 0],
    )
    asks = "Do the three layers of most capacity, trained alone, do better than three others (one draw)?"
    yield Question(asks, points, 0.0), again[:, 0] - again[:, 1:].mean(axis=1)
    for kind, text in KINDS.items():
        asks = f"Does leave-one-out choose a weight decay better than chance, {text}?"
        yield Question(asks, "test loss, % of ln 2", 0.0, at_least=False), regret(kind)
    for kind, text in KINDS.items():
        asks = f"Is the optimism on the tests as leave-one-out predicts, {text}?"
        yield RatioQuestion(asks, "predicted / measured", FACTOR), optimism(kind)


def settings() -> dict[str, Any]:
    """Of the stored run."""
    return dict(stored("adapter")["settings"])


def intervals(table: pd.DataFrame) -> dict[str, Interval]:
    """Column → the interval of its mean over seeds."""
    return {str(name): Interval.of(values) for name, values in table.items()}


def of_network() -> list[str]:
    """What counts in the first seed's network, and how accurate all are."""
    first, chosen, params = seeds()[0], settings(), first_params(0)
    p, of_head = (sum(each.size for each in jax.tree.leaves(part)) for part in (params, params["head"]))
    total, held = first["whole"]["total"], first["whole"]["head"]
    at, n = chosen["decays"].index(chosen["decay"]), chosen["n_train"]
    head, both = (100 * by_decay(kind, "accuracy")[:, at] for kind in KINDS)
    gain, totals = Interval.of(both - head), by_decay("adapter", "total")[:, at]
    return [
        f"**{total:.0f} of its {p:,} parameters count** at weight decay {chosen['decay']:g} ({totals.min():.0f} to",
        f"{totals.max():.0f} over {len(totals)} seeds, which also draw the posts). The head's {of_head} alone, all",
        f"else fixed, would hold {held:.0f}. On average {both.mean():.0f} % of new posts are classified correctly,",
        f"{gain.mean:.1f} points [{gain.low:.1f}, {gain.high:.1f}] more than by a head alone.\n\nThe total is",
        f"{total / n:.0%} of the {n} numbers fitted. Beyond half do not trust leave-one-out: the report calls its mean",
        "loss *likely too high*, but it was too low (last row below).",
    ]


def table() -> str:
    """The answers as a table in Markdown, and what else could have ranked the layers."""
    head = ["question", "unit", "mean and 95 % interval", "*yes* if the whole interval is", "answer"]
    found = rows()
    n, decided = len(found), sum(row[-1] in SURE for row in found)
    stay = [said in SURE for said in answers(1 - 0.05 / n)]
    shown = [[*row[:-1], f"**{row[-1]}**" if sure else row[-1]] for row, sure in zip(found, stay, strict=True)]
    lines = "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *shown))
    by_depth = [min(layers[4:]) > max(layers[1:4]) for layers in (list(seed["layers"].values()) for seed in seeds())]
    return (
        f"{lines}\n\n**Leverage finds hardly more flipped labels than chance,** as it sees no label. Whether other "
        f"scores beat the loss is undecided. Of {decided} decided answers, {sum(stay)} stays (bold) after Bonferroni's "
        f"correction for {n} tests. Depth names the same layers to keep in {sum(by_depth)} of {len(by_depth)} networks."
    )


def answers(level: float) -> list[str]:
    """To all questions, from intervals of a level."""
    ends = [(question, *student_interval(values, level)) for question, values in asked()]
    return [question.answer(mean - half, mean + half) for question, mean, half in ends]


def rows() -> list[list[str]]:
    """Question, unit, mean and interval, where the interval has to lie for a yes, answer."""
    table = []
    for (question, values), said in zip(asked(), answers(0.95), strict=True):
        found, digits = Interval.of(values), 2 if isinstance(question, RatioQuestion) else 1
        ends = f"{found.mean:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]".replace("-", "−")
        table.append([question.asks, question.measure, ends, question.needed, said])
    return table
