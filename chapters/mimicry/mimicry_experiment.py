"""The arms of the experiment on mimicry, and what is measured of each.

``python -m chapters run mimicry`` makes it again, in about four minutes on one core.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.complexity.curves import segments
from capcore.complexity.network import Network
from capcore.complexity.regions import curve_regions
from chapters.mimicry.training import (
    SETTINGS,
    Images,
    answers,
    cross_entropy,
    draw_images,
    end_points,
    fit_networks,
    initial_networks,
    scaled_logits,
    squared_error,
)

QUICK: dict[str, Any] = {
    "n_labelled": 40,
    "n_unlabelled": 40,
    "widths": {"deep": [64, 8, 8, 10], "shallow": [64, 12, 10], "small": [64, 4, 10]},
    "n_steps": 2,
    "n_segments": 2,
    "seeds": [0],
}
PACKAGES = ("numpy", "scipy", "jax", "optax", "scikit-learn")
STUDENTS = {
    "shallow, 400 labels": ("shallow", "labelled", "labels"),
    "shallow, logits on the 400": ("shallow", "labelled", "logits"),
    "shallow, logits on the pool": ("shallow", "pool", "logits"),
    "shallow, hard labels on the pool": ("shallow", "pool", "hard"),
    "shallow, true labels on the pool": ("shallow", "pool", "labels"),
    "deep, logits on the pool": ("deep", "pool", "logits"),
    "deep, true labels on the pool": ("deep", "pool", "labels"),
    "small, logits on the pool": ("small", "pool", "logits"),
}
"""Arm → size of the network, images it is trained on, and what it is told of them."""
STUDENT_START = 100
"""Students start at their own weights: a deep one that started where its teacher did would copy it for that alone."""


def train_student(
    arm: str, teachers: list[Network], images: list[Images], settings: Mapping[str, Any] = SETTINGS
) -> list[Network]:
    """One network per seed for an arm of :data:`STUDENTS`."""
    size, where, told = STUDENTS[arm]
    inputs = [getattr(each, where) for each in images]
    if told == "labels":
        targets = [each.y if where == "labelled" else each.y_pool for each in images]
    elif told == "hard":
        targets = [answers(teacher, x) for teacher, x in zip(teachers, inputs, strict=True)]
    else:
        targets = [scaled_logits(teacher, x) for teacher, x in zip(teachers, inputs, strict=True)]
    loss = squared_error if told == "logits" else cross_entropy
    return fit_networks(size, loss, inputs, targets, settings, STUDENT_START)


def random_labels(images: Images, seed: int) -> np.ndarray:
    """(n,) a fair digit for each labelled image."""
    return np.random.default_rng([seed, 12]).integers(0, 10, len(images.y))


def against(network: Network, teacher: Network, images: Images) -> dict[str, float]:
    """Accuracy on the test images, and the share of them on which the network gives the teacher's answer."""
    said = answers(network, images.test)
    return {
        "accuracy": float(np.mean(said == images.y_test)),
        "agreement": float(np.mean(said == answers(teacher, images.test))),
    }


def mean_regions(network: Network, images: Images, seed: int, settings: Mapping[str, Any]) -> float:
    """Mean number of linear regions on segments between labelled images of different digits, counted exactly."""
    ends = end_points(images, settings["n_segments"], seed)
    return float(curve_regions(network, segments(*ends)).linear.mean())


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Lists with one number per seed: {"arms": arm → measure → …, "random labels": …, "regions": network → …}."""
    seeds = settings["seeds"]
    images = [draw_images(seed, settings) for seed in seeds]
    labelled = [each.labelled for each in images]
    noise = [random_labels(each, seed) for each, seed in zip(images, seeds, strict=True)]
    teachers = fit_networks("deep", cross_entropy, labelled, [each.y for each in images], settings)
    memorisers = fit_networks("deep", cross_entropy, labelled, noise, settings)
    found: dict[str, Any] = {"arms": {"deep, 400 labels (teacher)": _each(teachers, teachers, images)}}
    for arm in tqdm(STUDENTS, unit="arm", disable=not progress):
        found["arms"][arm] = _each(train_student(arm, teachers, images, settings), teachers, images)
    found["random labels"] = {
        "training accuracy": [
            float(np.mean(answers(net, x) == y)) for net, x, y in zip(memorisers, labelled, noise, strict=True)
        ],
        "student agreement": {
            arm: _each(train_student(arm, memorisers, images, settings), memorisers, images)["agreement"]
            for arm in ("small, logits on the pool", "shallow, logits on the pool")
        },
    }
    kinds = {"initial": initial_networks("deep", settings), "true labels": teachers, "random labels": memorisers}
    found["regions"] = {
        kind: [mean_regions(net, each, seed, settings) for net, each, seed in zip(nets, images, seeds, strict=True)]
        for kind, nets in kinds.items()
    }
    return found


def _each(networks: list[Network], teachers: list[Network], images: list[Images]) -> dict[str, list[float]]:
    rows = [against(*each) for each in zip(networks, teachers, images, strict=True)]
    return {key: [row[key] for row in rows] for key in rows[0]}
