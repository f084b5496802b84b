"""The experiment behind the chapter on what training does to every measure: 40 networks at eight stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from chapters import stored as results
from chapters.along_training import study
from chapters.effective_complexity.stored_complexity import plain

SETTINGS: dict[str, Any] = {
    "n_images": 300,
    "n_lines": 2000,
    "activations": ["relu", "tanh"],
    "width": 16,
    "learning_rate": 0.005,
    "n_epochs": 600,
    "snapshots": [0, 1, 3, 10, 30, 100, 300, 600],
    "levels": [2, 1, 1, 1, 1, 1, 1, 2],
    "seeds": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    "error": 0.1,
}
COMMAND = "python -m experiments.along_training"
PACKAGES = ("numpy", "scipy", "scikit-learn")


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Activation → kind of labels → measure → values over snapshots and seeds, as plain lists."""
    at = study.places(settings["n_images"], settings["n_lines"])
    names = ("seeds", "snapshots", "levels", "width", "learning_rate", "n_epochs", "error")
    options = {name: settings[name] for name in names}
    found = {}
    for activation in tqdm(settings["activations"], unit="activation", disable=not progress):
        found[activation] = study.along_training(at, activation=activation, **options)
    return plain(found)


class Stored:
    """The stored experiment, as arrays.

    Attributes
    ----------
    settings : what it was made with.
    values : activation → kind of labels → measure → (n_snapshots, n_seeds), or (2, n_seeds) for measures that are taken
        at the first and the last snapshot only.
    """

    def __init__(self, path: str | Path) -> None:
        content = results.load(path)
        self.settings: dict[str, Any] = content["settings"]
        self.values: dict[str, dict[str, dict[str, np.ndarray]]] = {
            activation: {
                kind: {name: np.array(values) for name, values in table.items()} for kind, table in kinds.items()
            }
            for activation, kinds in content["values"].items()
        }

    def end(self, name: str, kind: str = "right", activation: str = "relu") -> np.ndarray:
        """(n_seeds,) a measure at the last snapshot."""
        return self.values[activation][kind][name][-1]


def has(seeds: Sequence[int], **options: object) -> bool:
    """Whether networks of these seeds and settings are among the stored ones."""
    return set(seeds) <= set(SETTINGS["seeds"]) and all(SETTINGS[name] == value for name, value in options.items())
