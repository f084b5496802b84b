"""The experiment behind the chapter's word on missed ceilings: states in which the rank was below its ceiling.

The search for functions was tuned on these states. ``stored_new_starts`` has others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.complexity.network import Network
from capcore.complexity.unit_ceiling import unit_ceiling
from chapters import stored as results
from chapters.along_training import stored_along
from chapters.along_training.crowded_units import crowded_functions, image_functions
from chapters.along_training.exact_rank import exact_rank, pattern_rank
from chapters.along_training.rank_ceiling import rank_ceiling
from chapters.along_training.study import KINDS, places
from chapters.effective_complexity.study import trained

SETTINGS: dict[str, Any] = {
    **{name: stored_along.SETTINGS[name] for name in ("n_images", "width", "learning_rate", "snapshots", "seeds")},
    "n_draws": 4,
}
COMMAND = "python -m experiments.crowded_units"
PACKAGES = ("numpy", "scipy", "scikit-learn")
MEASURES = ("rank", "limit", "pattern", "nothing", "images", "sharper", "counted", "dropped")


def states(snapshots: Sequence[int], seeds: Sequence[int], settings: Mapping[str, Any] = SETTINGS) -> list[Network]:
    """ReLU networks of the stored experiment on training, trained again: at the snapshots, right labels first.

    Snapshot by snapshot, in each of them the seeds with right labels, then with shuffled ones.
    """
    runs = [seed for _ in KINDS for seed in seeds], [kind for kind in KINDS for _ in seeds]
    data, width, rate = places(settings["n_images"]).data, settings["width"], settings["learning_rate"]
    return [net for nets in trained(data, *runs, "relu", width, rate, snapshots[-1], snapshots)[1] for net in nets]


def measures(network: Network, inputs: np.ndarray, n_draws: int, seed: int = 0) -> dict[str, float]:
    """The exact rank, the ceiling with crowded examples set aside, and numbers that say more where it is missed.

    "pattern" is the rank with random weights, units on where they are. Three are ceilings that count all that the
    upper units' own weights can do: "nothing" with nothing set aside, "images" with crowded images at the upper units,
    and "sharper" with crowded functions of single upper units, or "limit" if that is lower. For the last one "counted"
    and "dropped" say what lengths were told apart.
    """
    limit = rank_ceiling(network, inputs).total
    aside = crowded_functions(network, inputs, np.random.default_rng([31, seed]), n_draws)
    sharper = unit_ceiling(network, inputs, aside)
    return {
        "rank": exact_rank(network, inputs),
        "limit": limit,
        "pattern": pattern_rank(network, inputs, np.random.default_rng([33, seed])),
        "nothing": unit_ceiling(network, inputs).total,
        "images": unit_ceiling(network, inputs, image_functions(network, inputs)).total,
        "sharper": min(limit, sharper.total),
        "counted": float(f"{sharper.counted:.3g}"),
        "dropped": float(f"{sharper.dropped:.3g}"),
    }


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Measure → one number for each state in which the ceiling was missed, and which of all states these are."""
    inputs = places(settings["n_images"]).data.x
    networks = states(settings["snapshots"], settings["seeds"], settings)
    return measured(
        {state: networks[state] for state in missed_states()}, inputs, settings["n_draws"], progress=progress
    )


def measured(
    networks: Mapping[int, Network], inputs: np.ndarray, n_draws: int, seed: int = 0, progress: bool = False
) -> dict[str, list[float]]:
    """Measure → one number for each network, and "state", its place; draws are by ``seed`` and place."""
    found: dict[str, list[float]] = {"state": [], **{name: [] for name in MEASURES}}
    for state, network in tqdm(networks.items(), unit="state", disable=not progress):
        for name, value in {"state": state, **measures(network, inputs, n_draws, seed + state)}.items():
            found[name].append(value)
    return found


def missed_states(path: str | Path = "notebooks/results/along_training.json") -> list[int]:
    """Places in :func:`states` of what the experiment on training found below the ceiling, each start once."""
    stored = stored_along.Stored(path).values["relu"]
    short = np.concatenate([stored[kind]["limit"] - stored[kind]["rank"] for kind in KINDS], axis=1)
    short[0, short.shape[1] // 2 :] = 0  # the same starts
    return [int(i) for i in np.flatnonzero(short)]


class Stored:
    """The stored experiment on states that the search was tuned on.

    Attributes
    ----------
    settings : what it was made with.
    values : measure → (n_missed,); "state" says which of :func:`states`.
    """

    def __init__(self, path: str | Path) -> None:
        content = results.load(path)
        self.settings: dict[str, Any] = content["settings"]
        self.values = {name: np.array(values) for name, values in content["values"].items()}
