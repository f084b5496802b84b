"""What the stored run on a fine-tuned transformer says: the answers to its questions, and what the page shows of it."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pandas as pd

from chapters.kit.stored import stored
from chapters.shared.intervals import Interval
from chapters.shared.question import Question
from chapters.your_trained_network.adapter import first_params

COIN = np.log(2)
"""Loss of a coin."""
FACTOR = Question("", "", 1.25, at_least=False)
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


def optimism(kind: str) -> Interval:
    """What leave-one-out foretells over what the tests say."""
    training, left, tests = (by_decay(kind, name).mean(axis=1) for name in ("training", "left out", "tests"))
    return Interval.of((left - training) / (tests - training))


def regret(kind: str) -> np.ndarray:
    """(seeds,) loss on tests at the decay of the least loss left out, less the mean over decays, in points."""
    tests, chosen = by_decay(kind, "tests"), by_decay(kind, "left out").argmin(axis=1)
    return 100 * (tests[np.arange(len(tests)), chosen] - tests.mean(axis=1)) / COIN


def asked() -> Iterator[tuple[Question, np.ndarray]]:
    """The questions with one value a seed."""
    found, points = precisions(), "accuracy on tests, points"
    for name in ("loss left out", "leave-one-out change", "leverage"):
        asks = f"Does the {name} find flipped labels better than the loss?"
        yield Question(asks, "precision, points", 0.0), 100 * (found[name] - found["loss"]).to_numpy()
    kept, again = (100 * np.array([seed[name] for seed in seeds()]) for name in ("kept", "trained"))
    full = 100 * by_decay("adapter", "accuracy")[:, settings()["decays"].index(settings()["decay"])]
    asks = "Are three layers of least capacity missed less than three others, taken out?"
    yield Question(asks, points, 0.0), kept[:, 0] - kept[:, 1:].mean(axis=1)
    yield Question("Do they cost at most one point?", points, 1.0, at_least=False), full - kept[:, 0]
    asks = "Do three layers of most capacity, trained alone, do better than three others?"
    yield Question(asks, points, 0.0), again[:, 0] - again[:, 1:].mean(axis=1)
    for kind, text in KINDS.items():
        asks = f"Does leave-one-out choose a weight decay better than chance, {text}?"
        yield Question(asks, "loss on tests, points", 0.0, at_least=False), regret(kind)


def settings() -> dict[str, Any]:
    """Of the stored run."""
    return dict(stored("adapter")["settings"])


def layers() -> dict[str, Interval]:
    """Head and layers → capacity as if all other parameters were constant."""
    return {name: Interval.of([seed["layers"][name] for seed in seeds()]) for name in seeds()[0]["layers"]}


def scores() -> dict[str, Interval]:
    """Score → share of the flipped labels that it finds."""
    return {name: Interval.of(values) for name, values in precisions().items()}


def of_network() -> list[str]:
    """What is known of the first seed's network, and how accurate all are."""
    first, chosen, p = seeds()[0], settings(), sum(each.size for each in jax.tree.leaves(first_params(0)))
    places, leverage, whole = sorted(first["positions"][1:-1]), first["leverage"], first["whole"]
    head, both = (by_decay(kind, "accuracy")[:, chosen["decays"].index(chosen["decay"])].mean() for kind in KINDS)
    return [
        f"**{whole['total']:.0f} of its {p:,} parameters count**: exact, with layers and leave-one-out, after",
        f"{whole['seconds']:.0f} seconds of processor time. Leverages of the posts lie between {leverage[-1]:.2f}",
        f"and {leverage[0]:.2f}, capacities of their 14 pieces of words between {places[0]:.1f} and {places[-1]:.1f}.",
        f"It recognises {both:.0%} of new posts, a head alone {head:.0%} (means of {len(seeds())} networks).",
    ]


def table() -> str:
    """The answers as a table in Markdown, and what else could have ranked the layers."""
    head = ["question", "unit", "mean and 95 % interval", "a *yes* needs", "answer"]
    lines = "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows()))
    by_depth = [min(layers[4:]) > max(layers[1:4]) for layers in (list(seed["layers"].values()) for seed in seeds())]
    last = f"{sum(by_depth)} of {len(by_depth)} networks"
    return (
        f"{lines}\n\nThe three layers of most capacity are the last three in {last}; depth would have named them, too."
    )


def rows() -> list[list[str]]:
    """Question, unit, mean and interval, the mean that a yes would need with this spread, answer."""
    table = []
    for question, values in asked():
        said, sign = question.judged(values), 1 if question.at_least else -1
        needed = question.bound + sign * (said["high"] - said["mean"])
        ends = f"{said['mean']:.1f} [{said['low']:.1f}, {said['high']:.1f}]"
        table.append(
            [question.asks, question.measure, ends, f"{'≥' if sign > 0 else '≤'} {needed:.1f}", said["answer"]]
        )
    for kind, text in KINDS.items():
        ratio = optimism(kind)
        asks, ends = (
            f"Is the optimism as leave-one-out says, {text}?",
            f"{ratio.mean:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]",
        )
        table.append([asks, "ratio", ends, f"within {FACTOR.bound:g}", of_ratio(ratio)])
    return [[asks, unit, *(cell.replace("-", "−") for cell in found)] for asks, unit, *found in table]


def of_ratio(ratio: Interval) -> str:
    """Whether a ratio is within a factor of 1.25 of 1.

    >>> [of_ratio(Interval(*each)) for each in ((1.0, 0.1), (0.3, 0.1), (0.8, 0.1))]
    ['yes', 'no', 'undecided']
    """
    largest = max(ratio.high, 1 / ratio.low) if ratio.low > 0 else np.inf
    return FACTOR.answer(max(ratio.low, 1 / ratio.high, 1.0), largest)
