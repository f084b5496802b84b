"""How far does a network follow changed labels?  Capacity predicts it; does anything simpler?  Question 3.

Groups of six images get new labels, one group at a time, and the fully connected network is trained again: from its
optimum, and from its first weights. ``python -m chapters run changed_labels`` makes it again, in about four minutes on
one core.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from tqdm import tqdm

from chapters.kit.witness import CHAOTIC, Witness
from chapters.trained_capacity.digits import reading
from chapters.trained_capacity.optimum import Params, Response, Task, input_slopes, jacobian, outputs, settle

SETTINGS: dict[str, Any] = {"n_images": 600, "decay": 1.0, "seed": 0, "n_groups": 40, "size": 6, "newton": 12}
QUICK: dict[str, Any] = {"n_images": 40, "n_groups": 2, "size": 2, "newton": 1}
WITNESS = Witness([""], fixed={"n_followed": 1}, **CHAOTIC)
PACKAGES = ("jax", "scikit-learn")


def groups(x: np.ndarray, labels: np.ndarray, n_groups: int, size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Indices of images: every second group random, the others an image with those of its digit next to it."""
    found = []
    for number in range(n_groups):
        if number % 2:
            found.append(rng.choice(len(x), size, replace=False))
            continue
        middle = rng.integers(len(x))
        distances = np.where(labels == labels[middle], np.linalg.norm(x - x[middle], axis=1), np.inf)
        found.append(np.argsort(distances)[:size])
    return found


def simpler(task: Task, params: Params) -> dict[str, np.ndarray]:
    """(N,) what needs no Hessian: residual, saliency and distance from the mean of the images with the same label."""
    labels = task.targets.argmax(axis=1)
    means = np.stack([task.inputs[labels == label].mean(axis=0) for label in range(10) if np.any(labels == label)])
    number = np.unique(labels, return_inverse=True)[1]
    return {
        "residual": np.linalg.norm(outputs(task, params) - task.targets, axis=1),
        "saliency": np.linalg.norm(input_slopes(task, params), axis=(1, 2)),
        "distance": np.linalg.norm(task.inputs - means[number], axis=1),
    }


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Column → a value for each group: shares followed, "again" and "scratch", and what predicts them."""
    task, start = reading("fully connected", settings["n_images"], settings["decay"], settings["seed"])
    rng = np.random.default_rng([settings["seed"], 14])
    optimum = settle(task, start, newton=settings["newton"]).params
    whole, plain = Response(task, optimum), Response(task, optimum, gauss_newton=True)
    j, of_images = jacobian(task, optimum), simpler(task, optimum)
    labels, first = task.targets.argmax(axis=1), outputs(task, optimum)
    chosen = groups(task.inputs, labels, settings["n_groups"], settings["size"], rng)
    starts = {"again": optimum, "scratch": start}
    rows: list[dict[str, float]] = []
    for group in tqdm(chosen[: settings.get("n_followed")], unit="group", disable=not progress):
        targets = task.targets.copy()
        targets[group] = np.eye(10)[(labels[group] + rng.integers(1, 10)) % 10]
        shift = targets - task.targets
        size, changed = float(np.sum(shift**2)), replace(task, targets=targets)
        ends = {name: settle(changed, params, newton=settings["newton"]).params for name, params in starts.items()}
        followed = {name: outputs(task, end) - first for name, end in ends.items()}
        rows.append(
            {
                "capacity": float(np.sum(shift * whole(shift)) / size),
                "Gauss-Newton": float(np.sum(shift * plain(shift)) / size),
                "gradient norm": float(np.linalg.norm(j.T @ shift.ravel()) / np.sqrt(size)),
                **{name: float(values[group].mean()) for name, values in of_images.items()},
                **{name: float(np.sum(shift * moved) / size) for name, moved in followed.items()},
            }
        )
    return {name: [float(f"{row[name]:.6g}") for row in rows] for name in rows[0]}
