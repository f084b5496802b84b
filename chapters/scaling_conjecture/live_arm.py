"""One arm of the experiment on the residual scale, trained on the spot, and set beside the stored one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from capcore.validation import one_of
from chapters.scaling_conjecture.experiment import SETTINGS, train_arm
from chapters.scaling_conjecture.scaled_tasks import Task, digits_task, transport_task

TASKS = ("digits", "transport")


def make_task(name: str, kind: str, n_layers: int, exponent: float) -> Task:
    """The task of the experiment, at its settings, for blocks and a scale of one's own."""
    one_of(name, "task", TASKS)
    own = SETTINGS[name]
    if name == "digits":
        return digits_task(kind, n_layers, exponent, own["width"])
    shape = {key: own[key] for key in ("width", "distance", "positions", "batch")}
    return transport_task(kind, n_layers, exponent, **shape)


def live_arm(name: str, kind: str, n_layers: int, exponent: float) -> dict[str, Any]:
    """What ``train_arm`` returns, on the grid of learning rates without extensions."""
    return train_arm(name, make_task(name, kind, n_layers, exponent), {**SETTINGS, "extensions": 0})


def largest_gap(live: Mapping[str, Any], stored: Mapping[str, Any]) -> float:
    """Largest relative difference of the losses at the lowest learning rate that both arms have tried, seed by seed.

    There a run is no more chaotic than rounding makes it; further up, processors part.

    >>> largest_gap({"rates": [0.1], "losses": [[1.0, 2.0]]}, {"rates": [0.1, 0.2], "losses": [[1.0, 2.5], [3, 3]]})
    0.2
    """
    common = min(set(live["rates"]) & set(stored["rates"]))
    one, other = (np.array(arm["losses"][arm["rates"].index(common)], dtype=float) for arm in (live, stored))
    return float(np.max(np.abs(one / other - 1)).round(3))


def comparison(live: Mapping[str, Any] | None, stored: Mapping[str, Any] | None, tolerance: float = 0.05) -> str:
    """What :func:`largest_gap` comes to, in words that do not depend on the last digits.

    >>> comparison(None, None)
    'no network was trained here'
    """
    if live is None:
        return "no network was trained here"
    if stored is None:
        return "there is no stored run with these settings"
    met = largest_gap(live, stored) <= tolerance
    return f"the losses of the stored run are {'met' if met else 'missed'} within {tolerance:.0%}, seed by seed"
