"""How long transport takes from a start that is all but the identity: the follow-up on the experiment's scale 1/L.

``python -m chapters run residual_delay`` makes it again, in about five minutes on one core.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from chapters.kit.witness import CHAOTIC, Witness
from chapters.scaling_conjecture.experiment import make_task
from chapters.shared.training import train

SETTINGS: dict[str, Any] = {
    "kind": "two-layer",
    "exponent": 1.0,
    "depths": [8, 64, 512],
    "rates": [1.6e-3, 6.4e-3, 2.56e-2],
    "seeds": [0, 1, 2],
    "n_steps": 1200,
    "threshold": 0.1,
    "optimiser": "adam",
}
QUICK: dict[str, Any] = {"depths": [4], "rates": [1e-3], "seeds": [0], "n_steps": 20}
WITNESS = Witness(["depths rates seeds"], **CHAOTIC)
PACKAGES = ("jax", "optax", "scikit-learn")


def steps_to_learn(losses: np.ndarray, threshold: float) -> int | None:
    """First step at which the mean of the last ten losses is at most ``threshold``; none if it never is.

    >>> steps_to_learn(np.array([1.0] * 4 + [0.0] * 12), 0.1)
    13
    """
    below = np.flatnonzero(np.convolve(losses, np.ones(10) / 10, mode="valid") <= threshold)
    return int(below[0]) + 10 if below.size else None


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Depth → steps until the loss of transport is at most the threshold, for every rate (rows) and seed."""
    values: dict[str, Any] = {}
    for depth in tqdm(settings["depths"], unit="depth", disable=not progress):
        task = make_task("transport", settings["kind"], depth, settings["exponent"])
        options = {key: settings[key] for key in ("seeds", "n_steps", "optimiser")}
        runs = train(task.initial, task.loss, task.data, learning_rates=settings["rates"], **options)
        values[str(depth)] = [[steps_to_learn(losses, settings["threshold"]) for losses in row] for row in runs.losses]
    return values
