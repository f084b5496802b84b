"""The stored runs of small networks read as complexities: by steps of training, by epochs, and by width."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from capcore.complexity import ModelComplexity, complexity_of_errors
from chapters.double_descent.fitted_networks import training_errors
from chapters.stored import stored


@dataclass(frozen=True, eq=False)
class StoredDescent:
    """Settings and numbers of ``fitted_networks.run``.

    ``settings``, ``values`` : as the file has them.
    """

    settings: Mapping[str, Any]
    values: Mapping[str, Any]

    @classmethod
    def load(cls) -> StoredDescent:
        """The stored runs. Raises ``StaleResultsError`` where the code behind them has changed since."""
        content = stored("double_descent")
        return cls(content["settings"], content["values"])

    @property
    def steps(self) -> list[int]:
        """Steps of training after which errors were taken."""
        return list(self.settings["steps"]["steps"])

    @property
    def widths(self) -> np.ndarray:
        """(K,) numbers of hidden units."""
        return np.array(self.settings["widths"]["widths"])

    def by_steps(self, kind: str, epsilon: float) -> list[ModelComplexity]:
        """Complexity after each number of steps, labels of a kind; one of the sizes run."""
        errors = np.array(self.values["steps"][kind]["steps"])
        sizes = self.settings["steps"]["sizes"]
        return [
            complexity_of_errors(dict(zip(sizes, errors[:, :, i], strict=True)), epsilon=epsilon)
            for i in range(len(self.steps))
        ]

    def by_epochs(self, kind: str, epsilon: float) -> ModelComplexity:
        """Complexity after a fixed number of epochs."""
        return complexity_of_errors(
            dict(zip(self.settings["steps"]["sizes"], self.values["steps"][kind]["epochs"], strict=True)),
            epsilon=epsilon,
        )

    def errors(self, name: str) -> np.ndarray:
        """(K, n_seeds) of ``train``, ``train_wrong``, ``test`` or ``test_wrong`` by width."""
        return np.array(self.values["widths"][name])

    @property
    def peak(self) -> int:
        """Hidden units at which the geometric mean of the test mean square is largest."""
        return int(self.widths[np.log(self.errors("test")).mean(axis=1).argmax()])

    def first_within(self, name: str, limit: float) -> int | None:
        """Fewest hidden units whose mean training error is at most ``limit``; None where there are none."""
        within = self.widths[self.errors(name).mean(axis=1) <= limit]
        return int(within[0]) if len(within) else None

    def first_by_seed(self, name: str, limit: float) -> np.ndarray:
        """(n_seeds,) fewest hidden units whose training error of that seed is at most ``limit``; −1 for none."""
        within = self.errors(name) <= limit
        return np.where(within.any(axis=0), self.widths[within.argmax(axis=0)], -1)

    @property
    def seed_peaks(self) -> np.ndarray:
        """(n_seeds,) hidden units at which the test mean square of each seed is largest."""
        return self.widths[self.errors("test").argmax(axis=0)]

    def rerun_gap(self, n: int, n_steps: int, n_seeds: int) -> float:
        """Largest difference between mean training errors run again and stored: ``n`` images, both kinds of labels.

        Not zero on another processor, where networks part from one another after some hundred steps.
        """
        settings = self.settings["steps"]
        row, column = settings["sizes"].index(n), self.steps.index(n_steps)
        gaps = []
        for kind in settings["labels"]:
            again = [
                training_errors(n, kind, seed, [n_steps], settings["epochs"], settings)[0][0] for seed in range(n_seeds)
            ]
            kept = np.array(self.values["steps"][kind]["steps"])[row, :n_seeds, column]
            gaps.append(abs(float(np.mean(again) - kept.mean())))
        return max(gaps)
