"""What becomes of the layers of the chapter's networks: exponents before and after, how far weights moved, and spikes.

The chapter trains one seed. The others are stored in ``results/layer_seeds.json``, which :func:`run` makes.
``python -m chapters run layer_seeds`` makes it again, in about 40 seconds on one core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from chapters.spectra.layer_spectra import analysed, networks
from chapters.spectra.trained_networks import Snapshot, Training, training_path

SETTINGS: dict[str, Any] = {
    "networks": {name: asdict(each) for name, each in networks(width=256, epochs=60, decay=1.0, rate=1e-2).items()},
    "seeds": [0, 1, 2, 3, 4],
}
QUICK: dict[str, Any] = {"networks": {"one": {"width": 32, "epochs": 1}}, "seeds": [3, 4]}
PACKAGES = ("numpy", "scipy", "scikit-learn")


def outcomes(paths: Mapping[str, Sequence[Snapshot]], seed: int) -> pd.DataFrame:
    """One row per network and layer, from the first and last snapshot of its path.

    Columns: ``network``, ``seed``, ``layer``, ``shape``; ``start`` and ``alpha``, the exponent before and after;
    ``moved`` = ‖W − W₀‖_F / ‖W₀‖_F; ``spikes``; ``test``, the accuracy on test images at the end.
    """
    rows = []
    for network, path in paths.items():
        first, last = path[0], path[-1]
        ends = (analysed(shot.weights, alternatives=()).spectra for shot in (first, last))
        for before, after in zip(*ends, strict=True):
            start, end = first.weights[after.name], last.weights[after.name]
            rows.append(
                {
                    "network": network,
                    "seed": seed,
                    "layer": after.name,
                    "shape": (after.rows, after.columns),
                    "start": before.alpha,
                    "alpha": after.alpha,
                    "moved": float(np.linalg.norm(end - start) / np.linalg.norm(start)),
                    "spikes": after.n_spikes,
                    "test": last.test_accuracy,
                }
            )
    return pd.DataFrame(rows)


def trained_outcomes(trainings: Mapping[str, Training], seed: int) -> pd.DataFrame:
    """:func:`outcomes` of networks that are trained now."""
    return outcomes({name: list(training_path(each, [0, each.epochs])) for name, each in trainings.items()}, seed)


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Column of :func:`outcomes` → its values over all networks, layers and seeds."""
    found = [
        trained_outcomes(_networks(settings, seed), seed)
        for seed in tqdm(settings["seeds"], unit="seed", disable=not progress)
    ]
    columns: dict[str, Any] = pd.concat(found).to_dict("list")
    return columns


def stored_outcomes(content: Mapping[str, Any], trainings: Mapping[str, Training], seed: int) -> pd.DataFrame | None:
    """:func:`outcomes` of these networks as they were stored; None where others were.

    content : settings and values of the stored experiment. trainings : name → how the network is trained.
    """
    settings = content["settings"]
    if seed not in settings["seeds"] or trainings != _networks(settings, seed):
        return None
    table = pd.DataFrame(content["values"])
    table["shape"] = [tuple(shape) for shape in table["shape"]]
    return table[table["seed"] == seed].reset_index(drop=True)


def _networks(settings: Mapping[str, Any], seed: int) -> dict[str, Training]:
    return {name: Training(**{**each, "seed": seed}) for name, each in settings["networks"].items()}
