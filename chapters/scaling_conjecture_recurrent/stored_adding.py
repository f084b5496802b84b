"""The stored adding task of ``python -m chapters run recurrent_memory``, read for a chapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chapters.shared.intervals import geometric_interval

NAMES = {
    "dense shared 0": "one dense, scale 1",
    "dense shared 0.5": "one dense, 1/√N",
    "dense shared 1": "one dense, 1/N",
    "local shared 0.5": "one local, 1/√N",
    "local shared 1": "one local, 1/N",
    "dense fresh 0.5": "fresh dense, 1/√N",
    "dense fresh 1": "fresh dense, 1/N",
    "local fresh 0.5": "fresh local, 1/√N",
    "local fresh 1": "fresh local, 1/N",
    "antisymmetric shared 0.5": "one antisymmetric, 1/√N",
    "orthogonal shared 0.5": "one orthogonal, 1/√N",
    "orthogonal shared 0": "one orthogonal, scale 1",
}
"""Label of an arm in the stored results → its name in the chapter: one matrix for all steps, or fresh ones."""


def relative_losses(content: Mapping[str, Any], label: str, n_steps: int) -> np.ndarray:
    """(seeds,) final losses of an arm at its best learning rate, over the loss of always answering one.

    ``content`` is ``stored("recurrent_memory")``. Infinite for runs that diverged.

    >>> arm = {"final": [[0.5, None], [0.25, 0.1]], "best": 1}
    >>> relative_losses({"values": {"baseline": 0.5, "arms": {"8": {"x": arm}}}}, "x", 8).tolist()
    [0.5, 0.2]
    """
    values = content["values"]
    arm = values["arms"][str(n_steps)][label]
    final = [np.inf if loss is None else loss for loss in arm["final"][arm["best"]]]
    return np.array(final) / values["baseline"]


def median_loss(content: Mapping[str, Any], label: str, n_steps: int) -> float:
    """Median over the seeds of :func:`relative_losses`."""
    return float(np.median(relative_losses(content, label, n_steps)))


def all_losses(content: Mapping[str, Any]) -> dict[str, dict[int, list[float]]]:
    """Name of the arm → length → :func:`relative_losses`, in the order of :data:`NAMES`."""
    lengths = content["settings"]["lengths"]
    return {name: {N: relative_losses(content, label, N).tolist() for N in lengths} for label, name in NAMES.items()}


def interval(losses: Sequence[float]) -> tuple[float, float]:
    """95 per cent t-interval of the mean logarithm over the seeds, as losses; everything if a run diverged.

    >>> [round(end, 3) for end in interval([0.1, 0.1, 0.1])]
    [0.1, 0.1]
    """
    if not np.isfinite(losses).all():
        return 0.0, np.inf
    _, low, high = geometric_interval(losses)
    return float(low), float(high)


def learning_rates(content: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Name of the arm → length → the best learning rate, marked where it is the first or last that was tried.

    For a table.
    """
    found: dict[str, dict[str, str]] = {}
    for label, name in NAMES.items():
        found[name] = {}
        for N in content["settings"]["lengths"]:
            arm = content["values"]["arms"][str(N)][label]
            rate = f"{arm['learning_rates'][arm['best']]:.1g}"
            found[name][f"N = {N}"] = f"{rate} (edge)" if arm["at_edge"] else rate
    return found


def curve(content: Mapping[str, Any], label: str, n_steps: int) -> list[float]:
    """Mean loss over the seeds at the best learning rate, in twenty stretches of the steps, over the constant's."""
    values = content["values"]
    found = values["arms"][str(n_steps)][label]["curve"]
    return [float("inf") if loss is None else loss / values["baseline"] for loss in found]
