"""The best learning rate of an arm: the same grid for every arm, extended while its best end is still the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from capcore.validation import finite_array, positive_integer
from chapters.scaling_conjecture.scaled_tasks import Task
from chapters.scaling_conjecture.training import train


@dataclass(frozen=True, eq=False)
class Search:
    """What an arm reached.

    Attributes
    ----------
    rates : (r,) learning rates tried, rising. losses : (r, s) final loss of every seed; infinite where it diverged.
    params : those of the best rate, each array with leading axis (s,).
    """

    rates: np.ndarray
    losses: np.ndarray
    params: Any

    @property
    def best(self) -> int:
        """Index of the rate with the lowest median loss."""
        return int(np.argmin(np.median(self.losses, axis=1)))

    @property
    def at_edge(self) -> bool:
        """Whether the best rate is the lowest or the highest that was tried."""
        return self.best in (0, len(self.rates) - 1)


def search(
    task: Task,
    rates: Sequence[float],
    seeds: Sequence[int],
    n_steps: int,
    *,
    batch_size: int = 64,
    optimiser: str = "adam",
    extensions: int = 3,
    progress: str = "",
) -> Search:
    """Train at every rate, and at further ones while the best is at the end of the grid.

    Parameters
    ----------
    rates : rising; the grid goes on by the factor between its first two. extensions : most further rates on each side.
        Nothing is extended where every rate diverged, or where there is one rate only.

    Raises ``ValueError`` for rates that do not rise.
    """
    grid = finite_array(rates, "rates", 1)
    if (np.diff(grid) <= 0).any():
        raise ValueError(f"rates: found {grid.tolist()}, expected rising numbers.")
    left = {-1: positive_integer(extensions, "extensions", 0)} if len(grid) > 1 else {-1: 0}
    left[1] = left[-1]
    options: dict[str, Any] = {"batch_size": batch_size, "optimiser": optimiser, "progress": progress}

    def runs(these: Sequence[float]) -> dict[float, tuple[np.ndarray, Any]]:
        found = train(task.initial, task.loss, task.data, learning_rates=these, seeds=seeds, n_steps=n_steps, **options)
        return {r: (found.final[k], jax.tree.map(lambda p, k=k: p[k], found.params)) for k, r in enumerate(these)}

    done = runs(grid.tolist())
    while True:
        tried = sorted(done)
        losses = np.array([done[rate][0] for rate in tried])
        best = int(np.argmin(np.median(losses, axis=1)))
        side = -1 if best == 0 else 1 if best == len(tried) - 1 else 0
        if not side or not left[side] or not np.isfinite(np.median(losses[best])):
            return Search(np.array(tried), losses, done[tried[best]][1])
        left[side] -= 1
        done |= runs([tried[best] * float(grid[1] / grid[0]) ** side])
