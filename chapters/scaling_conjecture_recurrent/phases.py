"""Which scale trains what: the deepest stored networks of three chapters, each exponent against the best one."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from chapters.scaling_conjecture.figures import Arms, curve
from chapters.scaling_conjecture_recurrent.study import NAMES, median_loss

Phases = dict[str, dict[float, float]]
"""What is trained → exponent → :func:`progress`."""

BLOCKS = {"two-layer": "two-layer blocks", "tanh": "tanh blocks", "relu": "single ReLUs"}
TASKS = {"digits": ("digits", np.log(10)), "transport": ("far signal", 1.0)}  # name, and the loss of guessing
SIDES = {
    "side inputs, divided": ("parity", "divided", 0.5),
    "side inputs, undivided": ("parity", "undivided", 0.5),
    "biases, divided": ("digit", "divided random", 0.1),
    "biases, undivided": ("digit", "undivided random", 0.1),
}
"""Row → task, form, and the accuracy of guessing."""
MATRICES = {
    "fresh matrices, dense": "dense fresh",
    "fresh matrices, local": "local fresh",
    "one matrix, dense": "dense shared",
    "one matrix, local": "local shared",
}


def progress(losses: Mapping[float, float], trivial: float) -> dict[float, float]:
    """How much of what the best exponent learns each other one does: 1 is as much, 0 no more than guessing.

    Parameters
    ----------
    losses : exponent → loss. trivial : the loss of guessing. In between, logarithms of losses are compared.

    >>> progress({0.0: np.inf, 0.5: 0.01, 1.0: 0.1}, 1.0)
    {0.0: 0.0, 0.5: 1.0, 1.0: 0.5}
    """
    best = np.log(trivial / min(losses.values()))
    return {a: float(np.clip(np.log(trivial / x) / best, 0, 1)) if x < np.inf else 0.0 for a, x in losses.items()}


def residual_phases(blocks: Mapping[str, Mapping[str, Mapping[str, Arms]]]) -> Phases:
    """Rows of residual blocks, from the values of the stored result ``residual_scale``."""
    phases = {}
    for kind, name in BLOCKS.items():
        for task, (what, trivial) in TASKS.items():
            depths = blocks[task][kind]
            deepest = curve(depths[max(depths, key=int)])
            losses = dict(zip(deepest.exponents.tolist(), deepest.median.tolist(), strict=True))
            phases[f"{name}, {what}"] = progress(losses, trivial)
    return phases


def side_phases(trained: list[dict[str, Any]]) -> Phases:
    """Rows of side inputs and biases, from what ``side_inputs`` stored of trained networks; accuracies are compared."""
    phases = {}
    for name, (task, form, chance) in SIDES.items():
        own = [row for row in trained if (row["task"], row["form"]) == (task, form)]
        own = [row for row in own if row["depth"] == max(cell["depth"] for cell in own)]
        gains = {float(row["exponent"]): float(np.mean(row["accuracy"])) - chance for row in own}
        phases[name] = {a: max(gain, 0) / max(gains.values()) for a, gain in sorted(gains.items())}
    return phases


def recurrent_phases(content: Mapping[str, Any]) -> Phases:
    """Rows of recurrent networks on the adding task, from the stored result ``recurrent_memory``."""
    last, phases = max(content["settings"]["lengths"]), {}
    for name, kind in MATRICES.items():
        labels = sorted(label for label in NAMES if label.startswith(kind))
        losses = {float(label.removeprefix(kind)): median_loss(content, label, last) for label in labels}
        phases[name] = progress(losses, 1.0)
    return phases
