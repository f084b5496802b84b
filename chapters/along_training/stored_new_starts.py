"""The experiment on whether the sharper ceiling is reached in networks it was not tuned on.

Seeds 100 to 104, trained as the ReLU networks of the chapter on training, at the same stages: 75 states. In how many of
those whose rank is below ``rank_ceiling`` is the least of that and of the ceiling
with crowded functions set aside the rank? The number is reported whatever it is: so it was written here before it was
computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.complexity.network import Network
from capcore.complexity.unit_ceiling import unit_ceiling
from chapters import stored as results
from chapters.along_training import stored_crowded
from chapters.along_training.crowded_units import crowded_functions
from chapters.along_training.jacobian_rank import quick_rank
from chapters.along_training.rank_ceiling import rank_ceiling
from chapters.along_training.stored_crowded import states
from chapters.along_training.study import places

SETTINGS: dict[str, Any] = {**stored_crowded.SETTINGS, "seeds": [100, 101, 102, 103, 104]}
COMMAND = "python -m experiments.crowded_new_starts"
PACKAGES = stored_crowded.PACKAGES


def measures(network: Network, inputs: np.ndarray, n_draws: int, seed: int) -> dict[str, float]:
    """Rank and ceiling, and if they differ "sharper" as in ``measures``.

    The rank is by singular values, as it was on the states of the chapter. Without a difference "sharper" is the
    ceiling, and "counted" and "dropped", what lengths were told apart, are 1 and 0.
    """
    rank, limit = quick_rank(network, inputs).rank, rank_ceiling(network, inputs).total
    if rank == limit:
        return {"rank": rank, "limit": limit, "sharper": limit, "counted": 1.0, "dropped": 0.0}
    found = unit_ceiling(network, inputs, crowded_functions(network, inputs, np.random.default_rng(seed), n_draws))
    lengths = {name: float(f"{getattr(found, name):.3g}") for name in ("counted", "dropped")}
    return {"rank": rank, "limit": limit, "sharper": min(limit, found.total), **lengths}


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, list[float]]:
    """Measure → one number for each state, and which of ``states`` these are."""
    inputs = places(settings["n_images"]).data.x
    networks, n_seeds = states(settings["snapshots"], settings["seeds"], settings), len(settings["seeds"])
    each = [i for i in range(len(networks)) if not n_seeds <= i < 2 * n_seeds]  # the same starts
    steps = tqdm(each, unit="state", disable=not progress)
    rows = [{"state": i, **measures(networks[i], inputs, settings["n_draws"], i)} for i in steps]
    return {name: [row[name] for row in rows] for name in rows[0]}


class Stored:
    """The stored experiment.

    Attributes
    ----------
    settings : what it was made with.
    values : measure → (n_states,), each start once.
    """

    def __init__(self, path: str | Path) -> None:
        content = results.load(path)
        self.settings: dict[str, Any] = content["settings"]
        self.values = {name: np.array(values) for name, values in content["values"].items()}
