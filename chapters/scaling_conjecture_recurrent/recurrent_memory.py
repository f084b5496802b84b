"""The experiment behind the chapter on recurrent networks: the adding task at several lengths, for every transition.

Every arm is searched over the same learning rates, and judged at its best one. Where that is the first or the last, the
next one (a third, or three times as much) is tried too, for that arm, up to twice.

``python -m chapters run recurrent_memory`` makes it again, in about twenty minutes on one core.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from chapters.scaling_conjecture.training import Runs, train
from chapters.scaling_conjecture_recurrent.adding import BASELINE, adding_batches
from chapters.scaling_conjecture_recurrent.recurrent import RecurrentNetwork

SETTINGS: dict[str, Any] = {
    "lengths": [16, 64, 200],
    "arms": [  # structure, one matrix for all steps, exponent of its scale
        ["dense", True, 0.0],
        ["dense", True, 0.5],
        ["dense", True, 1.0],
        ["local", True, 0.5],
        ["local", True, 1.0],
        ["dense", False, 0.5],
        ["dense", False, 1.0],
        ["local", False, 0.5],
        ["local", False, 1.0],
        ["antisymmetric", True, 0.5],
        ["orthogonal", True, 0.5],
        ["orthogonal", True, 0.0],
    ],
    "width": 32,
    "batch_size": 32,
    "n_steps": 2000,
    "learning_rates": [3e-4, 1e-3, 3e-3, 1e-2],
    "extensions": 2,
    "seeds": [0, 1, 2],
    "optimiser": "adam",
}
QUICK: dict[str, Any] = {
    "lengths": [4],
    "arms": [["dense", True, 0.0], ["local", False, 0.5], ["antisymmetric", True, 0.5], ["orthogonal", True, 0.5]],
    "n_steps": 2,
    "learning_rates": [1e-3],
    "extensions": 0,
    "seeds": [0],
}
PACKAGES = ("numpy", "scipy", "jax", "optax", "scikit-learn")
EARLY = 100  # first steps, whose mean loss is stored for every run


def train_arm(
    network: RecurrentNetwork, learning_rates: list[float], settings: Mapping[str, Any] = SETTINGS, **changed: Any
) -> Runs:
    """The network on the adding task, from all seeds at these learning rates. ``changed`` replaces settings."""
    options = {**settings, **changed}
    return train(
        network.initial,
        network.loss,
        adding_batches(network.n_steps, options["batch_size"]),
        learning_rates=learning_rates,
        seeds=options["seeds"],
        n_steps=options["n_steps"],
        optimiser=options["optimiser"],
    )


def search(network: RecurrentNetwork, settings: Mapping[str, Any] = SETTINGS, **changed: Any) -> dict[str, Any]:
    """One arm at every learning rate of the grid, and beyond it where the best one is at its edge; plain types.

    Returns
    -------
    ``learning_rates`` (r,) in rising order, ``final`` (r, s) and ``early`` (r, s) losses, the means over the last tenth
    and over the first hundred steps; ``best``: index of the rate with the lowest median final loss; ``at_edge``: is it
    still the first or the last; ``curve``: mean loss over seeds at that rate in twenty stretches of the steps.
    """
    found: dict[float, np.ndarray] = {}
    rates = sorted(settings["learning_rates"])
    for _ in range(settings["extensions"] + 1):
        runs = train_arm(network, rates, settings, **changed)
        found |= dict(zip(rates, runs.losses, strict=True))
        grid = sorted(found)
        tenth = max(runs.losses.shape[-1] // 10, 1)
        final = np.array([found[rate][:, -tenth:].mean(axis=-1) for rate in grid])
        best = int(np.argmin(np.median(final, axis=1)))
        rates = [float(f"{r:.2g}") for r in ([grid[0] / 3] if best == 0 else [grid[-1] * 3])]
        if 0 < best < len(grid) - 1:
            break
    losses = np.array([found[rate] for rate in grid])
    return {
        "learning_rates": grid,
        "final": _plain(final),
        "early": _plain(losses[..., :EARLY].mean(axis=-1)),
        "best": best,
        "at_edge": not 0 < best < len(grid) - 1,
        "curve": _plain(np.array([part.mean() for part in np.array_split(losses[best].mean(axis=0), 20)])),
    }


def _plain(values: np.ndarray) -> list[Any]:
    """Nested lists to six significant digits; None for infinity, which JSON does not know."""
    if values.ndim > 1:
        return [_plain(part) for part in values]
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]


def networks(n_steps: int, settings: Mapping[str, Any] = SETTINGS) -> list[RecurrentNetwork]:
    """The arms at one length.

    >>> [network.label for network in networks(16)][:2]
    ['dense shared 0', 'dense shared 0.5']
    """
    return [RecurrentNetwork(n_steps, settings["width"], kind, a, shared) for kind, shared, a in settings["arms"]]


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``baseline``, and ``arms``: length → label of the arm → :func:`search`."""
    work = [network for n in settings["lengths"] for network in networks(n, settings)]
    arms: dict[str, dict[str, Any]] = {str(n): {} for n in settings["lengths"]}
    for network in tqdm(work, unit="arm", disable=not progress):
        arms[str(network.n_steps)][network.label] = search(network, settings)
    return {"baseline": BASELINE, "arms": arms}
